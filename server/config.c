// One table describes every option: its name on the command line (--max-body), in the environment
// (NAVD_MAX_BODY), how its value is read and where it goes. Help and --print-config follow the same table.
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "listen.h"

typedef enum value_kind {
    VALUE_TEXT,
    VALUE_LIST,
    VALUE_COUNT,
    VALUE_BYTES,
    VALUE_TIME,
    VALUE_LOG,
    VALUE_LEVEL,
    VALUE_ACCESS
} value_kind;

typedef struct option {
    const char *name;
    value_kind kind;
    size_t offset; ///< of the member; a list's count follows through `count_offset`
    size_t count_offset;
    uint64_t least, most;
    const char *operand;
    const char *help;
} option;

#define AT(member) offsetof(srv_config, member)
#define GIB (1024ull * 1024 * 1024)

static const option options[] = {
    {"listen", VALUE_LIST, AT(listen), AT(listen_count), 0, SRV_LISTEN_MAX, "ADDR:PORT",
     "where to listen, more than once; port 0: a free one; unix:/path: a socket"},
    {"meshes", VALUE_TEXT, AT(meshes), 0, 0, 0, "DIR", "folder of mesh files, watched"},
    {"state", VALUE_TEXT, AT(state), 0, 0, 0, "DIR", "folder where edits are kept; none: in memory only"},
    {"threads", VALUE_COUNT, AT(threads), 0, 1, 64, "N", "serving threads"},
    {"workers", VALUE_COUNT, AT(workers), 0, 1, 256, "N", "threads for heavy queries"},
    {"token-file", VALUE_TEXT, AT(token_file), 0, 0, 0, "FILE", "bearer token for changes; none: only from loopback"},
    {"tls-cert", VALUE_TEXT, AT(tls_cert), 0, 0, 0, "FILE", "certificate chain (PEM) for HTTPS"},
    {"tls-key", VALUE_TEXT, AT(tls_key), 0, 0, 0, "FILE", "its key (PEM)"},
    {"cors-origin", VALUE_LIST, AT(cors_origin), AT(cors_origin_count), 0, SRV_ORIGIN_MAX, "ORIGIN",
     "web pages that may ask, more than once; *: any"},
    {"max-body", VALUE_BYTES, AT(max_body), 0, 1024, 16 * GIB, "BYTES", "size of an uploaded mesh (k, M, G)"},
    {"radius-cache", VALUE_BYTES, AT(radius_cache), 0, 0, 1024 * GIB, "BYTES",
     "meshes kept for larger agents (k, M, G)"},
    {"max-batch", VALUE_COUNT, AT(max_batch), 0, 1, 1000000, "N", "queries in one batch"},
    {"max-matrix", VALUE_COUNT, AT(max_matrix), 0, 1, 1000000000, "N", "sources times targets of a matrix"},
    {"max-nodes", VALUE_COUNT, AT(max_nodes), 0, 1, 1000000000, "N", "search nodes of one path"},
    {"max-agents", VALUE_COUNT, AT(max_agents), 0, 0, 10000000, "N", "agents of one mesh"},
    {"max-connections", VALUE_COUNT, AT(max_connections), 0, 1, 1000000, "N", "open connections"},
    {"max-queue", VALUE_COUNT, AT(max_queue), 0, 1, 1000000, "N", "requests that wait for a worker"},
    {"request-timeout", VALUE_TIME, AT(request_timeout_ms), 0, 10, 86400000, "TIME",
     "for a whole request to arrive (500ms, 30s, 2m)"},
    {"idle-timeout", VALUE_TIME, AT(idle_timeout_ms), 0, 1000, 86400000, "TIME", "for a connection between requests"},
    {"drain-timeout", VALUE_TIME, AT(drain_timeout_ms), 0, 0, 86400000, "TIME", "for what is under way at SIGTERM"},
    {"log", VALUE_LOG, AT(log_json), 0, 0, 0, "text|json", "form of the log on standard error"},
    {"log-level", VALUE_LEVEL, AT(log_level), 0, 0, 0, "LEVEL", "debug, info, warn or error"},
    {"access-log", VALUE_ACCESS, AT(access_log), 0, 0, 0, "on|off|N%",
     "a line for every request, or for a share of them"},
};
#define OPTION_COUNT (sizeof options / sizeof options[0])

