/* What several targets need to play the outside: a peer at the far end of a channel, files that somebody has
 * tampered with, and a coordinator's authority that signs whatever it is given, so that what is behind a
 * signature is reached too. */
#pragma once

#include "net/channel_parts.h"
#include "net/identity.h"

/* What must not fail for the target's own sake. */
void outside_must(tacit_status status);

/* A refusal has a sentence. */
void outside_explained(tacit_status status, const tacit_error *error);

/* A channel whose peer has sent these bytes and is gone; what is sent to it is dropped. */
tacit_channel *outside_channel(const uint8_t *bytes, size_t length);

/* Change an honest message as the input says. Each change is 3 bytes of a place, one of how many bytes, and
 * these; the last may be shorter. A place of ff ff ff: the message is cut, in 256ths, and what is left of the
 * input comes after it. */
void outside_change(tacit_buffer *message, const uint8_t *bytes, size_t length);

/* A descriptor for a channel that has no socket. */
int outside_nothing(void);

/* A folder of this process, removed when it ends; the same at every call. */
const char *outside_folder(void);

/* The path of a name in that folder, valid until the next call; remove whatever is at a path. */
const char *outside_path(const char *name);
void outside_remove(const char *path);

/* Write a file of that folder; `name` may have one folder before it. Returns its path, valid until the next
 * call. */
const char *outside_file(const char *name, const void *bytes, size_t length);

/* The authority of a coordinator in that folder, made once. */
tacit_authority *outside_authority(void);

/* Its signature, in hexadecimal, over what it is given. */
enum { OUTSIDE_HEX_SIZE = 2 * TACIT_SIGNATURE_BYTES_MAX + 1 };
void outside_sign(char out[OUTSIDE_HEX_SIZE], const char *purpose, const void *bytes, size_t length);
