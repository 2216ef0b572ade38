/*
 * Questions and answers as bytes (protobuf, proto/tacit.proto). Decoders trust nothing: names and ids are
 * checked for length, the protocol version for one that is spoken, and parsing may not allocate more than a
 * small multiple of the bytes received.
 */
#pragma once

#include "base/buffer.h"
#include "session/wire/question.h"
#include "session/wire/versions.h"

/* The largest body either side accepts. */
enum { TACIT_WIRE_LIMIT = 256 * 1024 * 1024 };

struct ProtobufCMessageDescriptor;

/* Parse `length` bytes as the given protobuf type; freed by tacit_wire_free. TACIT_PROTOCOL when damaged,
 * TACIT_NO_MEMORY. */
tacit_status tacit_wire_parse(void **out, const struct ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                              size_t length, tacit_error *error);
void tacit_wire_free(void *message); /* accepts NULL */

/* Append a protobuf message's bytes. */
tacit_status tacit_wire_pack(tacit_buffer *out, const void *message, tacit_error *error);

/* The same of a message that says which versions its writer speaks (versions.h): in the given one, or 0 in
 * the lowest, as whoever asks does. And such a message from a peer, with the version that both speak. */
tacit_status tacit_wire_say(tacit_buffer *out, void *message, unsigned version, tacit_error *error);
tacit_status tacit_wire_hear(void **out, const struct ProtobufCMessageDescriptor *type,
                             const tacit_buffer *bytes, unsigned *version, tacit_error *error);

/* The head names the question and has the answer id, which alone differs between the parties of a round in
 * clear; the rest follows. */
tacit_status tacit_question_encode(const tacit_question *question, tacit_buffer *out, tacit_error *error);
tacit_status tacit_question_encode_head(const tacit_question *question, tacit_buffer *out,
                                        tacit_error *error);
tacit_status tacit_question_encode_rest(const tacit_question *question, tacit_buffer *out,
                                        tacit_error *error);

/* A question as it came, read once, and what it points to: so it stays where it was read to. */
typedef struct tacit_received {
    tacit_question question;
    tacit_message message;
    tacit_masked_step masked;
    tacit_mail_step mail;
} tacit_received;

#define TACIT_RECEIVED_INIT                                                                                  \
    { .message = TACIT_MESSAGE_INIT, .masked = TACIT_MASKED_STEP_INIT, .mail = TACIT_MAIL_STEP_INIT }

tacit_status tacit_question_decode(tacit_received *out, const uint8_t *bytes, size_t length,
                                   tacit_error *error);
void tacit_received_clear(tacit_received *received);

/* What a party sends back: its own fields, its contribution to a sum, words for its neighbours, or why it
 * refuses. */
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

/* One to this question, with nothing in it yet. */
tacit_answer tacit_answer_to(const tacit_question *question);

tacit_status tacit_answer_encode(const tacit_answer *answer, tacit_buffer *out, tacit_error *error);
tacit_status tacit_answer_decode(tacit_answer *out, const uint8_t *bytes, size_t length, tacit_error *error);
void tacit_answer_clear(tacit_answer *answer);

/* The state of a method's half in the journal, beside the number of releases before it; also as earlier
 * versions wrote it. */
tacit_status tacit_checkpoint_encode(const tacit_message *state, uint64_t releases, tacit_buffer *out,
                                     tacit_error *error);
tacit_status tacit_checkpoint_decode(tacit_message *out, uint64_t *releases, const tacit_buffer *bytes,
                                     tacit_error *error);
