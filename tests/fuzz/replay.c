/// Puts kept inputs to a fuzz target, without a fuzzer: `replay FOLDER-OR-FILE …`.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static unsigned passed, failed;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
    }
    unsigned char *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (!data || fseek(file, 0, SEEK_SET) != 0 || fread(data, 1, (size_t)size, file) != (size_t)size) {
        printf("FAIL  %s cannot be read\n", path);
        failed++;
    } else {
        // A block of its own size, so that a sanitizer sees a read behind it.
        unsigned char *exact = realloc(data, size ? (size_t)size : 1);
        data = exact ? exact : data;
        LLVMFuzzerTestOneInput(data, (size_t)size);
        passed++;
    }
    free(data);
    if (file) {
        fclose(file);
    }
}

static void replay(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        replay_file(path);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char below[1024];
        if (entry->d_name[0] != '.' &&
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < (int)sizeof below) {
            replay_file(below);
        }
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        replay(argv[i]);
    }
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed || !passed;
}
