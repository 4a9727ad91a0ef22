/// Assertions on answers of the api, on a fake host. For cmocka tests.
#ifndef API_CHECK_H
#define API_CHECK_H

#include <cjson/cJSON.h>

#include "fake_host.h"

/// A square of ten by ten at height 0, the first corner at the origin.
extern const char api_square[];

/// Starts a host with the square as mesh "g".
void api_check_start(fake_host *fake);
/// Stops it; fails where a reference was not given back.
void api_check_stop(fake_host *fake);
/// Loads a mesh; fails with the problem's detail.
const api_mesh *api_check_load(fake_host *fake, const char *id, const char *text, const char *params);

/// The answer must have this status and, where `body` is not NULL, exactly this body.
void api_check_answer(fake_host *fake, api_method method, const char *target, const char *question, int status,
                      const char *body);

/// What a problem document must say; NULL members are not looked at, empty ones must be absent.
typedef struct api_expected {
    int status;
    const char *code, *pointer, *parameter;
    const char *detail; ///< a part of it
} api_expected;
void api_check_problem(fake_host *fake, api_method method, const char *target, const char *question,
                       api_expected expected);

/// The parsed JSON body of a 200; the caller frees with cJSON_Delete.
cJSON *api_check_json(fake_host *fake, api_method method, const char *target, const char *question);

/// A member by its path ("results/0/point"); fails where it is missing.
const cJSON *api_check_at(const cJSON *json, const char *path);

#endif
