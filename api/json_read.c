/// A JSON text as a tree of cJSON's nodes, read strictly (RFC 8259) and into one block of memory.
///
///     root | node | node | ... | strings
///
/// The first of two passes looks at every byte, so that whatever strings and numbers are wrong in is told by
/// its place, and counts; the second one builds, knowing that strings end and numbers are numbers. The root is
/// marked as a reference: cJSON_Delete then leaves alone what it holds, and frees the block with it.
///
/// cJSON's own parser takes four times as long, a fifth of what a short question costs: it copies each number
/// for strtod, asks the locale for each, and allocates every node and string. And it lets through control
/// characters for white space, malformed UTF-8, and a part of a number for the whole.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "json_in.h"
#include "number.h"
#include "utf8.h"

static bool bad_json(api_problem *problem, size_t byte, const char *what)
{
    api_problem_set(problem, API_BAD_JSON, "byte %zu: %s", byte, what);
    return false;
}

// ---- the first pass --------------------------------------------------------------------------------

/// What the tree needs at most.
typedef struct tree_need {
    size_t nodes, string_bytes;
} tree_need;

static int hex_value(unsigned char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/// The four digits after "\\u"; -1 when they are none, or beyond `size`.
static int hex_escape(const unsigned char *text, size_t size, size_t i)
{
    int value = 0;
    for (size_t k = i; k < i + 4; k++) {
        int digit = k < size ? hex_value(text[k]) : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

/// @return length of the escape at text[i] == '\\', 0 when it is none that can be kept as a C string
static size_t escape_length(const unsigned char *text, size_t size, size_t i)
{
    if (i + 1 >= size) {
        return 0;
    }
    if (text[i + 1] != 'u') {
        return strchr("\"\\/bfnrt", text[i + 1]) && text[i + 1] ? 2 : 0;
    }
    int value = hex_escape(text, size, i + 2);
    if (value < 0xD800 || value > 0xDFFF) {
        return value > 0 ? 6 : 0;
    }
    // Half of a character beyond U+FFFF: the other half must follow.
    bool pair = value < 0xDC00 && i + 7 < size && text[i + 6] == '\\' && text[i + 7] == 'u';
    int low = pair ? hex_escape(text, size, i + 8) : 0;
    return low >= 0xDC00 && low <= 0xDFFF ? 12 : 0;
}

/// @param at  of the opening quote; set behind the closing one
static bool scan_string(const unsigned char *text, size_t size, size_t *at, api_problem *problem)
{
    size_t i = *at + 1;
    while (i < size && text[i] != '"') {
        size_t length = 1;
        if (text[i] == '\\') {
            length = escape_length(text, size, i);
        } else if (text[i] < 0x20) {
            return bad_json(problem, i, "a control character in a string");
        } else if (text[i] >= 0x80) {
            length = api_utf8_length(text + i, size - i);
        }
        if (length == 0) {
            return bad_json(problem, i, text[i] == '\\' ? "no escape that is allowed" : "not UTF-8");
        }
        i += length;
    }
    if (i == size) {
        return bad_json(problem, *at, "a string that does not end");
    }
    *at = i + 1;
    return true;
}

bool api_json_skip_string(const char *text, size_t size, size_t *at, api_problem *problem)
{
    return scan_string((const unsigned char *)text, size, at, problem);
}

static bool scan(const unsigned char *text, size_t from, size_t size, uint32_t max_depth, tree_need *need,
                 api_problem *problem)
{
    uint32_t depth = 0;
    need->nodes = 1;
    need->string_bytes = 0;
    for (size_t i = from; i < size;) {
        unsigned char c = text[i];
        size_t begin = i;
        if (c == '"') {
            if (!scan_string(text, size, &i, problem)) {
                return false;
            }
            need->string_bytes += i - begin - 1; // two quotes less, a NUL more
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            i += api_number_length((const char *)text + i, size - i);
            if (i == begin) {
                return bad_json(problem, i, "not a number");
            }
        } else {
            if (c < 0x20 && c != ' ' && c != '\t' && c != '\n' && c != '\r') {
                return bad_json(problem, i, "a control character");
            }
            bool opens = c == '[' || c == '{';
            if (opens && ++depth > max_depth) {
                api_problem_set(problem, API_BAD_JSON, "byte %zu: nested deeper than %u", i, (unsigned)max_depth);
                return false;
            }
            need->nodes += opens || c == ','; // before each value but the first stands one of these
            depth -= (c == ']' || c == '}') && depth > 0;
            i++;
        }
    }
    return true;
}

// ---- the second pass -------------------------------------------------------------------------------

typedef struct builder {
    const char *text;
    size_t at, end;
    cJSON *node;  ///< the next that is free
    char *string; ///< likewise
} builder;

/// The next byte that is no white space; NUL at the end.
static char next_byte(builder *b)
{
    while (b->at < b->end) {
        char c = b->text[b->at];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            return c;
        }
        b->at++;
    }
    return '\0';
}

static char *put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xC0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *to++ = (char)(0xE0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    } else {
        *to++ = (char)(0xF0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3F));
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    }
    return to;
}

