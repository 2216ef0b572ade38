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

/* A step of a masked sum comes back as it was sent. */
static void check_step(const tacit_question *question) {
    tacit_masked_step again = TACIT_MASKED_STEP_INIT;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    const tacit_masked_step *step = question->masked;
    bool found = false;
    if (step == NULL) return;
    if (tacit_question_encode(question, &bytes, NULL) != TACIT_OK) abort();
    if (tacit_masked_step_decode(&again, &found, bytes.bytes, bytes.length, NULL) != TACIT_OK || !found)
        abort();
    if (again.step != step->step || memcmp(again.sum_id, step->sum_id, sizeof again.sum_id) != 0) abort();
    if (again.body.length != step->body.length || again.roster.length != step->roster.length) abort();
    tacit_buffer_clear(&bytes);
    tacit_masked_step_clear(&again);
}

static bool same_letters(const tacit_letters *first, const tacit_letters *second) {
    if (first->count != second->count) return false;
    for (size_t i = 0; i < first->count; i++) {
        const tacit_letter *a = &first->letter[i], *b = &second->letter[i];
        if (a->party != b->party || a->round != b->round || a->body.length != b->body.length) return false;
    }
    return true;
}

/* So does the mail of a round between neighbours. */
static void check_mail(const tacit_question *question) {
    tacit_mail_step again = TACIT_MAIL_STEP_INIT;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    const tacit_mail_step *mail = question->mail;
    bool found = false;
    if (mail == NULL) return;
    if (tacit_question_encode(question, &bytes, NULL) != TACIT_OK) abort();
    if (tacit_mail_step_decode(&again, &found, bytes.bytes, bytes.length, NULL) != TACIT_OK || !found)
        abort();
    if (again.step != mail->step || again.roster.length != mail->roster.length ||
        !same_letters(&again.cards, &mail->cards) || !same_letters(&again.words, &mail->words))
        abort();
    tacit_buffer_clear(&bytes);
    tacit_mail_step_clear(&again);
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
    tacit_masked_step step = TACIT_MASKED_STEP_INIT;
    bool masked = false;
    if (tacit_masked_step_decode(&step, &masked, bytes, length, &error) == TACIT_OK && masked)
        question.masked = &step;
    tacit_mail_step mail = TACIT_MAIL_STEP_INIT;
    bool mailed = false;
    if (tacit_mail_step_decode(&mail, &mailed, bytes, length, &error) == TACIT_OK && mailed)
        question.mail = &mail;
    check_step(&question);
    check_mail(&question);
    tacit_buffer first = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    if (tacit_question_encode(&question, &first, NULL) != TACIT_OK) abort();
    if (tacit_question_decode(&again, &repeated, first.bytes, first.length, NULL) != TACIT_OK) abort();
    again.masked = question.masked; /* told apart from the rest, and compared above */
    again.mail = question.mail;
    if (tacit_question_encode(&again, &second, NULL) != TACIT_OK) abort();
    if (first.length != second.length || memcmp(first.bytes, second.bytes, first.length) != 0) abort();
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
    tacit_masked_step_clear(&step);
    tacit_mail_step_clear(&mail);
    tacit_message_clear(&message);
    tacit_message_clear(&repeated);
    return 0;
}
