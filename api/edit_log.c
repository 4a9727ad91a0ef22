/// Edits as lines of a log, and a set of edits from such lines.
#include <stdio.h>

#include "edit_json.h"
#include "editor.h"

/// A line, its entries, their members and points.
#define LOG_DEPTH 8

void api_edited_log(const api_edited *edited, api_buffer *line)
{
    api_json json = api_json_begin(line);
    bool open = false;
    for (uint32_t i = 0; i < edited->count; i++) {
        const api_changed *c = &edited->changes[i];
        bool kept = c->edit && !c->edit->is_volatile;
        if (!kept && !c->was_kept) {
            continue;
        }
        if (!open) {
            api_json_open(&json, '[');
            open = true;
        }
        if (kept) {
            api_edit_write_put(&json, c->edit);
        } else {
            api_edit_write_removal(&json, c->kind, c->id);
        }
    }
    if (open) {
        api_json_close(&json, ']');
    }
}

void api_edit_log_line(api_buffer *line, const api_edit *edit)
{
    api_json json = api_json_begin(line);
    api_json_open(&json, '[');
    api_edit_write_put(&json, edit);
    api_json_close(&json, ']');
}

static bool out_of_memory(api_problem *problem)
{
    api_problem_set(problem, API_STORAGE_FULL, "not enough memory for the edits");
    return false;
}

static bool replay(api_edit_set *set, const api_change *change, int64_t now_ms, uint64_t *order, api_problem *problem)
{
    api_edit *edit = change->edit;
    if (!edit || (edit->expires_ms && edit->expires_ms <= now_ms)) {
        return api_edit_set_remove(set, change->kind, change->id, NULL) || out_of_memory(problem);
    }
    const api_edit *there = api_edit_set_find(set, change->kind, change->id);
    edit->order = there ? there->order : ++*order;
    return api_edit_set_put(set, edit) || out_of_memory(problem);
}

bool api_edit_set_replay(api_edit_set *set, const char *line, size_t size, int64_t now_ms, uint64_t *order,
                         api_problem *problem)
{
    const api_place place = {.problem = problem};
    const api_edit_terms terms = api_edit_terms_exact();
    cJSON *list = api_json_parse(line, size, LOG_DEPTH, problem);
    bool good = list && (cJSON_IsArray(list) || api_place_fail(&place, "", "is no list of edits"));
    unsigned number = 0;
    for (const cJSON *entry = good ? list->child : NULL; entry && good; entry = entry->next) {
        api_change change;
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/%u", number++);
        good = api_change_read_entry(&change, &terms, entry, pointer, &place);
        if (good) {
            good = replay(set, &change, now_ms, order, problem);
            api_change_deinit(&change);
        }
    }
    cJSON_Delete(list);
    return good;
}