static void set_defaults(srv_config *config)
{
    api_limits limits = api_limits_default();
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = cores < 1 ? 1 : cores > 16 ? 16 : (uint64_t)cores;
    *config = (srv_config){
        .command = SRV_SERVE,
        .threads = n,
        .workers = n,
        .radius_cache = GIB / 4,
        .max_body = limits.max_body,
        .max_batch = limits.max_batch,
        .max_matrix = limits.max_matrix,
        .max_nodes = limits.max_nodes,
        .max_agents = 10000,
        .max_connections = 10000,
        .max_queue = 256,
        .request_timeout_ms = 30000,
        .idle_timeout_ms = 75000,
        .drain_timeout_ms = 25000,
        .log_level = SRV_INFO,
    };
}

static void *member(srv_config *config, size_t offset)
{
    return (char *)config + offset;
}

static const void *member_of(const srv_config *config, size_t offset)
{
    return (const char *)config + offset;
}

/// A whole number with an optional unit from `units` ("ms" 1, "s" 1000, …). @return false: not one
typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

static bool read_number(const char *text, const unit *units, uint64_t *out)
{
    if (*text < '0' || *text > '9') {
        return false;
    }
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0) {
        return false;
    }
    for (const unit *u = units; u->name; u++) {
        if (strcmp(end, u->name) == 0) {
            if (value > UINT64_MAX / u->factor) {
                return false;
            }
            *out = value * u->factor;
            return true;
        }
    }
    return false;
}

static bool read_access(srv_config *config, const char *text)
{
    if (strcmp(text, "on") == 0 || strcmp(text, "off") == 0) {
        config->access_log = text[1] == 'n' ? SRV_ACCESS_ON : SRV_ACCESS_OFF;
        return true;
    }
    char *end;
    double percent = strtod(text, &end);
    if (end == text || strcmp(end, "%") != 0 || !(percent >= 0 && percent <= 100)) {
        return false;
    }
    config->access_log = SRV_ACCESS_SAMPLED;
    config->access_share = percent / 100;
    return true;
}

static bool read_level(srv_config *config, const char *text)
{
    for (int level = 0; level < SRV_LOG_LEVEL_COUNT; level++) {
        if (strcmp(text, srv_log_level_name((srv_log_level)level)) == 0) {
            config->log_level = (srv_log_level)level;
            return true;
        }
    }
    return false;
}

static bool read_list(srv_config *config, const option *o, const char *text)
{
    uint32_t *count = member(config, o->count_offset);
    if (*count >= o->most || !*text) {
        return false;
    }
    ((const char **)member(config, o->offset))[(*count)++] = text;
    return true;
}

static bool read_value(srv_config *config, const option *o, const char *text)
{
    static const unit plain[] = {{"", 1}, {NULL, 0}};
    static const unit bytes[] = {{"", 1},    {"k", 1024}, {"K", 1024}, {"M", 1024 * 1024}, {"m", 1024 * 1024},
                                 {"G", GIB}, {"g", GIB},  {NULL, 0}};
    static const unit times[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {NULL, 0}};
    uint64_t *number = member(config, o->offset);
    switch (o->kind) {
    case VALUE_TEXT:
        *(const char **)member(config, o->offset) = text;
        return *text != '\0';
    case VALUE_LIST:
        return read_list(config, o, text);
    case VALUE_COUNT:
        return read_number(text, plain, number) && *number >= o->least && *number <= o->most;
    case VALUE_BYTES:
        return read_number(text, bytes, number) && *number >= o->least && *number <= o->most;
    case VALUE_TIME:
        return read_number(text, times, number) && *number >= o->least && *number <= o->most;
    case VALUE_LOG:
        config->log_json = strcmp(text, "json") == 0;
        return config->log_json || strcmp(text, "text") == 0;
    case VALUE_LEVEL:
        return read_level(config, text);
    case VALUE_ACCESS:
        return read_access(config, text);
    }
    return false;
}

static void environment_name(const option *o, char name[40])
{
    size_t n = 0;
    for (const char *p = "NAVD_"; *p; p++) {
        name[n++] = *p;
    }
    for (const char *p = o->name; *p && n < 39; p++) {
        name[n++] = *p == '-' ? '_' : (char)(*p - 'a' + 'A');
    }
    name[n] = '\0';
}

/// Lists in the environment are separated by commas.
static bool read_environment_list(srv_config *config, const option *o, const char *text)
{
    char *copy = strdup(text);
    if (!copy || config->copy_count == sizeof config->copies / sizeof config->copies[0]) {
        free(copy);
        return false;
    }
    config->copies[config->copy_count++] = copy;
    char *rest = copy;
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
        if (!read_list(config, o, item)) {
            return false;
        }
    }
    return true;
}

