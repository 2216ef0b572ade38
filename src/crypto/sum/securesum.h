/*
 * Secure summation: a coordinator learns the sum of the parties' vectors modulo 2^64 and nothing more about
 * any of them. After Bonawitz et al. (2017), on the graph of Bell et al. (2020); docs/securesum.md describes
 * the protocol, what each side learns, and under which assumptions.
 *
 * Both halves are state machines over messages, which somebody else carries. Five exchanges, the coordinator
 * asking:
 *
 *     step         the coordinator sends                     a party answers
 *     advertise    (the terms)                               two fresh public keys, signed
 *     share        its neighbours' keys                      shares of its two secrets, sealed for each
 *                                                            neighbour
 *     mask         the shares sealed for it                  its vector plus masks
 *     consent      who dealt shares, and who sent a vector   its signature of the two sets
 *                  (the survivors)
 *     unmask       its neighbours' signatures                per neighbour a share: of the self-mask's seed
 *                                                            of a survivor, of the masking key of one that
 *                                                            vanished
 *
 * A party may vanish before any of its answers.
 *
 * A party answers every step for one question only: the same question again gets the same bytes, another one
 * is TACIT_REFUSED. It names one set of survivors, ever; unmasking over two sets would reveal who is in one
 * of them only. To keep this over a crash, write what tacit_securesum_party_save gives to disk before sending
 * an answer.
 *
 * Messages come from strangers: everything is checked, a failed call changes nothing, and the sentence names
 * the party at fault.
 */
#pragma once

#include "base/buffer.h"
#include "base/pool.h"
#include "crypto/digest.h"
#include "crypto/sum/graph.h"

enum {
    TACIT_SUM_ID_BYTES = 16,
    TACIT_SUM_STUDY_SIZE = 64,
    TACIT_SUM_SEED_BYTES = 32,
    TACIT_SIGNATURE_BYTES = 64, /* Ed25519, or r and s of ECDSA on P-256 */
};
#define TACIT_SUM_LENGTH_MOST ((size_t)1 << 32)

/* What everybody agrees on beforehand. All of it goes into every signature, key and seal. */
typedef struct tacit_securesum_terms {
    char study[TACIT_SUM_STUDY_SIZE];
    uint64_t round;
    uint8_t id[TACIT_SUM_ID_BYTES]; /* of this sum; another attempt has another id */
    size_t length;                  /* of the vectors */
    tacit_graph_shape shape;
    uint8_t graph_seed[TACIT_GRAPH_SEED_BYTES]; /* public; not chosen by one who knows the colluders */
    uint8_t roster[TACIT_DIGEST_BYTES]; /* of the parties' signing keys, in the order of their numbers */
} tacit_securesum_terms;

/* Checks signatures of the parties, by the keys that were certified when they joined. Called from several
 * threads at once. */
typedef struct tacit_securesum_roster {
    bool (*verify)(const void *self, uint32_t party, const uint8_t signature[TACIT_SIGNATURE_BYTES],
                   const uint8_t *message, size_t length);
    const void *self;
} tacit_securesum_roster;

/* Signs as one party. */
typedef struct tacit_securesum_signer {
    tacit_status (*sign)(const void *self, uint8_t signature[TACIT_SIGNATURE_BYTES], const uint8_t *message,
                         size_t length, tacit_error *error);
    const void *self;
} tacit_securesum_signer;

/* The two over libsodium's Ed25519: `secret_key` has crypto_sign_SECRETKEYBYTES; a roster is an array of
 * public keys. Borrowed. */
typedef struct tacit_signing_roster {
    uint32_t parties;
    const uint8_t (*keys)[crypto_sign_PUBLICKEYBYTES];
} tacit_signing_roster;
tacit_securesum_signer tacit_securesum_ed25519_signer(const uint8_t *secret_key);
tacit_securesum_roster tacit_securesum_ed25519_roster(const tacit_signing_roster *roster);
void tacit_securesum_roster_digest(uint8_t out[TACIT_DIGEST_BYTES], const tacit_signing_roster *roster);

/* ---- one sum, as all see it ---- */

/* Terms, their digest and the graph. Unchanged once made, and shared by threads. */
typedef struct tacit_securesum tacit_securesum;

/* TACIT_USAGE for terms that make no sense. What `roster` points to must outlive the sum. */
tacit_status tacit_securesum_create(tacit_securesum **out, const tacit_securesum_terms *terms,
                                    const tacit_securesum_roster *roster, tacit_error *error);
tacit_securesum *tacit_securesum_free(tacit_securesum *sum);

typedef enum tacit_securesum_step {
    TACIT_SUM_ADVERTISE,
    TACIT_SUM_SHARE,
    TACIT_SUM_MASK,
    TACIT_SUM_CONSENT,
    TACIT_SUM_UNMASK,
    TACIT_SUM_OPENED
} tacit_securesum_step;

