/// Folders for tests of files, gone when the test is.
#ifndef TEMP_FOLDER_H
#define TEMP_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#define TEMP_PATH_MAX 512

typedef struct temp_folder {
    char path[64];
} temp_folder;

/// Makes an empty folder.
void temp_folder_make(temp_folder *folder);
/// Removes it with all it holds (one level of folders deep).
void temp_folder_remove(temp_folder *folder);

/// Writes a file in place. `size` SIZE_MAX: text.
void temp_folder_write(const temp_folder *folder, const char *name, const char *bytes, size_t size);
/// Writes it beside and renames it over `name`.
void temp_folder_rename_in(const temp_folder *folder, const char *name, const char *text);
/// Sets the file's last change to `seconds` ago.
void temp_folder_age(const temp_folder *folder, const char *name, int seconds);
bool temp_folder_has(const temp_folder *folder, const char *name);
/// Files, hidden ones too.
size_t temp_folder_count(const temp_folder *folder);

#endif
