/// Files mapped into memory that others may write to.
///
/// A mapped file that is cut short kills whoever reads it, and one that is written over changes under a query.
/// So a mapping holds a lease on its file: before another process may open it for writing, the system sends SIGIO
/// and waits, and the bytes are copied and the copy put in the mapping's place, which no reader notices.
#ifndef SRV_MAPPED_H
#define SRV_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct srv_mapped srv_mapped;

/// From now on somebody calls srv_mapped_guard when SIGIO comes; before that nothing is mapped.
void srv_mapped_enable(void);

/// Maps the whole file, read only.
/// @param fd  open for reading; stays the caller's
/// @return NULL: it is not enabled, or the file or its system gives no lease; read it then
srv_mapped *srv_mapped_open(int fd, size_t size);
const void *srv_mapped_bytes(const srv_mapped *mapped);
/// @thread any
void srv_mapped_close(srv_mapped *mapped);

/// Makes copies of what others want to write to, and lets them. @return how many
size_t srv_mapped_guard(void);

#endif
