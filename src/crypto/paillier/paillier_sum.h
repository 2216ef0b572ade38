/*
 * Sums under Paillier encryption (after Pathak, Rane and Raj 2010): one of the parties, the key holder,
 * multiplies the parties' ciphertexts, which adds up what is in them, and decrypts the product. The
 * coordinator carries the messages and never has the secret key; the key holder never has anything but noise:
 *
 *     step       the coordinator sends                        who answers: with what
 *     key        (the terms)                                  the key holder: its two public keys, signed
 *     encrypt    those keys                                   each party: the seed of r, a signature, and a
 *                                                             box: E(x + r) sealed for the key holder
 *     decrypt    the survivors' boxes and signatures          the key holder: sum of x + r modulo 2^62
 *
 * Claim. Numbers are integers, and their sum is taken modulo 2^62 (read as signed: sums below 2^61 are
 * exact).
 *  - The key holder, whatever it keeps and whoever else it sees the traffic of, learns nothing: each r is
 *    uniform modulo 2^62 (the low bits of a ChaCha20 stream whose seed goes to the coordinator alone), so x +
 *    r is uniform whatever x.
 *  - The coordinator, also one that lies and has colluding parties to help it, learns the sum of the x over
 *    one set of at least `minimum` contributors, and nothing more that the colluders do not know. The key
 *    holder multiplies only what the roster's parties signed for this very sum (study, round, id, roster,
 *    key, contributor), each once, so that an honest party's term is in the product or not, whole; the caller
 *    lets it do so once a round. A colluding party chooses its own term freely, but not in relation to
 *    others': Paillier ciphertexts are malleable, and one that had seen the others' could send their inverses
 *    and leave a single one in the product. So they travel in boxes (X25519 with a key made for each box,
 *    XChaCha20-Poly1305), which only the key holder opens, bound to the terms and the sender: a copied box
 *    does not open under another name.
 *  - Key holder and coordinator together learn every x.
 *
 * The price: the key holder receives what all parties send. So a sum is at most TACIT_PAILLIER_SUM_BYTES_MOST
 * of boxes.
 *
 * Everything a message says is bound to the terms by the digest that is signed. Messages come from strangers:
 * a failed call changes nothing.
 */
#pragma once

#include "crypto/paillier/paillier.h"
#include "crypto/sum/agreement.h"
#include "crypto/sum/securesum.h"

enum { TACIT_PAILLIER_SUM_BYTES_MOST = 64 * 1024 * 1024 };

typedef struct tacit_paillier_sum_terms {
    char study[TACIT_SUM_STUDY_SIZE];
    uint64_t round;
    uint8_t id[TACIT_SUM_ID_BYTES];
    size_t length;
    uint32_t parties, minimum, holder; /* the key holder's number */
    unsigned key_bits;
    uint8_t roster[TACIT_DIGEST_BYTES];
} tacit_paillier_sum_terms;

typedef enum tacit_paillier_sum_step {
    TACIT_PAILLIER_SUM_KEY,
    TACIT_PAILLIER_SUM_ENCRYPT,
    TACIT_PAILLIER_SUM_DECRYPT,
    TACIT_PAILLIER_SUM_OPENED
} tacit_paillier_sum_step;

/* "key", "encrypt", "decrypt", "opened". */
const char *tacit_paillier_sum_step_name(tacit_paillier_sum_step step);

/* ---- the keys, the same in all sums of a study ---- */

typedef struct tacit_paillier_sum_key {
    tacit_paillier_public *numbers;   /* owned */
    uint8_t sealing[TACIT_KEY_BYTES]; /* X25519, for boxes */
} tacit_paillier_sum_key;

void tacit_paillier_sum_key_clear(tacit_paillier_sum_key *key);

tacit_status tacit_paillier_sum_write_key(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                          const tacit_paillier_secret *secret,
                                          const tacit_securesum_signer *signer, tacit_error *error);

/* TACIT_PROTOCOL unless it is a key of the terms' size, signed by the key holder for this study and
 * roster. */
tacit_status tacit_paillier_sum_read_key(tacit_paillier_sum_key *out, const tacit_paillier_sum_terms *terms,
                                         const tacit_securesum_roster *roster, const uint8_t *bytes,
                                         size_t length, tacit_error *error);

/* ---- a party, number `index` ---- */

/* terms->length integers. Randomness is drawn again: what was appended before must be sent again, not made
 * again. */
tacit_status tacit_paillier_sum_encrypt(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                        const tacit_paillier_sum_key *key, uint32_t index,
                                        const int64_t *values, const tacit_securesum_signer *signer,
                                        tacit_entropy *entropy, tacit_pool *pool, tacit_error *error);

/* The key holder's last step; the same question gets the same answer. TACIT_REFUSED for fewer contributors
 * than the minimum, TACIT_PROTOCOL for signatures that are not on these boxes, and for boxes without
 * ciphertexts, naming the party. */
tacit_status tacit_paillier_sum_decrypt(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                        const tacit_paillier_secret *secret,
                                        const tacit_securesum_roster *roster, const uint8_t *question,
                                        size_t question_length, tacit_pool *pool, tacit_error *error);

/* The most bytes that the answer to `decrypt` has. */
size_t tacit_paillier_sum_decrypted_bytes(const tacit_paillier_sum_terms *terms);

/* ---- the coordinator; as tacit_securesum_server_* ---- */

typedef struct tacit_paillier_sum_server tacit_paillier_sum_server;

/* What `roster` points to, and the pool (NULL: none), are borrowed. TACIT_USAGE for terms that make no sense,
 * TACIT_LIMIT when all boxes together would be too long for the key holder. */
tacit_status tacit_paillier_sum_server_create(tacit_paillier_sum_server **out,
                                              const tacit_paillier_sum_terms *terms,
                                              const tacit_securesum_roster *roster, tacit_pool *pool,
                                              tacit_error *error);
tacit_paillier_sum_server *tacit_paillier_sum_server_free(tacit_paillier_sum_server *server);

tacit_paillier_sum_step tacit_paillier_sum_server_step(const tacit_paillier_sum_server *server);
bool tacit_paillier_sum_server_expects(const tacit_paillier_sum_server *server, uint32_t party);
bool tacit_paillier_sum_server_has(const tacit_paillier_sum_server *server, uint32_t party);
tacit_status tacit_paillier_sum_server_question(const tacit_paillier_sum_server *server, uint32_t party,
                                                tacit_buffer *out, tacit_error *error);

/* A box is kept, sealed, until the sum is opened. */
tacit_status tacit_paillier_sum_server_receive(tacit_paillier_sum_server *server, uint32_t party,
                                               const uint8_t *answer, size_t length, tacit_error *error);
tacit_status tacit_paillier_sum_server_close(tacit_paillier_sum_server *server, tacit_error *error);

const int64_t *tacit_paillier_sum_server_sum(const tacit_paillier_sum_server *server);
bool tacit_paillier_sum_server_survived(const tacit_paillier_sum_server *server, uint32_t party);
