/*
 * Secure sums: tacit_ask_sum in a deployed study, so that the coordinator sees the sum and no term of it. One
 * round of the session with several steps, by one of two protocols that the study chooses
 * (docs/securesum.md):
 *
 *  - masked: secure summation (crypto/sum/securesum.h), five steps. Nobody but all others together can see a
 *    contribution.
 *  - paillier: encrypted sums (crypto/paillier/paillier_sum.h), three steps. One party, the first on the
 *    roster, holds the key. It and the coordinator together can see every contribution.
 *
 * All that the two sides must agree on follows from the plan, the roster and the question, so that neither
 * can be talked into other terms:
 *
 *  - who must take part, from the numbers of parties that the definition declares;
 *  - the roster, all parties' signing keys, is fixed when the study starts; a party keeps the first one in
 *    which it finds its own key, and takes part under no other in this study. So it does with the key that
 *    sums are encrypted with;
 *  - the sum's id is a hash of the question, so that no party adds an answer to another question than the
 *    others;
 *  - one sum a round, and one round after the other (masked_rounds.c): a party that was in a sum of a round
 *    refuses another of that round, or of an earlier one, or of one that is not next. There is no second
 *    attempt. After a crash on either side the sum goes on where it was.
 *
 * A simulation adds the integers up as they are: masks cancel exactly, and so does encryption, so the sum is
 * the same one.
 */
#pragma once

#include "crypto/paillier/paillier_sum.h"
#include "crypto/sum/drawing.h"
#include "crypto/sum/pairs.h"
#include "crypto/sum/securesum.h"
#include "session/method.h"

enum { TACIT_SIGNING_KEY_BYTES = crypto_sign_PUBLICKEYBYTES };

/* The field of an answer that holds a step's bytes. */
#define TACIT_MASKED_FIELD "masked"

/* Who masks with whom and how many must be left, for a study of plan->parties: all with all up to 50 parties,
 * more with a sparse graph. The minimum is the plan's (tacit_plan_survivors), or what the threshold needs
 * where that is more: above half of the parties. TACIT_USAGE for fewer than three, or too few for the
 * declared dropouts and colluders. */
enum { TACIT_SUM_LEAST = 3 }; /* of two contributions, who gave one and sees the sum has the other */
tacit_status tacit_masked_shape(tacit_graph_shape *out, const tacit_plan *plan, tacit_error *error);

/* How many contributions every sum of the plan has at least, by either protocol; those of two that collude
 * with nobody are among them. */
tacit_status tacit_secure_minimum(size_t *out, const tacit_plan *plan, tacit_error *error);

/* Whether what parties give carries no noise of their own: exact, or for a coordinator that is trusted to add
 * the noise. And whether it is for secure sums, so that in one version of a study all are over the same
 * parties. */
bool tacit_plan_is_exact(const tacit_plan *plan);
bool tacit_plan_holds_set(const tacit_plan *plan);

/* The name of a step, "unknown" for what is none. */
const char *tacit_sum_step_name(const tacit_plan *plan, unsigned step);

/* The id of the sum that a question asks for: a hash of all of it but answer id and step. */
tacit_status tacit_masked_id(uint8_t out[TACIT_MASKED_ID_BYTES], const tacit_question *question,
                             tacit_error *error);

/* The terms of one sum. `seed` is that of a sparse graph, as it was drawn; NULL: the graph is complete, and
 * has no use for one. */
tacit_securesum_terms tacit_masked_terms(const tacit_graph_shape *shape, const tacit_question *question,
                                         const uint8_t id[TACIT_MASKED_ID_BYTES],
                                         const uint8_t roster[TACIT_DIGEST_BYTES], const uint8_t *seed);

/* A sparse graph is drawn by the parties (crypto/sum/drawing.h) before the first sum of a study's version:
 * two steps more, asked in round 0 whatever the round of that sum. The proof comes with the first step of a
 * sum. */
enum { TACIT_MASKED_DRAW = 19, TACIT_MASKED_REVEAL, TACIT_MASKED_DRAWN };
bool tacit_masked_draws(const tacit_graph_shape *shape);
tacit_drawing tacit_masked_drawing(const tacit_plan *plan, const char *study,
                                   const uint8_t version[TACIT_HASH_BYTES],
                                   const uint8_t roster[TACIT_DIGEST_BYTES],
                                   const tacit_signing_roster *signers);

/* The same for a masked sum of one exchange or two. Keys are borrowed from the roster. */
tacit_status tacit_pairs_terms_of(tacit_pairs_terms *out, const tacit_plan *plan,
                                  const tacit_question *question, const uint8_t id[TACIT_MASKED_ID_BYTES],
                                  const uint8_t version[TACIT_HASH_BYTES], const tacit_signing_roster *roster,
                                  tacit_error *error);

/* The same for an encrypted sum. */
tacit_status tacit_encrypted_terms(tacit_paillier_sum_terms *out, const tacit_plan *plan,
                                   const tacit_question *question, const uint8_t id[TACIT_MASKED_ID_BYTES],
                                   const uint8_t roster[TACIT_DIGEST_BYTES], tacit_error *error);

/* The key holder's place on the roster. */
enum { TACIT_KEY_HOLDER = 0 };

/* A roster's digest for people to compare: 192 bits, six groups of eight hexadecimal digits. Two rosters that
 * look the same take 2^96 trials: whoever invents puppets can try many keys for them. */
enum { TACIT_ROSTER_TEXT_BYTES = 24, TACIT_ROSTER_TEXT_SIZE = 2 * TACIT_ROSTER_TEXT_BYTES + 6 };
void tacit_roster_text(char out[TACIT_ROSTER_TEXT_SIZE], const uint8_t digest[TACIT_DIGEST_BYTES]);

/* What a party signs when it joins with its key for sums: that the key is its own, for this definition and
 * the certificate that it asks for. */
void tacit_sum_key_digest(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t definition[TACIT_HASH_BYTES],
                          const char *signing_request, const uint8_t key[TACIT_SIGNING_KEY_BYTES]);

/* ---- a party's side ---- */

/* Where a party keeps what must outlive its process. What was written is on the disk when `write` returns,
 * and replaces what had the name before. */
typedef struct tacit_masks_store {
    tacit_status (*read)(void *context, const char *name, bool *found, tacit_buffer *out, tacit_error *error);
    tacit_status (*write)(void *context, const char *name, const uint8_t *bytes, size_t length,
                          tacit_error *error);
    void *context;
} tacit_masks_store;

/* What a party needs to take part in a study's secure sums, used by one thread at a time. */
typedef struct tacit_masks tacit_masks;

/* `secret_key` is the Ed25519 key whose public half was given when joining. The plan is borrowed. */
tacit_status tacit_masks_create(tacit_masks **out, const tacit_plan *plan,
                                const uint8_t secret_key[crypto_sign_SECRETKEYBYTES],
                                const tacit_masks_store *store, tacit_error *error);
tacit_masks *tacit_masks_free(tacit_masks *masks);

/* Called with the signing keys of the parties over which exact sums will be opened, before the first is:
 * whatever but TACIT_OK keeps it closed. Again with the same ones after a crash. */
typedef struct tacit_masks_past {
    tacit_status (*hold)(void *context, const uint8_t (*keys)[TACIT_SIGNING_KEY_BYTES], size_t count,
                         tacit_error *error);
    void *context;
} tacit_masks_past;
void tacit_masks_set_past(tacit_masks *masks, const tacit_masks_past *past);

/* The digest of the roster that this party goes by; NULL before the first step of the first sum. */
const uint8_t *tacit_masks_roster(const tacit_masks *masks);
