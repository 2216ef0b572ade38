/*
 * Sums under Paillier encryption (after Pathak, Rane and Raj 2010): the coordinator multiplies the parties' ciphertexts
 * and so adds up what is in them; one of the parties, the key holder, decrypts the product. The coordinator never has
 * the secret key, and the key holder never has anything but noise:
 *
 *     step       the coordinator sends                               who answers: with what
 *     key        (the terms)                                         the key holder: its public key, signed
 *     encrypt    that key                                            each party: E(x + r), the seed of r, and a signature
 *     decrypt    the product over the survivors, their signatures    the key holder: sum of x + r modulo 2^62
 *
 * Claim. Numbers are integers, and their sum is taken modulo 2^62 (read as signed: sums below 2^61 are exact).
 *  - The key holder, whatever it keeps and whoever else it sees the traffic of, learns nothing: each r is uniform modulo
 *    2^62 (the low bits of a ChaCha20 stream whose seed goes to the coordinator alone), so x + r is uniform whatever x.
 *  - The coordinator, which has all r, learns the sum of the x over the survivors and nothing more, if it hands the key
 *    holder the product that it should: ciphertexts hide x + r (paillier.h), and the answer is sum (x + r).
 *  - The two together learn every x. So does a coordinator that lies to the key holder, for it may hand it a single
 *    ciphertext in place of the product: secure summation with masks (securesum.h) has neither weakness.
 * The key holder checks what it can: that at least `minimum` parties of the roster have signed that they contributed to
 * this very sum, that there is one number of ciphertexts, and (the caller's part) that it is asked once.
 *
 * Everything a message says is bound to the terms by the digest that is signed. Messages come from strangers: a failed
 * call changes nothing.
 */
#pragma once

#include "crypto/paillier.h"
#include "crypto/securesum.h"

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

/* ---- the key, the same in all sums of a study ---- */

tacit_status tacit_paillier_sum_write_key(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                          const tacit_paillier_public *key,
                                          const tacit_securesum_signer *signer, tacit_error *error);

/* TACIT_PROTOCOL unless it is a key of the terms' size, signed by the key holder for this study and roster. */
tacit_status tacit_paillier_sum_read_key(tacit_paillier_public **out, const tacit_paillier_sum_terms *terms,
                                         const tacit_securesum_roster *roster, const uint8_t *bytes,
                                         size_t length, tacit_error *error);

/* ---- a party, number `index` ---- */

/* terms->length integers. Randomness is drawn anew: what was appended before must be sent again, not made again. */
tacit_status tacit_paillier_sum_encrypt(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                        const tacit_paillier_public *key, uint32_t index,
                                        const int64_t *values, const tacit_securesum_signer *signer,
                                        tacit_entropy *entropy, tacit_pool *pool, tacit_error *error);

/* The key holder's last step; the same question gets the same answer. TACIT_REFUSED for fewer contributors than the
 * minimum, TACIT_PROTOCOL for signatures or ciphertexts that are none. */
tacit_status tacit_paillier_sum_decrypt(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                        const tacit_paillier_secret *secret,
                                        const tacit_securesum_roster *roster, const uint8_t *question,
                                        size_t question_length, tacit_pool *pool, tacit_error *error);

/* The most bytes that the answer to `decrypt` has. */
size_t tacit_paillier_sum_decrypted_bytes(const tacit_paillier_sum_terms *terms);

/* ---- the coordinator; as tacit_securesum_server_* ---- */

typedef struct tacit_paillier_sum_server tacit_paillier_sum_server;

/* What `roster` points to, and the pool (NULL: none), are borrowed. TACIT_USAGE for terms that make no sense. */
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

/* Ciphertexts are checked, multiplied into the product, and not kept. */
tacit_status tacit_paillier_sum_server_receive(tacit_paillier_sum_server *server, uint32_t party,
                                               const uint8_t *answer, size_t length, tacit_error *error);
tacit_status tacit_paillier_sum_server_close(tacit_paillier_sum_server *server, tacit_error *error);

const int64_t *tacit_paillier_sum_server_sum(const tacit_paillier_sum_server *server);
bool tacit_paillier_sum_server_survived(const tacit_paillier_sum_server *server, uint32_t party);