/// A limit in the largest unit that leaves it whole.
static void put_limit(FILE *out, value_kind kind, uint64_t value)
{
    static const unit bytes[] = {{"G", GIB}, {"M", 1 << 20}, {"k", 1 << 10}, {"", 1}};
    static const unit times[] = {{"m", 60000}, {"s", 1000}, {"ms", 1}};
    const unit *u = kind == VALUE_TIME ? times : bytes;
    while (u->factor > 1 && (kind == VALUE_COUNT || value == 0 || value % u->factor != 0)) {
        u++;
    }
    fprintf(out, "%llu%s", (unsigned long long)(value / u->factor), u->name);
}

static void tell_wrong_value(FILE *errors, const char *name, const option *o, const char *value)
{
    fprintf(errors, "navd: %s: wrong value \"%s\", expected %s", name, value, o->operand);
    if (o->kind == VALUE_COUNT || o->kind == VALUE_BYTES || o->kind == VALUE_TIME) {
        fputs(" from ", errors);
        put_limit(errors, o->kind, o->least);
        fputs(" to ", errors);
        put_limit(errors, o->kind, o->most);
    }
    fputc('\n', errors);
}

static bool read_environment(srv_config *config, FILE *errors)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char name[40];
        environment_name(&options[i], name);
        const char *text = getenv(name);
        if (!text || !*text) {
            continue;
        }
        bool ok = options[i].kind == VALUE_LIST ? read_environment_list(config, &options[i], text)
                                                : read_value(config, &options[i], text);
        if (!ok) {
            tell_wrong_value(errors, name, &options[i], text);
            return false;
        }
    }
    return true;
}

/// Splits "--name=value"; @return the option, NULL: unknown
static const option *find_option(const char *argument, const char **value)
{
    size_t length = strcspn(argument, "=");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strlen(options[i].name) == length && memcmp(options[i].name, argument, length) == 0) {
            *value = argument[length] == '=' ? argument + length + 1 : NULL;
            return &options[i];
        }
    }
    return NULL;
}

/// Options that say what to do instead of serving. @return false: it is none
static bool read_command(srv_config *config, const char *argument)
{
    static const struct {
        const char *name;
        srv_command command;
    } commands[] = {{"--check", SRV_CHECK},
                    {"--convert", SRV_CONVERT},
                    {"--healthcheck", SRV_HEALTHCHECK},
                    {"--print-config", SRV_PRINT_CONFIG},
                    {"--help", SRV_HELP},
                    {"-h", SRV_HELP},
                    {"--version", SRV_VERSION_ONLY}};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argument, commands[i].name) == 0) {
            config->command = commands[i].command;
            return true;
        }
    }
    return false;
}

static bool read_option(srv_config *config, int argc, char **argv, int *at, bool given[OPTION_COUNT], FILE *errors)
{
    const char *argument = argv[*at], *value = NULL;
    const option *o = strncmp(argument, "--", 2) == 0 ? find_option(argument + 2, &value) : NULL;
    if (!o) {
        fprintf(errors, "navd: unknown option \"%s\" (see --help)\n", argument);
        return false;
    }
    if (!value && *at + 1 < argc) {
        value = argv[++*at];
    }
    if (!value) {
        fprintf(errors, "navd: --%s needs a value: %s\n", o->name, o->operand);
        return false;
    }
    bool *first = &given[o - options];
    if (o->kind == VALUE_LIST && !*first) {
        *(uint32_t *)member(config, o->count_offset) = 0; // options replace what the environment said
    }
    *first = true;
    if (!read_value(config, o, value)) {
        char name[40];
        snprintf(name, sizeof name, "--%s", o->name);
        tell_wrong_value(errors, name, o, value);
        return false;
    }
    return true;
}

static bool read_arguments(srv_config *config, int argc, char **argv, FILE *errors)
{
    bool given[OPTION_COUNT] = {false};
    for (int at = 1; at < argc; at++) {
        if (read_command(config, argv[at])) {
            continue;
        }
        bool takes_operands =
            config->command == SRV_CHECK || config->command == SRV_CONVERT || config->command == SRV_HEALTHCHECK;
        if (takes_operands && argv[at][0] != '-') {
            config->operands = config->operands ? config->operands : argv + at;
            if (config->operands + config->operand_count != argv + at) {
                fprintf(errors, "navd: files must follow --check or --convert one after the other\n");
                return false;
            }
            config->operand_count++;
        } else if (!read_option(config, argc, argv, &at, given, errors)) {
            return false;
        }
    }
    return true;
}

