/// Private: the memory of revisions. A store holds one image, written once; each block of it looks like a copy
/// of the image that may be written, but shares with it (and so with all others) the pages that were not.
#ifndef NAV_EDIT_STORE_H
#define NAV_EDIT_STORE_H

#include "nav_types.h"

typedef struct nav__store nav__store;

/// One block. `edition` is the editor's: what it has written there.
typedef struct nav__revision {
    char *bytes;
    uint64_t edition;
    struct nav__revision *next;
    nav__store *store;
    uint32_t busy; ///< atomic: meshes that use it, and the editor
} nav__revision;

/// @param bytes  of the image, all zero
/// @return NULL when out of memory
nav__store *nav__store_create(const nav_alloc *alloc, size_t bytes);

/// The image: to be written before the first block is taken, only read from then on.
char *nav__store_image(nav__store *store);

/// A block that no mesh uses: one that did (see its edition), or a new one (edition 0: as the image).
/// @return NULL when out of memory
nav__revision *nav__store_take(nav__store *store);

/// One more user of a block.
void nav__revision_hold(nav__revision *revision);

/// The editor has done with the store: it goes when its last block is released.
void nav__store_leave(nav__store *store);

/// One user less; with the last the block may be taken again. @thread any
void nav__revision_release(nav__revision *revision);

#endif
