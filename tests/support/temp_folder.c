#include "temp_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void join(const temp_folder *folder, const char *name, char path[TEMP_PATH_MAX])
{
    snprintf(path, TEMP_PATH_MAX, "%s/%s", folder->path, name);
}

void temp_folder_make(temp_folder *folder)
{
    snprintf(folder->path, sizeof folder->path, "/tmp/navd-unit-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
}

static void empty(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        char inner[TEMP_PATH_MAX];
        snprintf(inner, sizeof inner, "%.200s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(inner) != 0) {
            empty(inner);
            rmdir(inner);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

void temp_folder_remove(temp_folder *folder)
{
    empty(folder->path);
    rmdir(folder->path);
}

void temp_folder_write(const temp_folder *folder, const char *name, const char *bytes, size_t size)
{
    char path[TEMP_PATH_MAX];
    join(folder, name, path);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    size = size == SIZE_MAX ? strlen(bytes) : size;
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
}

void temp_folder_rename_in(const temp_folder *folder, const char *name, const char *text)
{
    char from[TEMP_PATH_MAX], to[TEMP_PATH_MAX];
    temp_folder_write(folder, ".part", text, SIZE_MAX);
    join(folder, ".part", from);
    join(folder, name, to);
    assert_int_equal(rename(from, to), 0);
}

void temp_folder_age(const temp_folder *folder, const char *name, int seconds)
{
    char path[TEMP_PATH_MAX];
    struct timespec now, times[2];
    join(folder, name, path);
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    times[0] = times[1] = now;
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

bool temp_folder_has(const temp_folder *folder, const char *name)
{
    char path[TEMP_PATH_MAX];
    join(folder, name, path);
    return access(path, F_OK) == 0;
}

size_t temp_folder_count(const temp_folder *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder->path);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    closedir(dir);
    return count;
}
