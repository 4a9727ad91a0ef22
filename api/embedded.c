/// Takes whole files into the program by the assembler's .incbin: no generator, no copy as C text.
/// Paths are relative to the project's root, where make runs; api.mk knows the dependency.
#include "embedded.h"

#define EMBED(name, path)                               \
    __asm__(".section .rodata\n"                        \
            ".global " #name "_begin\n"                 \
            ".global " #name "_end\n" #name "_begin:\n" \
            ".incbin \"" path "\"\n" #name "_end:\n"    \
            ".byte 0\n"                                 \
            ".previous\n")

EMBED(api_openapi, "api/openapi.json");
EMBED(api_page, "build/web/index.html");
EMBED(api_page_script, "build/web/viewer.js");
EMBED(api_page_style, "build/web/style.css");
