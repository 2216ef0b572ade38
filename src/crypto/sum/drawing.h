/*
 * Drawing the seed of a sparse graph (graph.h) so that nobody chooses it: not the coordinator, and not
 * whoever joins last.
 *
 *     step      the coordinator sends                    a party answers
 *     draw      (the roster)                             a commitment to 32 random bytes, signed
 *     reveal    the list of all commitments              those bytes, and its signature of the list
 *     (then)    the proof: list, bytes, signatures       nothing: it checks all of it and computes the seed
 *
 * A party reveals its bytes once it has kept the one list that it will ever sign, in which it found its own
 * commitment. A proof has the bytes and signatures of everyone on its list, and a list is of at least (n +
 * c)/2 + 1 of n parties, c of whom may collude: two complete lists would share an honest party, which has
 * signed one only. So there is one seed, it is a hash of bytes of which some were unknown when the list was
 * fixed, and all that the coordinator can do about a seed that does not suit it is to end the study.
 * docs/securesum.md has the bound.
 */
#pragma once

#include "crypto/sum/securesum.h"

enum {
    TACIT_DRAWING_SECRET_BYTES = 32,
    TACIT_DRAWING_COMMITMENT_BYTES = TACIT_DIGEST_BYTES + TACIT_SIGNATURE_BYTES,
    TACIT_DRAWING_OPENING_BYTES = TACIT_DRAWING_SECRET_BYTES + TACIT_SIGNATURE_BYTES,
    TACIT_DRAWING_ENTRY_BYTES = 4 + TACIT_DRAWING_COMMITMENT_BYTES, /* of a list, after its u32 count */
};

/* What everybody agrees on beforehand; all of it goes into every commitment, signature and seed. */
typedef struct tacit_drawing {
    char study[TACIT_SUM_STUDY_SIZE];
    uint8_t version[TACIT_DIGEST_BYTES]; /* hash of the definition */
    uint8_t roster[TACIT_DIGEST_BYTES];
    uint32_t parties, least; /* on the roster; on a list at least (tacit_drawing_least) */
    tacit_securesum_roster signers;
} tacit_drawing;

/* More than half of the parties and the colluders together. */
uint32_t tacit_drawing_least(uint32_t parties, uint32_t colluders);

/* How many signatures on a list of this many are checked: all, or of a long list so many, drawn at random,
 * that fewer than `least` good ones pass with a chance of at most 2^-80. */
uint32_t tacit_drawing_checked(uint32_t listed, uint32_t least);

/* A list of commitments that was read and checked; borrows its bytes. */
typedef struct tacit_drawing_list {
    uint32_t count;
    const uint8_t *entries;
    uint8_t digest[TACIT_DIGEST_BYTES];
} tacit_drawing_list;

/* ---- a party ---- */

tacit_status tacit_drawing_commit(const tacit_drawing *drawing, uint32_t place,
                                  const uint8_t secret[TACIT_DRAWING_SECRET_BYTES],
                                  const tacit_securesum_signer *signer, tacit_buffer *out,
                                  tacit_error *error);

/* TACIT_REFUSED unless the list has enough commitments, each once, by places, and signed by their parties. */
tacit_status tacit_drawing_read_list(tacit_drawing_list *out, const tacit_drawing *drawing,
                                     const uint8_t *bytes, size_t length, tacit_error *error);

/* Whether a place is on the list, and with a commitment to these bytes; *found is set in either case. */
bool tacit_drawing_is_on(const tacit_drawing_list *list, const tacit_drawing *drawing, uint32_t place,
                         const uint8_t secret[TACIT_DRAWING_SECRET_BYTES], bool *found);

tacit_status tacit_drawing_open(const tacit_drawing *drawing, uint32_t place,
                                const uint8_t secret[TACIT_DRAWING_SECRET_BYTES],
                                const tacit_drawing_list *list, const tacit_securesum_signer *signer,
                                tacit_buffer *out, tacit_error *error);

/* The seed, and the list that it is of. TACIT_REFUSED unless everyone on the list has opened its commitment
 * and, as far as signatures are checked, signed the list. */
tacit_status tacit_drawing_read_proof(uint8_t seed[TACIT_GRAPH_SEED_BYTES], tacit_drawing_list *list,
                                      const tacit_drawing *drawing, const uint8_t *bytes, size_t length,
                                      tacit_error *error);

/* ---- the coordinator ---- */

typedef enum tacit_drawing_step {
    TACIT_DRAWING_COMMITTING,
    TACIT_DRAWING_OPENING,
    TACIT_DRAWING_DONE
} tacit_drawing_step;

typedef struct tacit_drawing_server tacit_drawing_server;

tacit_status tacit_drawing_server_create(tacit_drawing_server **out, const tacit_drawing *drawing,
                                         tacit_error *error);
tacit_drawing_server *tacit_drawing_server_free(tacit_drawing_server *server);

tacit_drawing_step tacit_drawing_server_step(const tacit_drawing_server *server);
bool tacit_drawing_server_expects(const tacit_drawing_server *server, uint32_t place);
bool tacit_drawing_server_has(const tacit_drawing_server *server, uint32_t place);
/* how many, before the step can be closed */
uint32_t tacit_drawing_server_needs(const tacit_drawing_server *server);

/* Take an answer to the open step. The same again changes nothing; TACIT_PROTOCOL for another, or one that is
 * wrong. */
tacit_status tacit_drawing_server_receive(tacit_drawing_server *server, uint32_t place, const uint8_t *answer,
                                          size_t length, tacit_error *error);

/* End the open step. TACIT_REFUSED with too few commitments, or when somebody who committed has not
 * opened. */
tacit_status tacit_drawing_server_close(tacit_drawing_server *server, tacit_error *error);

/* What parties are sent: nothing, then the list, in the end the proof. Borrowed. */
const tacit_buffer *tacit_drawing_server_question(const tacit_drawing_server *server);
