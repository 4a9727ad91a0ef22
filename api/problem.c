/// The one table of errors.
#include "api_problem.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct code_entry {
    const char *text, *title;
    int status;
} code_entry;

static const code_entry codes[API_CODE_COUNT] = {[API_NO_PROBLEM] = {"none", "No problem", 200},
#define CODE_ENTRY(name, text, status, title) [name] = {text, title, status},
                                                 API_CODE_LIST(CODE_ENTRY)
#undef CODE_ENTRY
};

/// A code from outside the enum is our fault, whatever it was meant to say.
static const code_entry *find(api_code code)
{
    return (unsigned)code < API_CODE_COUNT ? &codes[code] : &codes[API_INTERNAL];
}

const char *api_code_text(api_code code)
{
    return find(code)->text;
}

int api_code_status(api_code code)
{
    return find(code)->status;
}

const char *api_code_title(api_code code)
{
    return find(code)->title;
}

void api_problem_set(api_problem *problem, api_code code, const char *format, ...)
{
    problem->code = code;
    problem->pointer[0] = '\0';
    problem->parameter[0] = '\0';
    problem->allow = NULL;
    problem->retry_after = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(problem->detail, sizeof problem->detail, format, args);
    va_end(args);
}
