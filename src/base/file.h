/* Whole small files: read with a cap, written so that a crash leaves the old file or the new one. */
#pragma once

#include <sys/types.h>

#include "base/buffer.h"

/* Read all of `path` into `out` (appended); TACIT_LIMIT beyond out->limit, which should be set. */
tacit_status tacit_file_read(const char *path, tacit_buffer *out, tacit_error *error);

/* Append all of standard input, up to its end. */
tacit_status tacit_input_read(tacit_buffer *out, tacit_error *error);

/* Write a temporary file beside `path`, sync it, rename it over `path`, sync the folder. */
tacit_status tacit_file_write(const char *path, const void *bytes, size_t length, mode_t mode,
                              tacit_error *error);

/* Could tacit_file_write write `path` now? Tells before long work what would otherwise be lost after it. */
tacit_status tacit_file_check_writable(const char *path, tacit_error *error);

/* Sync the folder that holds `path`: a new or renamed file is durable only then. */
tacit_status tacit_folder_sync_of(const char *path, tacit_error *error);

/* Make a folder and the missing ones above it, readable by the owner only. */
tacit_status tacit_folder_make(const char *path, tacit_error *error);

/* Join folder and name into `out` with a '/' between; TACIT_LIMIT when it does not fit. */
tacit_status tacit_path_join(char *out, size_t size, const char *folder, const char *name,
                             tacit_error *error);
