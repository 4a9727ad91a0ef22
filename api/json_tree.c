/// JSON as a flat tree over its text.
#include "json_tree.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json_in.h"
#include "number.h"

#define MOST_COUNT 0x1FFFFFFFu

/// A tree being parsed.
typedef struct parser {
    api_tree *tree;
    size_t at;
    uint32_t open[API_TREE_DEPTH]; ///< arrays and objects that are not closed yet
    uint32_t depth;
} parser;

static bool fail_at(const parser *p, const char *what)
{
    api_problem_set(p->tree->problem, API_BAD_MESH, "byte %zu: %s", p->at, what);
    return false;
}

static char skip_space(parser *p)
{
    const api_tree *t = p->tree;
    while (p->at < t->size &&
           (t->text[p->at] == ' ' || t->text[p->at] == '\n' || t->text[p->at] == '\r' || t->text[p->at] == '\t')) {
        p->at++;
    }
    return p->at < t->size ? t->text[p->at] : '\0';
}

static api_node *add_node(parser *p, api_node_kind kind)
{
    api_tree *t = p->tree;
    api_node *node = &t->nodes[t->count++];
    *node = (api_node){.at = (uint32_t)p->at, .end = t->count, .kind = (unsigned)kind & 7u};
    return node;
}

static bool read_string(parser *p)
{
    api_tree *t = p->tree;
    add_node(p, API_NODE_STRING);
    if (!api_json_skip_string(t->text, t->size, &p->at, t->problem)) {
        t->problem->code = API_BAD_MESH;
        return false;
    }
    return true;
}

static bool read_word(parser *p, const char *word, api_node_kind kind)
{
    size_t length = strlen(word);
    if (p->tree->size - p->at < length || memcmp(p->tree->text + p->at, word, length) != 0) {
        return fail_at(p, "not JSON");
    }
    add_node(p, kind);
    p->at += length;
    return true;
}

static bool read_number(parser *p)
{
    size_t length = api_number_length(p->tree->text + p->at, p->tree->size - p->at);
    if (length == 0) {
        return fail_at(p, "not JSON");
    }
    add_node(p, API_NODE_NUMBER);
    p->at += length;
    return true;
}

static bool open_node(parser *p, api_node_kind kind)
{
    if (p->depth == API_TREE_DEPTH) {
        return fail_at(p, "nested too deeply");
    }
    p->open[p->depth++] = p->tree->count;
    add_node(p, kind);
    p->at++;
    return true;
}

/// A value, of an array or object only its beginning.
static bool read_value(parser *p)
{
    switch (skip_space(p)) {
    case '{':
        return open_node(p, API_NODE_OBJECT);
    case '[':
        return open_node(p, API_NODE_ARRAY);
    case '"':
        return read_string(p);
    case 't':
        return read_word(p, "true", API_NODE_BOOL);
    case 'f':
        return read_word(p, "false", API_NODE_BOOL);
    case 'n':
        return read_word(p, "null", API_NODE_NULL);
    default:
        return p->at < p->tree->size ? read_number(p) : fail_at(p, "the text ends too early");
    }
}

/// A member's name and colon.
static bool read_name(parser *p)
{
    if (skip_space(p) != '"') {
        return fail_at(p, "expected the name of a member");
    }
    if (!read_string(p)) {
        return false;
    }
    if (skip_space(p) != ':') {
        return fail_at(p, "expected `:`");
    }
    p->at++;
    return true;
}

/// Steps on within the innermost array or object: closes it, or reads the beginning of its next entry.
static bool step(parser *p)
{
    api_node *node = &p->tree->nodes[p->open[p->depth - 1]];
    bool object = node->kind == API_NODE_OBJECT;
    char c = skip_space(p);
    if (c == (object ? '}' : ']')) {
        p->at++;
        node->end = p->tree->count;
        p->depth--;
        return true;
    }
    if (node->count > 0) {
        if (c != ',') {
            return fail_at(p, object ? "expected `,` or `}`" : "expected `,` or `]`");
        }
        p->at++;
    }
    if (node->count == MOST_COUNT) {
        return fail_at(p, "a list too long");
    }
    node->count++;
    return (!object || read_name(p)) && read_value(p);
}

