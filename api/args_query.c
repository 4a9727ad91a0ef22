/// A query string as the question that a JSON body would hold, so that both are read alike.
#include "args.h"
#include "number.h"
#include "query_string.h"

/// Sets `*size` to the length of the part of a list before the next comma, blanks round it cut off.
static const char *trim(const char *text, size_t *size)
{
    while (*size > 0 && *text == ' ') {
        text++;
        (*size)--;
    }
    while (*size > 0 && text[*size - 1] == ' ') {
        (*size)--;
    }
    return text;
}

static cJSON *number_value(const char *text, size_t size, const char *name, const api_place *place)
{
    char pointer[96];
    api_pointer_join(pointer, sizeof pointer, "", name);
    double value = 0;
    switch (api_number_parse(text, size, &value)) {
    case API_NUMBER_OK:
        break;
    case API_NUMBER_TOO_LARGE:
        api_place_fail(place, pointer, "`%s` holds a number too large for a double", name);
        return NULL;
    default:
        api_place_fail(place, pointer, "`%s` must be made of numbers; `%.*s` is none", name,
                       (int)(size < 40 ? size : 40), text);
        return NULL;
    }
    cJSON *number = cJSON_CreateNumber(value);
    if (!number) {
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
    }
    return number;
}

static cJSON *text_value(const char *text, const api_place *place)
{
    cJSON *value = cJSON_CreateString(text);
    if (!value) {
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
    }
    return value;
}

/// Adds `item` (taken over, may be NULL: a failure already told).
static bool add_item(cJSON *list, cJSON *item, const api_place *place)
{
    if (!item) {
        return false;
    }
    if (!cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return false;
    }
    return true;
}

static bool add_member(cJSON *object, const char *name, cJSON *item, const api_place *place)
{
    if (!item) {
        return false;
    }
    if (!cJSON_AddItemToObject(object, name, item)) {
        cJSON_Delete(item);
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return false;
    }
    return true;
}

/// "1,2,3" as an array, up to a semicolon; with `words`, what is no number is taken as a name.
static cJSON *list_value(const char *text, const char *name, bool words, const api_place *place)
{
    cJSON *list = cJSON_CreateArray();
    if (!list) {
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return NULL;
    }
    for (;;) {
        size_t whole = strcspn(text, words ? "," : ",;"), size = whole;
        const char *part = trim(text, &size);
        bool word = words && size > 0 && (*part < '0' || *part > '9') && size <= API_NAME_MAX;
        cJSON *item;
        if (word) {
            char copy[API_NAME_MAX + 1];
            memcpy(copy, part, size);
            copy[size] = '\0';
            item = text_value(copy, place);
        } else {
            item = number_value(part, size, name, place);
        }
        if (!add_item(list, item, place)) {
            cJSON_Delete(list);
            return NULL;
        }
        if (text[whole] != ',') {
            return list;
        }
        text += whole + 1;
    }
}

/// One list, with nothing behind it.
static cJSON *single_list(const char *text, const char *name, const api_place *place)
{
    if (strchr(text, ';')) {
        char pointer[96];
        api_pointer_join(pointer, sizeof pointer, "", name);
        api_place_fail(place, pointer, "`%s` must be made of numbers with commas between", name);
        return NULL;
    }
    return list_value(text, name, false, place);
}

/// "1,2,3;4,5,6" as an array of arrays; nothing at all is an empty one.
static cJSON *lists_value(const char *text, const char *name, const api_place *place)
{
    cJSON *lists = cJSON_CreateArray();
    if (!lists) {
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return NULL;
    }
    while (*text) {
        if (!add_item(lists, list_value(text, name, false, place), place)) {
            cJSON_Delete(lists);
            return NULL;
        }
        text += strcspn(text, ";");
        if (*text == ';' && !*++text) { // a last semicolon with nothing behind it
            char pointer[96];
            api_pointer_join(pointer, sizeof pointer, "", name);
            api_place_fail(place, pointer, "`%s` ends with a semicolon", name);
            cJSON_Delete(lists);
            return NULL;
        }
    }
    return lists;
}

/// "1,2,3,9": a position and a radius behind it.
static cJSON *around_value(const char *text, const char *name, const api_place *place)
{
    cJSON *point = single_list(text, name, place);
    if (!point) {
        return NULL;
    }
    cJSON *radius = cJSON_DetachItemFromArray(point, cJSON_GetArraySize(point) - 1);
    cJSON *around = cJSON_CreateObject();
    if (!around) {
        cJSON_Delete(point);
        cJSON_Delete(radius);
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return NULL;
    }
    bool added = add_member(around, "point", point, place);
    if (!add_member(around, "radius", radius, place) || !added) {
        cJSON_Delete(around);
        return NULL;
    }
    return around;
}

