/*
 * Questions and answers as bytes (protobuf, proto/tacit.proto). Decoders trust nothing: names and ids are
 * checked for length, the protocol version for equality, and parsing may not allocate more than a small
 * multiple of the bytes received.
 */
#pragma once

#include "base/buffer.h"
#include "session/question.h"

/* The largest body either side accepts. */
enum { TACIT_WIRE_LIMIT = 256 * 1024 * 1024 };

struct ProtobufCMessageDescriptor;

/* Parse `length` bytes as the given protobuf type; freed by tacit_wire_free. TACIT_PROTOCOL when damaged, TACIT_NO_MEMORY. */
tacit_status tacit_wire_parse(void **out, const struct ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                              size_t length, tacit_error *error);
void tacit_wire_free(void *message); /* accepts NULL */

/* Append a protobuf message's bytes. */
tacit_status tacit_wire_pack(tacit_buffer *out, const void *message, tacit_error *error);

tacit_status tacit_question_encode(const tacit_question *question, tacit_buffer *out, tacit_error *error);

/* `message` receives the fields, freed by the caller; out->message points to it. out->masked and out->mail stay NULL. */
tacit_status tacit_question_decode(tacit_question *out, tacit_message *message, const uint8_t *bytes,
                                   size_t length, tacit_error *error);

/* The step of a masked sum that a question carries, if any: `out` is freed by the caller. */
tacit_status tacit_masked_step_decode(tacit_masked_step *out, bool *found, const uint8_t *bytes,
                                      size_t length, tacit_error *error);

/* The mail of a round between neighbours that a question carries, if any: `out` is freed by the caller. */
tacit_status tacit_mail_step_decode(tacit_mail_step *out, bool *found, const uint8_t *bytes, size_t length,
                                    tacit_error *error);

/* What a party sends back: its own fields, its contribution to a sum, words for its neighbours, or why it refuses. */
typedef struct tacit_answer {
    char study[TACIT_ID_SIZE];
    uint64_t round;
    uint8_t answer_id[TACIT_ANSWER_ID_BYTES];
    tacit_message message;
    int64_t *contribution; /* NULL unless the question wants a sum */
    size_t length;
    tacit_letters words;
    char refusal[TACIT_ERROR_TEXT_SIZE]; /* "" unless refused */
} tacit_answer;

#define TACIT_ANSWER_INIT                                                                                    \
    { .message = TACIT_MESSAGE_INIT, .words = TACIT_LETTERS_INIT }

tacit_status tacit_answer_encode(const tacit_answer *answer, tacit_buffer *out, tacit_error *error);
tacit_status tacit_answer_decode(tacit_answer *out, const uint8_t *bytes, size_t length, tacit_error *error);
void tacit_answer_clear(tacit_answer *answer);
