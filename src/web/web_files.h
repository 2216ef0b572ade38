/* The files of web/ and docs/openapi.yaml, made part of the program by web/embed.py. */
#pragma once

#include <stddef.h>

typedef struct web_file {
    const char *path; /* "/app.js"; NULL after the last */
    const char *type;
    const unsigned char *bytes;
    size_t length;
} web_file;

extern const web_file web_files[];