static cJSON *bool_value(const char *text, const char *name, const api_place *place)
{
    bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) {
        char pointer[96];
        api_pointer_join(pointer, sizeof pointer, "", name);
        api_place_fail(place, pointer, "`%s` must be true or false, not `%.40s`", name, text);
        return NULL;
    }
    cJSON *value = cJSON_CreateBool(yes);
    if (!value) {
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
    }
    return value;
}

/// A filter's name, or its JSON text.
static cJSON *filter_value(const char *text, uint32_t max_depth, const api_place *place)
{
    if (*text != '{') {
        return text_value(text, place);
    }
    cJSON *value = api_json_parse(text, strlen(text), max_depth, place->problem);
    if (!value && place->problem->code == API_BAD_JSON) {
        char detail[256];
        memcpy(detail, place->problem->detail, sizeof detail - 1);
        detail[sizeof detail - 1] = '\0';
        api_place_fail(place, "/filter", "`filter` is not JSON: %s", detail);
    }
    return value;
}

static cJSON *value_of(const char *text, const char *name, api_arg_form form, uint32_t max_depth,
                       const api_place *place)
{
    switch (form) {
    case API_FORM_POSITION:
        return single_list(text, name, place);
    case API_FORM_POSITIONS:
        return lists_value(text, name, place);
    case API_FORM_AROUND:
        return around_value(text, name, place);
    case API_FORM_NUMBERS:
        return strchr(text, ',') ? single_list(text, name, place) : number_value(text, strlen(text), name, place);
    case API_FORM_NUMBER:
        return number_value(text, strlen(text), name, place);
    case API_FORM_BOOL:
        return bool_value(text, name, place);
    case API_FORM_FILTER:
        return filter_value(text, max_depth, place);
    default:
        return text_value(text, place);
    }
}

/// `include=…` and `exclude=…`: one mask, or a list of names.
static bool add_mask(cJSON *question, const char *name, const char *text, api_place *place)
{
    char pointer[24];
    api_pointer_join(pointer, sizeof pointer, "", name);
    cJSON *filter = cJSON_GetObjectItemCaseSensitive(question, "filter");
    if (filter && !place->query_filter) {
        return api_place_fail(place, pointer, "`%s` belongs inside `filter` when there is one", name);
    }
    if (filter && cJSON_GetObjectItemCaseSensitive(filter, name)) {
        return api_place_fail(place, pointer, "`%s` is there twice", name);
    }
    place->query_filter = true;
    if (!filter) {
        filter = cJSON_CreateObject();
        if (!filter) {
            api_problem_set(place->problem, API_INTERNAL, "out of memory");
            return false;
        }
        if (!add_member(question, "filter", filter, place)) {
            return false;
        }
    }
    bool mask = api_number_length(text, strlen(text)) == strlen(text) && *text;
    return add_member(filter, name,
                      mask ? number_value(text, strlen(text), name, place) : list_value(text, name, true, place),
                      place);
}

static bool add_parameter(cJSON *question, const api_parameters *pair, uint32_t allowed, uint32_t max_depth,
                          api_place *place)
{
    bool mask = strcmp(pair->name, "include") == 0 || strcmp(pair->name, "exclude") == 0;
    if (mask && (allowed & API_ARG_FILTER)) {
        return add_mask(question, pair->name, pair->value, place);
    }
    api_arg_form form;
    if (!api_args_form(pair->name, allowed, &form)) {
        return api_args_unknown(place, pair->name, allowed);
    }
    if (form == API_FORM_FILTER && place->query_filter) {
        return api_place_fail(place, "/filter", "`filter` beside `include` or `exclude`: give one of them");
    }
    return add_member(question, pair->name, value_of(pair->value, pair->name, form, max_depth, place), place);
}

cJSON *api_args_from_query(const char *query, uint32_t allowed, uint32_t max_depth, api_place *place)
{
    cJSON *question = cJSON_CreateObject();
    if (!question) {
        api_problem_set(place->problem, API_INTERNAL, "out of memory");
        return NULL;
    }
    api_parameters pair;
    api_parameters_init(&pair, query);
    bool good = true;
    while (good && api_parameters_next(&pair, place->problem)) {
        good = add_parameter(question, &pair, allowed, max_depth, place);
    }
    api_parameters_deinit(&pair);
    if (!good || place->problem->code != API_NO_PROBLEM) {
        cJSON_Delete(question);
        return NULL;
    }
    return question;
}