/* "advertise", "share", "mask", "consent", "unmask", "opened". */
const char *tacit_securesum_step_name(tacit_securesum_step step);

/* ---- a party ---- */

typedef struct tacit_securesum_party tacit_securesum_party;

/* Party number `index`. `seed` is 32 bytes of secret randomness, used for nothing else: all keys and shares
 * follow from it. */
tacit_status tacit_securesum_party_create(tacit_securesum_party **out, const tacit_securesum *sum,
                                          uint32_t index, const uint8_t seed[TACIT_SUM_SEED_BYTES],
                                          const tacit_securesum_signer *signer, tacit_error *error);
/* Overwrites all secrets. */
tacit_securesum_party *tacit_securesum_party_free(tacit_securesum_party *party);

/* The next step that the party will take; earlier ones it repeats. */
tacit_securesum_step tacit_securesum_party_step(const tacit_securesum_party *party);

/* Each appends the answer to `answer`. `question` is what the coordinator sent. */
tacit_status tacit_securesum_party_advertise(tacit_securesum_party *party, tacit_buffer *answer,
                                             tacit_error *error);
tacit_status tacit_securesum_party_share(tacit_securesum_party *party, const uint8_t *question,
                                         size_t question_length, tacit_buffer *answer, tacit_error *error);

/* `values` are terms.length integers on the grid; their sum is taken modulo 2^64. A second call with other
 * values is refused: the difference of two vectors under the same masks is the difference of the values. */
tacit_status tacit_securesum_party_mask(tacit_securesum_party *party, const uint8_t *question,
                                        size_t question_length, const int64_t *values, tacit_buffer *answer,
                                        tacit_error *error);
tacit_status tacit_securesum_party_consent(tacit_securesum_party *party, const uint8_t *question,
                                           size_t question_length, tacit_buffer *answer, tacit_error *error);
tacit_status tacit_securesum_party_unmask(tacit_securesum_party *party, const uint8_t *question,
                                          size_t question_length, tacit_buffer *answer, tacit_error *error);

/* The whole state, secrets included (the vector is not in it), and back. TACIT_CORRUPT when the bytes are
 * damaged or are of another sum. The restored party goes on as the saved one would have. */
tacit_status tacit_securesum_party_save(const tacit_securesum_party *party, tacit_buffer *out,
                                        tacit_error *error);
tacit_status tacit_securesum_party_restore(tacit_securesum_party **out, const tacit_securesum *sum,
                                           const uint8_t *bytes, size_t length,
                                           const tacit_securesum_signer *signer, tacit_error *error);

/* ---- the coordinator ---- */

typedef struct tacit_securesum_server tacit_securesum_server;

/* The pool (may be NULL) is used when the sum is opened, and is borrowed. */
tacit_status tacit_securesum_server_create(tacit_securesum_server **out, const tacit_securesum *sum,
                                           tacit_pool *pool, tacit_error *error);
tacit_securesum_server *tacit_securesum_server_free(tacit_securesum_server *server);

/* The step whose answers are being collected. */
tacit_securesum_step tacit_securesum_server_step(const tacit_securesum_server *server);

/* Whether `party` is to be asked in this step, and whether its answer is in. */
bool tacit_securesum_server_expects(const tacit_securesum_server *server, uint32_t party);
bool tacit_securesum_server_has(const tacit_securesum_server *server, uint32_t party);

/* Append what to send to `party` in this step; nothing in the first. TACIT_NOT_FOUND when it is not to be
 * asked. */
tacit_status tacit_securesum_server_question(const tacit_securesum_server *server, uint32_t party,
                                             tacit_buffer *out, tacit_error *error);

/* Take an answer that came from `party`, as the transport authenticated it. The same answer again changes
 * nothing. TACIT_PROTOCOL for one that is malformed, for another sum, not this party's, wrong, or different
 * from the first; TACIT_REFUSED when it is late or not expected. The party then counts as vanished unless it
 * sends a right one in time. */
tacit_status tacit_securesum_server_receive(tacit_securesum_server *server, uint32_t party,
                                            const uint8_t *answer, size_t length, tacit_error *error);

/* End this step: whoever has not answered has vanished. Ending `unmask` opens the sum. TACIT_REFUSED when too
 * few are left: the sum will never open. TACIT_PROTOCOL names a party whose shares were wrong from the start.
 * After a failure other than TACIT_NO_MEMORY only freeing is left. */
tacit_status tacit_securesum_server_close(tacit_securesum_server *server, tacit_error *error);

/* Once opened: the sum, terms.length integers, borrowed; and whose vectors are in it. NULL, false before. */
const int64_t *tacit_securesum_server_sum(const tacit_securesum_server *server);
bool tacit_securesum_server_survived(const tacit_securesum_server *server, uint32_t party);
