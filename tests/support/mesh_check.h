/// Does a built mesh keep every promise of navcore/layout.h? Slow and simple, so that it can be believed.
#ifndef TEST_MESH_CHECK_H
#define TEST_MESH_CHECK_H

#include "layout.h"

/// Everything but areas.
/// @param why  [256] what is wrong first, empty when nothing is
/// @return true when all promises are kept
bool mesh_check_structure(const nav_mesh *m, char why[256]);

/// A revision with edits: everything but trees and islands, which it keeps only in part.
bool mesh_check_edited(const nav_mesh *m, double moved, char why[256]);

/// The same, and on each island cells and faces have the same area.
/// @param moved  how far seams may have moved the sides of cells away from their faces
bool mesh_check(const nav_mesh *m, double moved, char why[256]);

#endif
