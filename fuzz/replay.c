/* Runs every file of a folder through a fuzz target, in the normal tests: replay FOLDER. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int replay(const char *folder, const char *name) {
    char path[4096];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(1 << 24);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_path_join(path, sizeof path, folder, name, &error);
    if (status == TACIT_OK) status = tacit_file_read(path, &bytes, &error);
    if (status == TACIT_OK) LLVMFuzzerTestOneInput(bytes.bytes, bytes.length);
    if (status != TACIT_OK) fprintf(stderr, "%s\n", error.text);
    tacit_buffer_clear(&bytes);
    return status == TACIT_OK ? 0 : 1;
}

int main(int count, char **arguments) {
    DIR *folder = count == 2 ? opendir(arguments[1]) : NULL;
    if (folder == NULL) {
        fprintf(stderr, "usage: replay FOLDER\n");
        return 2;
    }
    int failed = 0, files = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        failed |= replay(arguments[1], entry->d_name);
        files++;
    }
    closedir(folder);
    return failed != 0 || files == 0;
}
