/// A JSON file as a flat tree over its text: 12 bytes a value where a node of cJSON takes 64 and an allocation.
/// For files of other programs, whose members stand in any order and may hold long lists of numbers.
///
/// Nodes lie in the order of the text: an array is followed by its entries, an object by name and value of each
/// member in turn. Functions that fail return false and fill the problem: 422 bad_mesh with the byte where the
/// text is no JSON, with the JSON Pointer where it is not what was looked for.
#ifndef API_JSON_TREE_H
#define API_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api_problem.h"

#define API_TREE_DEPTH 64 ///< arrays and objects in each other

typedef enum api_node_kind {
    API_NODE_NULL,
    API_NODE_BOOL,
    API_NODE_NUMBER,
    API_NODE_STRING,
    API_NODE_ARRAY,
    API_NODE_OBJECT
} api_node_kind;

typedef struct api_node {
    uint32_t at;         ///< byte of the text where the value begins
    uint32_t end;        ///< number of the node behind the value and all in it
    unsigned kind : 3;   ///< api_node_kind
    unsigned count : 29; ///< entries of an array, members of an object
} api_node;

typedef struct api_tree {
    const char *text; ///< borrowed
    size_t size;
    api_node *nodes; ///< nodes[0] is the whole
    uint32_t count;
    api_problem *problem;
} api_tree;

/// Parses strictly (RFC 8259). api_tree_deinit is due in either case.
bool api_tree_parse(api_tree *tree, const char *text, size_t size, api_problem *problem);
void api_tree_deinit(api_tree *tree);

/// Complains about a value: "/meshes/0/name must be text". `node` may be NULL: about the whole.
bool api_tree_fail(const api_tree *tree, const api_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool api_node_is(const api_node *node, api_node_kind kind)
{
    return node && node->kind == (unsigned)kind;
}

/// The node behind a value: the next entry, or in an object the next member's name.
static inline const api_node *api_tree_next(const api_tree *tree, const api_node *node)
{
    return tree->nodes + node->end;
}

/// Behind the last entry or member of an array or object, whose first one is node + 1.
static inline const api_node *api_tree_end(const api_tree *tree, const api_node *node)
{
    return tree->nodes + node->end;
}

/// Member of an object by name. @return NULL: none, or `object` is none itself
const api_node *api_tree_member(const api_tree *tree, const api_node *object, const char *name);
/// Entry of an array by its number, in time linear in it. @return NULL: none
const api_node *api_tree_entry(const api_tree *tree, const api_node *array, uint32_t index);

/// Is this value a string, and this one?
bool api_tree_is_text(const api_tree *tree, const api_node *node, const char *text);
/// Is this value `true`?
bool api_tree_is_true(const api_tree *tree, const api_node *node);
/// A string's text, decoded and cut to `size` bytes with the NUL; empty for anything else. @return `text`
char *api_tree_text(const api_tree *tree, const api_node *node, char *text, size_t size);
/// Bytes of a string between its quotes, escapes as they stand. @return NULL: no string
const char *api_tree_raw(const api_tree *tree, const api_node *node, size_t *length);

/// Decodes the base64 of a string as it stands in JSON, where slashes may have a backslash before them.
/// @param out  room for length / 4 * 3 + 4 bytes
/// @return false: it is not base64
bool api_base64_decode(const char *text, size_t length, uint8_t *out, size_t *size);

/// Is `word` anywhere in the name, in capitals or not?
bool api_holds_word(const char *name, const char *word);

/// The byte of the text behind a value.
size_t api_tree_text_end(const api_tree *tree, const api_node *node);

/// A finite number; a missing one (NULL) is `absent`, unless that is no number itself.
bool api_tree_number(const api_tree *tree, const api_node *node, double absent, double *value);
/// `count` finite numbers of an array of just so many.
bool api_tree_numbers(const api_tree *tree, const api_node *node, size_t count, double *values);
/// A whole number from 0 to `max`; a missing one is `absent`, unless that is beyond `max`.
bool api_tree_whole(const api_tree *tree, const api_node *node, uint64_t absent, uint64_t max, uint64_t *value);

#endif