/// Writes what the escape at text[*at] stands for, and moves behind it.
static char *put_escape(char *to, const unsigned char *text, size_t size, size_t *at)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    unsigned char c = text[*at + 1];
    if (c != 'u') {
        const char *letter = strchr(letters, c);
        *to++ = letter ? meant[letter - letters] : (char)c;
        *at += 2;
        return to;
    }
    unsigned value = (unsigned)hex_escape(text, size, *at + 2);
    *at += 6;
    if (value >= 0xD800 && value <= 0xDFFF) {
        value = 0x10000 + ((value - 0xD800) << 10) + ((unsigned)hex_escape(text, size, *at + 2) - 0xDC00);
        *at += 6;
    }
    return put_utf8(to, value);
}

/// The string at the opening quote, which is known to end.
static char *build_string(builder *b)
{
    const unsigned char *text = (const unsigned char *)b->text;
    char *string = b->string, *to = string;
    size_t at = b->at + 1;
    while (text[at] != '"') {
        if (text[at] == '\\') {
            to = put_escape(to, text, b->end, &at);
        } else {
            *to++ = (char)text[at++];
        }
    }
    *to++ = '\0';
    b->string = to;
    b->at = at + 1;
    return string;
}

static bool build_value(builder *b, cJSON *node);

/// The members of an object, or the items of an array, behind the bracket.
static bool build_list(builder *b, cJSON *list, bool object)
{
    char close = object ? '}' : ']';
    list->type = object ? cJSON_Object : cJSON_Array;
    b->at++;
    if (next_byte(b) == close) {
        b->at++;
        return true;
    }
    for (cJSON *last = NULL;;) {
        cJSON *item = b->node++;
        *item = (cJSON){.prev = last};
        if (last) {
            last->next = item;
        } else {
            list->child = item;
        }
        if (object) {
            if (next_byte(b) != '"') {
                return false;
            }
            item->string = build_string(b);
            if (next_byte(b) != ':') {
                return false;
            }
            b->at++;
        }
        if (!build_value(b, item)) {
            return false;
        }
        last = item;
        char c = next_byte(b);
        if (c != ',') {
            list->child->prev = last; // as cJSON wants it
            b->at += c == close;
            return c == close;
        }
        b->at++;
    }
}

static bool build_word(builder *b, cJSON *node, const char *word, int type)
{
    size_t size = strlen(word);
    if (b->end - b->at < size || memcmp(b->text + b->at, word, size) != 0) {
        return false;
    }
    node->type = type;
    node->valueint = type == cJSON_True;
    b->at += size;
    return true;
}

static bool build_value(builder *b, cJSON *node)
{
    char c = next_byte(b);
    switch (c) {
    case '{':
    case '[':
        return build_list(b, node, c == '{');
    case '"':
        node->type = cJSON_String;
        node->valuestring = build_string(b);
        return true;
    case 't':
        return build_word(b, node, "true", cJSON_True);
    case 'f':
        return build_word(b, node, "false", cJSON_False);
    case 'n':
        return build_word(b, node, "null", cJSON_NULL);
    default:
        if (c != '-' && (c < '0' || c > '9')) {
            return false;
        }
        node->type = cJSON_Number;
        b->at += api_number_take(b->text + b->at, b->end - b->at, &node->valuedouble);
        double value = node->valuedouble;
        node->valueint = value >= INT_MAX ? INT_MAX : value <= INT_MIN ? INT_MIN : (int)value;
        return true;
    }
}

// ---- the whole -------------------------------------------------------------------------------------

cJSON *api_json_parse(const char *text, size_t size, uint32_t max_depth, api_problem *problem)
{
    if (size == 0) {
        api_problem_set(problem, API_BAD_JSON, "the body is empty");
        return NULL;
    }
    return api_json_parse_part(text, 0, size, max_depth, problem);
}

cJSON *api_json_parse_part(const char *text, size_t from, size_t to, uint32_t max_depth, api_problem *problem)
{
    static const char mark[] = "\xEF\xBB\xBF";
    tree_need need;
    if (!scan((const unsigned char *)text, from, to, max_depth, &need, problem)) {
        return NULL;
    }
    bool fits = need.nodes <= (SIZE_MAX - need.string_bytes) / sizeof(cJSON);
    cJSON *root = fits ? malloc(need.nodes * sizeof *root + need.string_bytes) : NULL;
    if (!root) {
        api_problem_set(problem, API_INTERNAL, "out of memory");
        return NULL;
    }
    builder b = {.text = text, .at = from, .end = to, .node = root + 1, .string = (char *)(root + need.nodes)};
    if (from == 0 && to >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
        b.at += sizeof mark - 1;
    }
    *root = (cJSON){0};
    bool built = build_value(&b, root);
    if (built && !next_byte(&b) && b.at == to) {
        root->type |= cJSON_IsReference;
        return root;
    }
    free(root);
    bad_json(problem, b.at,
             built                   ? "more text after the JSON value"
             : b.at < to || from > 0 ? "not JSON"
                                     : "the text ends too early");
    return NULL;
}
