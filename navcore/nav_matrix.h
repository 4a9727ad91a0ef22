/// Path lengths between many places at once.
#ifndef NAV_MATRIX_H
#define NAV_MATRIX_H

#include "nav_query.h"

/// The lengths from many sources to many targets, worked out a row at a time. What one row finds out
/// about the mesh (which corner sees which) the next ones use.
typedef struct nav_matrix nav_matrix;

/// @param mesh     must outlive the matrix
/// @param snap     how the places are brought to the mesh; its area_costs must outlive the matrix
/// @param alloc    NULL: the C library
/// @param out      set only on NAV_OK
/// @return NAV_OK, NAV_BAD_ARGUMENT (a coordinate that is not finite), NAV_NO_MEMORY
/// @thread one at a time
nav_status nav_matrix_create(nav_query *query, const nav_mesh *mesh, const nav_snap *snap, const nav_vec *sources,
                             uint32_t source_count, const nav_vec *targets, uint32_t target_count,
                             const nav_alloc *alloc, nav_matrix **out);
void nav_matrix_destroy(nav_matrix *matrix);

/// One row.
/// @param lengths  [target_count]: what nav_query_path gives as length of a complete path; INFINITY where
///                 there is none or an end is off the mesh
/// @return NAV_OK, NAV_NO_MEMORY, NAV_INTERRUPTED
nav_status nav_matrix_row(nav_matrix *matrix, nav_query *query, uint32_t source, double *lengths);

#endif