/// As many nodes as there can be: one for the whole, one behind each of these characters.
static size_t most_nodes(const char *text, size_t size)
{
    size_t count = 1;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        count += c == ',' || c == '[' || c == '{' || c == ':';
    }
    return count;
}

bool api_tree_parse(api_tree *tree, const char *text, size_t size, api_problem *problem)
{
    *tree = (api_tree){.text = text, .size = size, .problem = problem};
    parser p = {.tree = tree};
    if (size > UINT32_MAX / 2) {
        return fail_at(&p, "the file is larger than 2 GiB");
    }
    tree->nodes = malloc(most_nodes(text, size) * sizeof *tree->nodes);
    if (!tree->nodes) {
        api_problem_set(problem, API_STORAGE_FULL, "not enough memory to read the mesh");
        return false;
    }
    p.at = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (!read_value(&p)) {
        return false;
    }
    while (p.depth > 0) {
        if (!step(&p)) {
            return false;
        }
    }
    skip_space(&p);
    return p.at == size || fail_at(&p, "more text after the JSON value");
}

void api_tree_deinit(api_tree *tree)
{
    free(tree->nodes);
    *tree = (api_tree){0};
}

/// The JSON Pointer of a node: down from the whole, each time into the entry that holds it.
static void find_pointer(const api_tree *t, const api_node *node, char *pointer, size_t size)
{
    uint32_t wanted = (uint32_t)(node - t->nodes);
    const api_node *in = t->nodes;
    pointer[0] = '\0';
    while (in != node) {
        const api_node *child = in + 1;
        bool object = in->kind == API_NODE_OBJECT;
        for (unsigned index = 0;; index++) {
            const api_node *value = object ? child + 1 : child;
            if (wanted < value->end) {
                char name[64], base[128];
                snprintf(base, sizeof base, "%s", pointer);
                if (object) {
                    api_tree_text(t, child, name, sizeof name);
                } else {
                    snprintf(name, sizeof name, "%u", index);
                }
                api_pointer_join(pointer, size, base, name);
                in = wanted < (uint32_t)(value - t->nodes) ? node : value; // a member's name: told as the member
                break;
            }
            child = api_tree_next(t, value);
        }
    }
}

bool api_tree_fail(const api_tree *tree, const api_node *node, const char *format, ...)
{
    char pointer[128] = "", text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (node) {
        find_pointer(tree, node, pointer, sizeof pointer);
    }
    api_problem_set(tree->problem, API_BAD_MESH, "%.110s%s%s", pointer, pointer[0] ? " " : "", text);
    snprintf(tree->problem->pointer, sizeof tree->problem->pointer, "%.*s", (int)sizeof tree->problem->pointer - 1,
             pointer);
    return false;
}

const char *api_tree_raw(const api_tree *tree, const api_node *node, size_t *length)
{
    *length = 0;
    if (!api_node_is(node, API_NODE_STRING)) {
        return NULL;
    }
    const char *text = tree->text + node->at + 1; // parsed already: the closing quote is there
    while (text[*length] != '"') {
        *length += text[*length] == '\\' ? 2 : 1;
    }
    return text;
}

bool api_tree_is_text(const api_tree *tree, const api_node *node, const char *text)
{
    size_t length, wanted = strlen(text);
    const char *raw = api_tree_raw(tree, node, &length);
    if (!raw || memchr(raw, '\\', length)) {
        char decoded[256];
        return raw && wanted < sizeof decoded && strcmp(api_tree_text(tree, node, decoded, sizeof decoded), text) == 0;
    }
    return length == wanted && memcmp(raw, text, length) == 0;
}

bool api_tree_is_true(const api_tree *tree, const api_node *node)
{
    return api_node_is(node, API_NODE_BOOL) && tree->text[node->at] == 't';
}

char *api_tree_text(const api_tree *tree, const api_node *node, char *text, size_t size)
{
    size_t length;
    const char *raw = api_tree_raw(tree, node, &length);
    text[0] = '\0';
    if (raw && memchr(raw, '\\', length)) { // hardly anybody writes escapes: they are left to cJSON
        api_problem ignored;
        cJSON *decoded = api_json_parse(raw - 1, length + 2, 1, &ignored);
        snprintf(text, size, "%s", decoded ? decoded->valuestring : "");
        cJSON_Delete(decoded);
    } else if (raw) {
        snprintf(text, size, "%.*s", (int)(length < size ? length : size), raw);
    }
    return text;
}

