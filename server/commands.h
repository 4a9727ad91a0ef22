/// What the command does besides serving.
#ifndef SRV_COMMANDS_H
#define SRV_COMMANDS_H

/// Reads each file as the mesh folder would (with its sidecar) and prints its summary and report.
/// @return exit status: 0 all good, 1 some cannot be read
int srv_check(char **files, int count);

/// Writes a mesh, read as --check does, as a .navd.
/// @return exit status: 0 written, 1 it cannot be read or written
int srv_convert(const char *in, const char *out);

/// Asks /readyz.
/// @param url  "http://host:port[/path]", "unix:/path", or a listening address; NULL: the default address
/// @return exit status: 0 ready, 1 not ready or not there, 2 a URL that cannot be asked
int srv_healthcheck(const char *url);

#endif
