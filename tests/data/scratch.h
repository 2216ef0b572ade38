/* A temporary folder for one test program, and files in it. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct scratch {
    char folder[64];
    char path[512]; /* of the file written last */
} scratch;

static inline int scratch_open(void **state) {
    static scratch place;
    strcpy(place.folder, "/tmp/tacit-test-XXXXXX");
    if (mkdtemp(place.folder) == NULL) return -1;
    *state = &place;
    return 0;
}

static inline int scratch_close(void **state) {
    scratch *place = *state;
    DIR *folder = opendir(place->folder);
    if (folder == NULL) return -1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        snprintf(place->path, sizeof place->path, "%s/%s", place->folder, entry->d_name);
        unlink(place->path);
    }
    closedir(folder);
    return rmdir(place->folder);
}

static inline const char *scratch_name(scratch *place, const char *name) {
    snprintf(place->path, sizeof place->path, "%s/%s", place->folder, name);
    return place->path;
}

static inline const char *scratch_write(scratch *place, const char *name, const void *bytes, size_t length) {
    FILE *file = fopen(scratch_name(place, name), "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) abort();
    return place->path;
}