const api_node *api_tree_member(const api_tree *tree, const api_node *object, const char *name)
{
    if (!api_node_is(object, API_NODE_OBJECT)) {
        return NULL;
    }
    for (const api_node *n = object + 1; n < api_tree_end(tree, object); n = api_tree_next(tree, n + 1)) {
        if (api_tree_is_text(tree, n, name)) {
            return n + 1;
        }
    }
    return NULL;
}

const api_node *api_tree_entry(const api_tree *tree, const api_node *array, uint32_t index)
{
    if (!api_node_is(array, API_NODE_ARRAY) || index >= array->count) {
        return NULL;
    }
    const api_node *node = array + 1;
    while (index-- > 0) {
        node = api_tree_next(tree, node);
    }
    return node;
}

size_t api_tree_text_end(const api_tree *tree, const api_node *node)
{
    const char *text = tree->text;
    size_t at = node->at, depth = 0, length;
    if (node->kind < API_NODE_STRING) { // a word or a number
        while (at < tree->size &&
               (text[at] == '-' || text[at] == '+' || text[at] == '.' || isalnum((unsigned char)text[at]))) {
            at++;
        }
        return at;
    }
    do { // parsed already: brackets and quotes balance
        if (text[at] == '"') {
            const api_node string = {.at = (uint32_t)at, .kind = API_NODE_STRING};
            api_tree_raw(tree, &string, &length);
            at += length + 1;
        }
        depth += text[at] == '[' || text[at] == '{';
        depth -= text[at] == ']' || text[at] == '}';
        at++;
    } while (depth > 0);
    return at;
}

bool api_tree_number(const api_tree *tree, const api_node *node, double absent, double *value)
{
    *value = absent;
    if (!node && !isnan(absent)) {
        return true;
    }
    if (!api_node_is(node, API_NODE_NUMBER)) {
        return api_tree_fail(tree, node, "must be a number");
    }
    const char *text = tree->text + node->at;
    size_t length = api_number_length(text, tree->size - node->at);
    return api_number_parse(text, length, value) == API_NUMBER_OK ||
           api_tree_fail(tree, node, "is a number out of range");
}

bool api_tree_numbers(const api_tree *tree, const api_node *node, size_t count, double *values)
{
    if (!api_node_is(node, API_NODE_ARRAY) || node->count != count) {
        return api_tree_fail(tree, node, "must be an array of %zu numbers", count);
    }
    const api_node *entry = node + 1;
    for (size_t i = 0; i < count; i++, entry = api_tree_next(tree, entry)) {
        if (!api_tree_number(tree, entry, NAN, &values[i])) {
            return false;
        }
    }
    return true;
}

bool api_tree_whole(const api_tree *tree, const api_node *node, uint64_t absent, uint64_t max, uint64_t *value)
{
    double number;
    *value = absent;
    if (!node && absent <= max) {
        return true;
    }
    if (!api_tree_number(tree, node, NAN, &number)) {
        return false;
    }
    if (number < 0 || number > (double)max || floor(number) != number) {
        return api_tree_fail(tree, node, "must be a whole number from 0 to %llu", (unsigned long long)max);
    }
    *value = (uint64_t)number;
    return true;
}

static int base64_value(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : -1;
}

bool api_base64_decode(const char *text, size_t length, uint8_t *out, size_t *size)
{
    uint32_t bits = 0;
    int held = 0;
    *size = 0;
    while (length > 0 && text[length - 1] == '=') {
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\' && i + 1 < length && text[i + 1] == '/') {
            continue;
        }
        int value = base64_value(text[i]);
        if (value < 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[(*size)++] = (uint8_t)(bits >> held);
        }
    }
    return true;
}

bool api_holds_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (; *name; name++) {
        if (strncasecmp(name, word, length) == 0) {
            return true;
        }
    }
    return false;
}
