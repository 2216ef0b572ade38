/* In place of mail_party.c where no method has neighbours (-Dparty_methods). */
#include "session/mail/mail.h"
#include "session/party_parts.h"

tacit_mail *tacit_mail_free(tacit_mail *mail) { return mail; }

/* Nothing is kept from round to round. */
tacit_status tacit_party_restore(tacit_party *party, tacit_error *error) {
    (void)party, (void)error;
    return TACIT_OK;
}

static tacit_status refuse_mail(tacit_party *party, const tacit_question *question,
                                const uint8_t question_hash[TACIT_HASH_BYTES], tacit_buffer *out,
                                tacit_error *error) {
    (void)party, (void)question, (void)question_hash, (void)out;
    return tacit_fail(error, TACIT_PROTOCOL,
                      "the study has no neighbours, and the coordinator asks for a word to them");
}

static const char *no_step(const tacit_plan *plan, const tacit_question *question) {
    (void)plan, (void)question;
    return NULL;
}

const party_round party_mail_round = { refuse_mail, no_step };
