/*
 * Masked sums in one exchange, or in two, for parties that are reached rarely: by files that people carry.
 * The keys are those of the roster, agreed on when parties joined, so that there is nothing to agree on in a
 * sum; every mask is derived for one sum, from the terms that all parties have in common.
 *
 *     exchange     the coordinator sends            a party answers
 *     mask         (the terms)                      its vector plus a mask for each other party; with two
 *                                                   exchanges plus a mask of its own, whose seed it shares
 *     unmask       who sent a vector, and the       of each of them a share of its own mask's seed; and for
 *     (of two)     shares sealed for this party     each absent party the mask that was for it
 *
 * In one exchange the sum opens when all vectors are there, and only then: nobody reveals a mask, ever.
 * Whoever has n - 1 of n vectors has uniform numbers.
 *
 * In two, what is revealed of masks with an absent party does not open that party's vector, should it come
 * later: the mask of its own stays on it. Let n be the parties, d the most that may be absent, c the most
 * that collude. Each party takes one set of survivors, of at least m = n - d, that it is in; seeds are shared
 * with threshold t = m. Then no lie separates the sum over some honest parties S from that of the other
 * honest ones T, unless S has at least n - 2 d - c members: for k in S let s of T give their share of k's
 * seed, that is, have k among their survivors. Masks between k and those s must then come from k, who has
 * none of them among its own survivors, so m <= n - s. And k's seed took t <= c + |S| + s shares. Together
 * |S| >= m + t - n - c. The difference of two sums that can be opened is one too, so that this bounds what
 * any combination is about.
 *
 * Keys are Ed25519 (the roster's), and X25519 keys follow from them. A party's own secrets follow from its
 * key and the terms: there is no state, and the same question gets the same bytes. So a party must contribute
 * one vector, ever, under the same terms; whoever calls sees to that.
 */
#pragma once

#include "base/buffer.h"
#include "base/pool.h"
#include "crypto/sum/securesum.h"

/* What all agree on. It goes into every mask and header. */
typedef struct tacit_pairs_terms {
    char study[TACIT_SUM_STUDY_SIZE];
    uint8_t version[TACIT_DIGEST_BYTES]; /* of the study's definition */
    uint64_t round;
    uint8_t id[TACIT_SUM_ID_BYTES];
    size_t length;
    tacit_signing_roster roster; /* borrowed */
    uint32_t exchanges;          /* 1 or 2 */
    uint32_t minimum;            /* survivors that open the sum, and shares that open a seed */
} tacit_pairs_terms;

typedef enum tacit_pairs_step { TACIT_PAIRS_MASK, TACIT_PAIRS_UNMASK, TACIT_PAIRS_OPENED } tacit_pairs_step;

/* ---- a party ---- */

/* Append the masked vector of the party at `place`, whose Ed25519 secret key this is. */
tacit_status tacit_pairs_mask(const tacit_pairs_terms *terms, uint32_t place,
                              const uint8_t secret_key[crypto_sign_SECRETKEYBYTES], const int64_t *values,
                              tacit_pool *pool, tacit_buffer *answer, tacit_error *error);

/* Read the set of survivors from the question of the second exchange, a bit for each place: TACIT_REFUSED
 * unless this party is in it, and the minimum. Borrowed from the question. */
tacit_status tacit_pairs_survivors(const uint8_t **set, const tacit_pairs_terms *terms, uint32_t place,
                                   const uint8_t *question, size_t length, tacit_error *error);
tacit_status tacit_pairs_unmask(const tacit_pairs_terms *terms, uint32_t place,
                                const uint8_t secret_key[crypto_sign_SECRETKEYBYTES], const uint8_t *question,
                                size_t length, tacit_buffer *answer, tacit_error *error);

/* ---- the coordinator: as securesum.h says of its server ---- */

typedef struct tacit_pairs_server tacit_pairs_server;

tacit_status tacit_pairs_server_create(tacit_pairs_server **out, const tacit_pairs_terms *terms,
                                       tacit_pool *pool, tacit_error *error);
tacit_pairs_server *tacit_pairs_server_free(tacit_pairs_server *server);
const tacit_pairs_terms *tacit_pairs_server_terms(const tacit_pairs_server *server);
tacit_pairs_step tacit_pairs_server_step(const tacit_pairs_server *server);
bool tacit_pairs_server_expects(const tacit_pairs_server *server, uint32_t place);
bool tacit_pairs_server_has(const tacit_pairs_server *server, uint32_t place);
size_t tacit_pairs_server_needed(const tacit_pairs_server *server);
tacit_status tacit_pairs_server_question(const tacit_pairs_server *server, uint32_t place, tacit_buffer *out,
                                         tacit_error *error);
tacit_status tacit_pairs_server_receive(tacit_pairs_server *server, uint32_t place, const uint8_t *answer,
                                        size_t length, tacit_error *error);
tacit_status tacit_pairs_server_close(tacit_pairs_server *server, tacit_error *error);
const int64_t *tacit_pairs_server_sum(const tacit_pairs_server *server);
bool tacit_pairs_server_survived(const tacit_pairs_server *server, uint32_t place);
