/* A question as a party receives it, or, after a first byte of 255, a checkpoint as the journal has it; what
 * is accepted must say the same when written and read again. */
#include <stdlib.h>
#include <string.h>

#include "session/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_ids(const tacit_question *question) {
    if (question->study[0] == 0 || memchr(question->study, 0, sizeof question->study) == NULL) abort();
    if (question->name[0] == 0 || memchr(question->name, 0, sizeof question->name) == NULL) abort();
    if (question->wants_sum && (question->sum.length == 0 || !(question->sum.bound > 0))) abort();
}

static bool same(const tacit_buffer *first, const tacit_buffer *second) {
    return first->length == second->length &&
           (first->length == 0 || memcmp(first->bytes, second->bytes, first->length) == 0);
}

/* What a question points to is what came with it, of its kind. */
static void check_kind(const tacit_received *received) {
    const tacit_question *question = &received->question;
    if (question->message != &received->message) abort();
    if (question->kind == TACIT_ROUND_SECURE && question->masked != &received->masked) abort();
    if (question->kind == TACIT_ROUND_MAIL && question->mail != &received->mail) abort();
    if (question->kind != TACIT_ROUND_SECURE && received->masked.body.length > 0) abort();
    if (question->kind != TACIT_ROUND_MAIL && received->mail.words.count > 0) abort();
}

static void try_checkpoint(const uint8_t *bytes, size_t length) {
    const tacit_buffer given = { .bytes = (uint8_t *)bytes, .length = length };
    tacit_buffer first = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    tacit_message state = TACIT_MESSAGE_INIT, again = TACIT_MESSAGE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    uint64_t releases = 0, repeated = 0;
    if (tacit_checkpoint_decode(&state, &releases, &given, &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        tacit_message_clear(&state);
        return;
    }
    if (tacit_checkpoint_encode(&state, releases, &first, NULL) != TACIT_OK) abort();
    if (tacit_checkpoint_decode(&again, &repeated, &first, NULL) != TACIT_OK || repeated != releases) abort();
    if (tacit_checkpoint_encode(&again, repeated, &second, NULL) != TACIT_OK || !same(&first, &second))
        abort();
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
    tacit_message_clear(&state);
    tacit_message_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_received received, again;
    tacit_error error = TACIT_ERROR_INIT;
    if (length > 0 && bytes[0] == 255) {
        try_checkpoint(bytes + 1, length - 1);
        return 0;
    }
    if (tacit_question_decode(&received, bytes, length, &error) != TACIT_OK) {
        if (error.text[0] == 0 || received.message.count != 0) abort();
        return 0;
    }
    check_ids(&received.question);
    check_kind(&received);
    tacit_buffer first = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    if (tacit_question_encode(&received.question, &first, NULL) != TACIT_OK) abort();
    if (tacit_question_decode(&again, first.bytes, first.length, NULL) != TACIT_OK) abort();
    check_kind(&again);
    if (again.question.kind != received.question.kind) abort();
    if (tacit_question_encode(&again.question, &second, NULL) != TACIT_OK || !same(&first, &second)) abort();
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
    tacit_received_clear(&received);
    tacit_received_clear(&again);
    return 0;
}
