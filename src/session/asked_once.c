/* Numbers of a coordinator's choice that a party's exact answers rest on, held to one choice a study. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "session/party.h"

enum { RECORD = TACIT_HASH_BYTES + crypto_generichash_BYTES };

/* The definition that was consented to, and what the numbers hash to. */
static void make_record(const tacit_party *party, const double *const *values, const size_t *counts,
                        uint8_t out[RECORD]) {
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES);
    for (size_t k = 0; values[k] != NULL; k++) {
        crypto_generichash_update(&state, (const uint8_t *)&counts[k], sizeof counts[k]);
        crypto_generichash_update(&state, (const uint8_t *)values[k], counts[k] * sizeof **values);
    }
    memcpy(out, party->study_hash, TACIT_HASH_BYTES);
    crypto_generichash_final(&state, out + TACIT_HASH_BYTES, crypto_generichash_BYTES);
}

tacit_status tacit_party_asked_once(const tacit_party *party, const char *name, const double *const *values,
                                    const size_t *counts, tacit_error *error) {
    uint8_t record[RECORD];
    tacit_buffer kept = TACIT_BUFFER_LIMITED(RECORD);
    bool found = false;
    if (party->keep == NULL || party->follows) return TACIT_OK;
    make_record(party, values, counts, record);
    tacit_status status = party->keep->read(party->keep->context, name, &found, &kept, error);
    /* of an earlier version of the study it counts no more */
    found = found && kept.length == RECORD && memcmp(kept.bytes, record, TACIT_HASH_BYTES) == 0;
    if (status == TACIT_OK && found && memcmp(kept.bytes, record, RECORD) != 0)
        status =
            tacit_fail(error, TACIT_REFUSED,
                       "the coordinator asks again at other numbers: the difference of two exact answers "
                       "could be one row's");
    else if (status == TACIT_OK && !found)
        status = party->keep->write(party->keep->context, name, record, RECORD, error);
    tacit_buffer_clear(&kept);
    return status;
}
