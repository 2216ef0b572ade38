/*
 * The gate: the one function that lets bytes leave a party.
 *
 * The order is what protects: rules, consent and budget first; then the charge, the bytes and the log entry
 * in one transaction that is on the disk; then, and only then, the bytes to the caller. A process killed
 * anywhere between leaves at worst a charge for bytes that nobody saw, and asking again under the same
 * answer id gets those bytes without a second charge.
 */
#pragma once

#include "privacy/ledger/ledger.h"
#include "privacy/policy.h"

typedef enum tacit_gate_mode {
    TACIT_GATE_REAL,     /* durable ledger; refuses simulated noise and infinite epsilon */
    TACIT_GATE_SIMULATED /* ledger in memory; takes any noise, asks no consent */
} tacit_gate_mode;

/* A value, 24 bytes, to be filled by tacit_gate_init; ledger and policy are borrowed. */
typedef struct tacit_gate {
    tacit_ledger *ledger;
    const tacit_policy *policy;
    tacit_gate_mode mode;
} tacit_gate;

/* TACIT_USAGE when mode and ledger do not belong together: a real gate needs a durable ledger, and a
 * simulation must not write into one. */
tacit_status tacit_gate_init(tacit_gate *out, tacit_ledger *ledger, const tacit_policy *policy,
                             tacit_gate_mode mode, tacit_error *error);

/* Let `release` leave: append its payload, or the bytes stored under its answer id, to `out`.
 *
 * TACIT_REFUSED: consent, policy, limit, or an answer id used for another question; the sentence names the
 * rule, the value and the remedy, and the refusal is logged (32 an hour at most; further ones are counted).
 * TACIT_INPUT: the release contradicts itself (a NaN price, no name); logged too. Anything else (disk full,
 * damaged file): not released; ask again under the same answer id once the cause is removed. `out` is
 * unchanged on every failure. */
tacit_status tacit_gate_release(tacit_gate *gate, const tacit_release *release, tacit_buffer *out,
                                tacit_error *error);

/* Whether an answer to exactly this question is stored under this answer id, so that a release without
 * payload would send it again and nothing need be computed. Always false in a simulation. */
tacit_status tacit_gate_has_answer(bool *out, tacit_gate *gate,
                                   const uint8_t answer_id[TACIT_ANSWER_ID_BYTES],
                                   const uint8_t question_hash[TACIT_HASH_BYTES], tacit_error *error);

/* The state that the last release of a study kept (release->state), appended to `out`; *found false when
 * there is none. Always false in a simulation. */
tacit_status tacit_gate_state(bool *found, tacit_gate *gate, const char *study, tacit_buffer *out,
                              tacit_error *error);

/*
 * Let a message of a protocol leave that says nothing about rows: public keys, sealed shares of random
 * secrets, signatures. Nothing is charged and nothing is stored. Still it is checked that the owner consents
 * to the study, and that this is no way around tacit_gate_release: TACIT_REFUSED, logged, for a release that
 * has a price, has numbers in it, is not sealed, or has more than `most` bytes.
 */
tacit_status tacit_gate_pass(tacit_gate *gate, const tacit_release *release, size_t most, tacit_buffer *out,
                             tacit_error *error);

/*
 * Let a statement leave that the owner consents to saying by consenting to the study: one word that its
 * definition spells out, such as that a public condition holds for a row. It has no noise, so no differential
 * privacy protects it; that is why the study says it, why it is one word, and why it is logged. Returns once
 * it is on the disk; the word may leave then. TACIT_REFUSED, logged, without consent to this very definition,
 * and in a simulation, where nobody consents.
 */
tacit_status tacit_gate_state_fact(tacit_gate *gate, const tacit_release *about, tacit_error *error);

/* Refuse before there is anything to release: log `reason`, and fail with it. Always TACIT_REFUSED. */
tacit_status tacit_gate_refuse(tacit_gate *gate, const tacit_release *release, tacit_error *error,
                               const char *reason);
