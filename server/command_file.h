/// What --check and --convert share: files named on the command line, and word of how far long work is.
#ifndef SRV_COMMAND_FILE_H
#define SRV_COMMAND_FILE_H

#include "source.h"

/// Splits a path into its folder, resolved, and its name. @return false: no such folder
bool srv_command_split(const char *file, char folder[PATH_MAX], const char **name);

/// Reads a mesh as the mesh folder would, with its sidecar. @return false and a problem
bool srv_command_read(srv_source *source, const char *file, api_problem *problem);

/// Word of what is being done goes to standard error, once the work has taken a second; to a terminal at once.
typedef struct srv_command_progress {
    const char *file;
    uint64_t began_ns;
    bool told;
} srv_command_progress;

srv_command_progress srv_command_begin(const char *file);
void srv_command_tell(srv_command_progress *progress, const char *what);
/// The same of a mesh that is being built, as in api_mesh_source; `progress` is a srv_command_progress.
void srv_command_tell_step(void *progress, unsigned step, unsigned of);
void srv_command_end(srv_command_progress *progress);

#endif
