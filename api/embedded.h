/// Files that travel inside the program.
#ifndef API_EMBEDDED_H
#define API_EMBEDDED_H

/// Bytes from …_begin up to …_end; not NUL-terminated.
extern const char api_openapi_begin[], api_openapi_end[]; ///< api/openapi.json
// The viewer, bundled from web/ (web/web.mk).
extern const char api_page_begin[], api_page_end[];
extern const char api_page_script_begin[], api_page_script_end[];
extern const char api_page_style_begin[], api_page_style_end[];

#endif
