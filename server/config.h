/// The options of the command, from the command line, the environment and the defaults.
#ifndef SRV_CONFIG_H
#define SRV_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "log.h"

#define SRV_LISTEN_MAX 8
#define SRV_ORIGIN_MAX 8

typedef enum srv_command {
    SRV_SERVE,
    SRV_CHECK,
    SRV_CONVERT,
    SRV_HEALTHCHECK,
    SRV_PRINT_CONFIG,
    SRV_HELP,
    SRV_VERSION_ONLY
} srv_command;

typedef enum srv_access_log { SRV_ACCESS_OFF, SRV_ACCESS_ON, SRV_ACCESS_SAMPLED } srv_access_log;

/// Texts point into argv, the environment, static memory or `copies`.
typedef struct srv_config {
    srv_command command;
    char **operands; ///< files of --check and --convert, the URL of --healthcheck
    int operand_count;

    const char *listen[SRV_LISTEN_MAX]; ///< "ADDR:PORT", "[ADDR6]:PORT" or "unix:/path"
    uint32_t listen_count;
    const char *meshes; ///< folder of mesh files, NULL: none
    const char *state;  ///< folder where edits are kept, NULL: none
    uint64_t threads, workers;
    const char *token_file, *tls_cert, *tls_key;
    const char *cors_origin[SRV_ORIGIN_MAX]; ///< "*" or "https://example.org"
    uint32_t cors_origin_count;

    uint64_t max_body;     ///< bytes
    uint64_t radius_cache; ///< bytes
    uint64_t max_batch, max_matrix, max_nodes, max_agents;
    uint64_t max_connections;
    uint64_t max_queue; ///< requests waiting for a worker
    uint64_t request_timeout_ms, drain_timeout_ms, idle_timeout_ms;

    bool log_json;
    srv_log_level log_level;
    srv_access_log access_log;
    double access_share; ///< of the requests that are logged, with SRV_ACCESS_SAMPLED

    char *copies[2]; ///< lists of the environment, cut up
    uint32_t copy_count;
} srv_config;

/// Reads the environment, then the options.
/// @return false: wrong usage, one line has been written to `errors`
bool srv_config_read(srv_config *config, int argc, char **argv, FILE *errors);

/// Frees the copies; also after srv_config_read failed.
void srv_config_deinit(srv_config *config);

/// What holds, one "name = value" a line.
void srv_config_print(const srv_config *config, FILE *out);

void srv_config_help(FILE *out);

#endif