static bool check_together(const srv_config *config, FILE *errors)
{
    if (config->command == SRV_CHECK && config->operand_count == 0) {
        fprintf(errors, "navd: --check needs a file\n");
        return false;
    }
    if (config->command == SRV_CONVERT && config->operand_count != 2) {
        fprintf(errors, "navd: --convert needs a mesh file and the .navd to write\n");
        return false;
    }
    if (config->command == SRV_HEALTHCHECK && config->operand_count > 1) {
        fprintf(errors, "navd: --healthcheck takes one URL\n");
        return false;
    }
    for (uint32_t i = 0; i < config->listen_count; i++) {
        if (config->command != SRV_HEALTHCHECK && !srv_listen_address_valid(config->listen[i])) {
            fprintf(errors, "navd: --listen: \"%s\" is not ADDR:PORT, [ADDR6]:PORT or unix:/path\n", config->listen[i]);
            return false;
        }
    }
    if (!config->tls_cert != !config->tls_key) {
        fprintf(errors, "navd: --tls-cert and --tls-key go together\n");
        return false;
    }
    return true;
}

bool srv_config_read(srv_config *config, int argc, char **argv, FILE *errors)
{
    set_defaults(config);
    if (!read_environment(config, errors) || !read_arguments(config, argc, argv, errors)) {
        return false;
    }
    if (config->listen_count == 0) {
        config->listen[config->listen_count++] = "127.0.0.1:8080";
    }
    return check_together(config, errors);
}

void srv_config_deinit(srv_config *config)
{
    while (config->copy_count > 0) {
        free(config->copies[--config->copy_count]);
    }
}

static void print_value(const srv_config *config, const option *o, FILE *out)
{
    const void *at = member_of(config, o->offset);
    switch (o->kind) {
    case VALUE_TEXT: {
        const char *text = *(const char *const *)at;
        fputs(text ? text : "", out);
        break;
    }
    case VALUE_LIST: {
        uint32_t count = *(const uint32_t *)member_of(config, o->count_offset);
        for (uint32_t i = 0; i < count; i++) {
            fprintf(out, "%s%s", i ? "," : "", ((const char *const *)at)[i]);
        }
        break;
    }
    case VALUE_COUNT:
    case VALUE_BYTES:
        fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
        break;
    case VALUE_TIME:
        fprintf(out, "%llums", (unsigned long long)*(const uint64_t *)at);
        break;
    case VALUE_LOG:
        fputs(config->log_json ? "json" : "text", out);
        break;
    case VALUE_LEVEL:
        fputs(srv_log_level_name(config->log_level), out);
        break;
    case VALUE_ACCESS:
        if (config->access_log == SRV_ACCESS_SAMPLED) {
            fprintf(out, "%g%%", config->access_share * 100);
        } else {
            fputs(config->access_log == SRV_ACCESS_ON ? "on" : "off", out);
        }
        break;
    }
}

void srv_config_print(const srv_config *config, FILE *out)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        fprintf(out, "%s = ", options[i].name);
        print_value(config, &options[i], out);
        fputc('\n', out);
    }
}

void srv_config_help(FILE *out)
{
    srv_config defaults;
    set_defaults(&defaults);
    defaults.listen[defaults.listen_count++] = "127.0.0.1:8080";
    fputs("usage: navd [options]              serve navigation meshes over HTTP\n"
          "       navd --check FILE...        read files, print what they hold, exit 0 or 1\n"
          "       navd --convert IN OUT.navd  write a mesh in the form that loads at once, exit 0 or 1\n"
          "       navd --healthcheck [URL]    ask /readyz, exit 0 or 1\n"
          "       navd --print-config         print the options that hold\n"
          "       navd --help | --version\n\n"
          "Every option is also read from the environment: --max-body from NAVD_MAX_BODY.\n"
          "Options beat the environment, the environment beats the defaults.\n\n",
          out);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char left[48];
        snprintf(left, sizeof left, "--%s %s", options[i].name, options[i].operand);
        fprintf(out, "  %-28s %s (", left, options[i].help);
        print_value(&defaults, &options[i], out);
        fputs(")\n", out);
    }
    fputs("\nSIGTERM and SIGINT drain, SIGHUP reads the mesh folder and the token again.\n"
          "Exit status: 0 after a drain, 1 when it cannot start, 2 for wrong usage.\n",
          out);
}
