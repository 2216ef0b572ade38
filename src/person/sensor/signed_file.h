/*
 * A file that a laboratory hands to a person, with a signature beside it in FILE.sig, one line:
 *
 *   tacit-signed-1 KEY SIGNATURE NAME
 *
 * Ed25519, hexadecimal, over the purpose, the BLAKE2b-256 of the file and the name. The name is what the
 * laboratory calls
 * itself: only the key says who it is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

enum { TACIT_SIGNED_KEY = 32, TACIT_SIGNED_HASH = 32, TACIT_SIGNED_NAME = 120 };

typedef struct tacit_signed_file {
    bool is_signed; /* false: there is no signature beside it */
    uint8_t key[TACIT_SIGNED_KEY], hash[TACIT_SIGNED_HASH];
    char name[TACIT_SIGNED_NAME];
} tacit_signed_file;

/* What is signed, and kept as the origin of rows read from a file. */
tacit_status tacit_signed_file_hash(uint8_t out[TACIT_SIGNED_HASH], const char *path, tacit_error *error);

/* The line for FILE.sig, appended. */
tacit_status tacit_signed_file_sign(tacit_buffer *out, const char *path, const uint8_t seed[TACIT_SIGNED_KEY],
                                    const char *name, tacit_error *error);

/* TACIT_REFUSED when there is a signature and it is not right. */
tacit_status tacit_signed_file_check(tacit_signed_file *out, const char *path, tacit_error *error);
