/*
 * What a party's handler hands to the gate: bytes that want to leave, and everything the owner's rules, the
 * ledger and the audit log need to know about them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "privacy/account/accountant.h"

enum {
    TACIT_ANSWER_ID_BYTES = 16,
    TACIT_HASH_BYTES = 32, /* BLAKE2b-256 */
    TACIT_NAME_MOST = 200, /* bytes of a study, question, method, coordinator or data source name */
    TACIT_ASSUMPTION_MOST = 400,
    TACIT_PAYLOAD_MOST = 64 * 1024 * 1024
};

typedef enum tacit_release_kind {
    /* The noise that buys the price is already in the bytes. */
    TACIT_RELEASE_CHARGED,
    /* Ciphertext, masked value or share: says nothing under `assumption`. The price is that of what will be
     * opened from it, and may be 0 where that is charged elsewhere (or nothing of the data is in it). */
    TACIT_RELEASE_SEALED,
    /* In clear, to a coordinator trusted to add the noise before publishing; charged the published price. Or
     * to neighbours in a method without a center, who add none: the price is then infinite. */
    TACIT_RELEASE_ENTRUSTED
} tacit_release_kind;

/* Where the noise behind the price comes from (for an entrusted release: the noise promised). */
typedef enum tacit_noise {
    TACIT_NOISE_NONE,      /* no noise: epsilon is infinite, or 0 for sealed */
    TACIT_NOISE_SIMULATED, /* fast double-precision samplers or a seeded stream: simulations only */
    TACIT_NOISE_EXACT      /* exact rounding of real-valued noise */
} tacit_noise;

/* All pointers are borrowed for the time of the call. Names are printable UTF-8 of at most TACIT_NAME_MOST
 * bytes and not empty. */
typedef struct tacit_release {
    tacit_release_kind kind;
    tacit_noise noise;
    tacit_price price;
    /* the noise that the price comes from, so that many compose tightly; count 0: not known */
    tacit_event event;
    /* sealed, or under masks: what that rests on, e.g. "at most 2 of 5 parties collude" */
    const char *assumption;

    const char *coordinator; /* who asks and receives; for an entrusted release, who is trusted */
    const char *study;
    const char *method;
    const char *question;
    uint64_t round;
    uint8_t study_hash[TACIT_HASH_BYTES];    /* of the study definition; consent is to this definition */
    uint8_t question_hash[TACIT_HASH_BYTES]; /* of the whole question as received, study and round included */
    uint8_t answer_id[TACIT_ANSWER_ID_BYTES]; /* chosen once per answer; asking again repeats it */

    /* of a method without a center: for neighbours, or what is left of it in the end; the owner's rule is one
     * of its own */
    bool without_center;
    /* figures of this party alone, that the study publishes as such: by a rule of its own too */
    bool of_one_site;

    uint64_t rows;             /* rows of the party that the answer was computed from */
    uint64_t parties_declared; /* parties in the study */
    uint64_t parties_minimum;  /* fewer answers than this and the coordinator opens nothing */
    uint64_t parameters;       /* numbers in the payload */

    const uint8_t *payload;
    size_t payload_length; /* 0: send again what is stored under this answer id */

    /* What a party goes on from in this study: kept in the transaction that charges, in place of what was
     * kept before. */
    const uint8_t *state;
    size_t state_length; /* 0: nothing is kept, and what was stays */
} tacit_release;

/* "charged", "sealed", "entrusted"; "none", "simulated", "exact". */
const char *tacit_release_kind_name(tacit_release_kind kind);
const char *tacit_noise_name(tacit_noise noise);

/* TACIT_INPUT unless the members fit together as described above (price, names, assumption, sizes, event). */
tacit_status tacit_release_check(const tacit_release *release, tacit_error *error);

/* TACIT_INPUT unless the event, if there is one, costs no more than the price: the ledger may charge by
 * either. Both are read with the slack of tacit_amount_within. A sampled event is proved by
 * tacit_accountant_epsilon under replacement at the price's delta, which may take a second; the others take
 * microseconds. */
tacit_status tacit_release_prove(const tacit_release *release, tacit_error *error);

/* What composes: the release's event or, where none is known, its price as a pure or approximate one. Count 0
 * when it costs nothing. */
tacit_event tacit_release_event(const tacit_release *release);

/* TACIT_INPUT unless `text` is 1 to `most` bytes of UTF-8 without control characters. */
tacit_status tacit_name_check(const char *what, const char *text, size_t most, tacit_error *error);
