#include "session/masked.h"

#include <stdio.h>
#include <string.h>

#include "session/wire.h"

tacit_status tacit_masked_shape(tacit_graph_shape *out, const tacit_plan *plan, tacit_error *error) {
    if (plan->parties < 2 || plan->parties > TACIT_GRAPH_PARTIES_MOST)
        return tacit_fail(error, TACIT_USAGE,
                          "a masked sum takes 2 to %d parties, and the study expects %zu (sum: clear sends "
                          "contributions unmasked)",
                          TACIT_GRAPH_PARTIES_MOST, plan->parties);
    tacit_graph_assumption assumption = tacit_graph_assumption_default((uint32_t)plan->parties);
    assumption.minimum = plan->minimum_parties > 0 ? (uint32_t)plan->minimum_parties : 1;
    if (plan->parties <= TACIT_GRAPH_COMPLETE_MOST) {
        /* A complete graph does not depend on how many vanish: whoever does is waited for, down to the minimum. */
        assumption.colluders = (double)(plan->parties / 10) / (double)plan->parties;
        assumption.dropouts = 0;
    }
    return tacit_graph_plan(out, &assumption, error);
}

tacit_status tacit_masked_id(uint8_t out[TACIT_MASKED_ID_BYTES], const tacit_question *question,
                             tacit_error *error) {
    tacit_question common = *question;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    common.masked = NULL;
    memset(common.answer_id, 0, sizeof common.answer_id);
    tacit_status status = tacit_question_encode(&common, &bytes, error);
    if (status == TACIT_OK)
        crypto_generichash(out, TACIT_MASKED_ID_BYTES, bytes.bytes, bytes.length, NULL, 0);
    tacit_buffer_clear(&bytes);
    return status;
}

/* The order on the ring: from the keys, most of which were drawn by parties that collude with nobody, and the round. */
static void graph_seed(uint8_t out[TACIT_GRAPH_SEED_BYTES], const uint8_t roster[TACIT_DIGEST_BYTES],
                       uint64_t round) {
    tacit_digest digest;
    _Static_assert((int)TACIT_GRAPH_SEED_BYTES == (int)TACIT_DIGEST_BYTES, "a digest is a seed");
    tacit_digest_begin(&digest, "tacit masked sum graph", NULL);
    tacit_digest_bytes(&digest, roster, TACIT_DIGEST_BYTES);
    tacit_digest_u64(&digest, round);
    tacit_digest_end(&digest, out);
}

tacit_securesum_terms tacit_masked_terms(const tacit_graph_shape *shape, const tacit_question *question,
                                         const uint8_t id[TACIT_MASKED_ID_BYTES],
                                         const uint8_t roster[TACIT_DIGEST_BYTES]) {
    tacit_securesum_terms terms = { .round = question->round,
                                    .length = question->sum.length,
                                    .shape = *shape };
    _Static_assert(sizeof terms.study >= sizeof question->study, "a study's name fits");
    _Static_assert((int)TACIT_SUM_ID_BYTES == (int)TACIT_MASKED_ID_BYTES, "ids have one size");
    memcpy(terms.study, question->study, sizeof question->study);
    memcpy(terms.id, id, sizeof terms.id);
    memcpy(terms.roster, roster, sizeof terms.roster);
    graph_seed(terms.graph_seed, roster, question->round);
    return terms;
}

void tacit_roster_text(char out[TACIT_ROSTER_TEXT_SIZE], const uint8_t digest[TACIT_DIGEST_BYTES]) {
    size_t used = 0;
    for (size_t i = 0; i < 16; i++)
        used += (size_t)snprintf(out + used, TACIT_ROSTER_TEXT_SIZE - used,
                                 i % 4 == 0 && i > 0 ? "-%02x" : "%02x", digest[i]);
}
