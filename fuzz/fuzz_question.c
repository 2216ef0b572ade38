/* A question as a party receives it; what is accepted must say the same when written and read again. */
#include <stdlib.h>
#include <string.h>

#include "session/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_ids(const tacit_question *question) {
    if (question->study[0] == 0 || memchr(question->study, 0, sizeof question->study) == NULL) abort();
    if (question->name[0] == 0 || memchr(question->name, 0, sizeof question->name) == NULL) abort();
    if (question->wants_sum && (question->sum.length == 0 || !(question->sum.bound > 0))) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_question question, again;
    tacit_message message = TACIT_MESSAGE_INIT, repeated = TACIT_MESSAGE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_question_decode(&question, &message, bytes, length, &error) != TACIT_OK) {
        if (error.text[0] == 0 || message.count != 0) abort();
        return 0;
    }
    check_ids(&question);
    tacit_buffer first = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    if (tacit_question_encode(&question, &first, NULL) != TACIT_OK) abort();
    if (tacit_question_decode(&again, &repeated, first.bytes, first.length, NULL) != TACIT_OK) abort();
    if (tacit_question_encode(&again, &second, NULL) != TACIT_OK) abort();
    if (first.length != second.length || memcmp(first.bytes, second.bytes, first.length) != 0) abort();
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
    tacit_message_clear(&message);
    tacit_message_clear(&repeated);
    return 0;
}
