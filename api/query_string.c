/// Percent-decoding and the pairs of a query string.
#include "query_string.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool api_percent_decode(const char *text, size_t size, bool plus, char *out, size_t cap)
{
    size_t written = 0;
    for (size_t i = 0; i < size; i++) {
        int c = (unsigned char)text[i];
        if (c == '%') {
            int high = i + 1 < size ? hex_digit(text[i + 1]) : -1, low = i + 2 < size ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return false;
            }
            c = high * 16 + low;
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (c == 0 || written + 1 >= cap) {
            return false;
        }
        out[written++] = (char)c;
    }
    out[written] = '\0';
    for (size_t i = 0; i < written;) {
        size_t length = api_utf8_length((const unsigned char *)out + i, written - i);
        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}

void api_parameters_init(api_parameters *parameters, const char *query)
{
    parameters->rest = query;
    parameters->name[0] = '\0';
    parameters->value = NULL;
}

void api_parameters_deinit(api_parameters *parameters)
{
    free(parameters->value);
    parameters->value = NULL;
}

static bool decode_pair(api_parameters *parameters, const char *pair, size_t size, api_problem *problem)
{
    const char *equals = memchr(pair, '=', size);
    size_t name_size = equals ? (size_t)(equals - pair) : size;
    size_t value_size = equals ? size - name_size - 1 : 0;
    if (!api_percent_decode(pair, name_size, true, parameters->name, sizeof parameters->name)) {
        api_problem_set(problem, API_BAD_REQUEST,
                        "the query string holds a parameter whose name is too long or not "
                        "percent-encoded UTF-8");
        return false;
    }
    parameters->value = malloc(value_size + 1);
    if (!parameters->value) {
        api_problem_set(problem, API_INTERNAL, "out of memory");
        return false;
    }
    const char *value = equals ? equals + 1 : pair + size;
    if (!api_percent_decode(value, value_size, true, parameters->value, value_size + 1)) {
        api_problem_set(problem, API_BAD_REQUEST, "`%s` is not percent-encoded UTF-8", parameters->name);
        snprintf(problem->parameter, sizeof problem->parameter, "%s", parameters->name);
        return false;
    }
    return true;
}

bool api_parameters_next(api_parameters *parameters, api_problem *problem)
{
    api_parameters_deinit(parameters);
    problem->code = API_NO_PROBLEM;
    while (parameters->rest && *parameters->rest) {
        const char *pair = parameters->rest;
        size_t size = strcspn(pair, "&");
        parameters->rest = pair + size + (pair[size] == '&' ? 1 : 0);
        if (size == 0) {
            continue;
        }
        if (decode_pair(parameters, pair, size, problem)) {
            return true;
        }
        api_parameters_deinit(parameters);
        return false;
    }
    return false;
}

char *api_parameter_find(const char *query, const char *name, api_problem *problem)
{
    api_parameters parameters;
    api_parameters_init(&parameters, query);
    while (api_parameters_next(&parameters, problem)) {
        if (strcmp(parameters.name, name) == 0) {
            return parameters.value;
        }
    }
    return NULL;
}
