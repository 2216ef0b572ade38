/* The coordinator's part in secure sums: the roster, and what the log says of the steps. */
#include <sodium.h>
#include <string.h>

#include "coordinator/coordinator_parts.h"

void coordinator_report_step(hosted *host) {
    tacit_board_state state;
    char shown[COORDINATOR_SHOWN_SIZE];
    tacit_board_look(host->board, &state);
    if (state.late > 0)
        coordinator_news(host->owner, "study %s, round %llu: waiting for %s%s", host->study->name,
                         (unsigned long long)state.round + 1,
                         coordinator_shown(host->owner, state.late_one, shown),
                         state.late > 1 ? " and others" : "");
    if (state.open && state.step != NULL)
        coordinator_news(host->owner, "study %s, round %llu: '%s', step %s of %s sum", host->study->name,
                         (unsigned long long)state.round + 1, state.question, state.step,
                         host->study->plan.sums == TACIT_SUMS_PAILLIER ? "an encrypted" : "a masked");
}

tacit_status coordinator_check_sum_key(ProtobufCBinaryData definition, const char *signing_request,
                                       ProtobufCBinaryData key, ProtobufCBinaryData proof,
                                       tacit_error *error) {
    uint8_t digest[TACIT_DIGEST_BYTES];
    if (key.len != TACIT_SIGNING_KEY_BYTES || definition.len != TACIT_HASH_BYTES)
        return tacit_fail(error, TACIT_PROTOCOL, "the key for secure sums has the wrong length");
    tacit_sum_key_digest(digest, definition.data, signing_request, key.data);
    if (proof.len == crypto_sign_BYTES &&
        crypto_sign_verify_detached(proof.data, digest, sizeof digest, key.data) == 0)
        return TACIT_OK;
    return tacit_fail(error, TACIT_PROTOCOL,
                      "the party does not show that its key for secure sums is its own%s",
                      proof.len == 0 ? ": update its program" : "");
}

/* The roster as it is collected from the registry. */
typedef struct enlisting {
    tacit_board *board;
    tacit_buffer keys;
} enlisting;

static tacit_status enlist(void *context, const char *party, const uint8_t key[TACIT_SIGNING_KEY_BYTES],
                           tacit_error *error) {
    enlisting *self = context;
    TACIT_TRY(tacit_buffer_append(&self->keys, key, TACIT_SIGNING_KEY_BYTES, error));
    return tacit_board_enlist(self->board, party, key, error);
}

tacit_status coordinator_fix_roster(coordinator *self, hosted *host, tacit_error *error) {
    enlisting parties = { host->board, TACIT_BUFFER_INIT };
    char text[TACIT_ROSTER_TEXT_SIZE];
    uint8_t digest[TACIT_DIGEST_BYTES];
    tacit_status status;
    TACIT_CHECK(tacit_registry_roster(self->registry, host->study->name, enlist, &parties, error));
    tacit_signing_roster roster = { (uint32_t)(parties.keys.length / TACIT_SIGNING_KEY_BYTES),
                                    (const uint8_t(*)[TACIT_SIGNING_KEY_BYTES])parties.keys.bytes };
    tacit_securesum_roster_digest(digest, &roster);
    memcpy(host->roster, digest, sizeof host->roster);
    tacit_roster_text(text, digest);
    coordinator_news(self, "study %s: roster %s of %lu parties", host->study->name, text,
                     (unsigned long)roster.parties);
cleanup:
    tacit_buffer_clear(&parties.keys);
    return status;
}
