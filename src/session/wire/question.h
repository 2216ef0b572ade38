/* A question, an answer, and what it means to ask for a sum only. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "privacy/account/release.h"
#include "session/wire/message.h"

enum { TACIT_ID_SIZE = 64 }; /* of a study, method, question or party, with its NUL */

/*
 * How contributions are summed: as integers modulo 2^64 on a public grid, round(value * 2^grid_bits) for
 * |value| <= bound. Integer addition has no rounding and no order, so a sum is the same on any number of
 * threads, ranks or hosts, and masks that cancel modulo 2^64 can hide each term.
 */
typedef struct tacit_sum_spec {
    size_t length;
    double bound;
    int grid_bits;
} tacit_sum_spec;

/* The finest grid on which the sum of `parties` contributions of at most `bound` is exact as a double.
 * TACIT_USAGE when the bound is not positive and finite. */
tacit_status tacit_sum_spec_for(tacit_sum_spec *out, size_t length, double bound, size_t parties,
                                tacit_error *error);

bool tacit_sum_spec_equal(const tacit_sum_spec *first, const tacit_sum_spec *second);

/* The most by which rounding one contribution to the grid can move it, in L2 norm: sqrt(length) half steps.
 * Twice this belongs to the sensitivity of the sum. */
double tacit_sum_rounding(const tacit_sum_spec *spec);

/* value -> grid. TACIT_INTERNAL when a value is not finite or beyond the bound: the party's own half is
 * wrong. */
tacit_status tacit_sum_quantise(const tacit_sum_spec *spec, const double *values, int64_t *out,
                                tacit_error *error);

/* TACIT_PROTOCOL unless all of spec->length numbers that somebody sent are such as tacit_sum_quantise
 * gives. */
tacit_status tacit_sum_check(const tacit_sum_spec *spec, const int64_t *steps, tacit_error *error);

/* grid -> value. */
double tacit_sum_value(const tacit_sum_spec *spec, int64_t total);

enum { TACIT_MASKED_ID_BYTES = 16 };

/* One step of a masked sum (session/masked/masked.h), as a question carries it. */
typedef struct tacit_masked_step {
    unsigned step; /* tacit_securesum_step; any number, as it came */
    uint8_t sum_id[TACIT_MASKED_ID_BYTES];
    tacit_buffer body;   /* what secure summation says to this party */
    tacit_buffer roster; /* in the first step: all signing keys, by place */
} tacit_masked_step;

#define TACIT_MASKED_STEP_INIT                                                                               \
    { .body = TACIT_BUFFER_INIT, .roster = TACIT_BUFFER_INIT }

void tacit_masked_step_clear(tacit_masked_step *step);

/* Bytes of one party about or for another: a card or a sealed word (session/mail/mail.h). */
typedef struct tacit_letter {
    uint32_t party; /* in a question, whose it is; in an answer, who may open it; by place in the roster */
    uint64_t round; /* in which a word was said */
    tacit_buffer body;
} tacit_letter;

typedef struct tacit_letters {
    tacit_letter *letter;
    size_t count;
} tacit_letters;

#define TACIT_LETTERS_INIT                                                                                   \
    { NULL, 0 }

/* Add a copy. */
tacit_status tacit_letters_add(tacit_letters *letters, uint32_t party, uint64_t round, const uint8_t *bytes,
                               size_t length, tacit_error *error);
/* The one of a party, borrowed; NULL: none. */
const tacit_letter *tacit_letters_find(const tacit_letters *letters, uint32_t party);
void tacit_letters_clear(tacit_letters *letters);

/* A round between neighbours (session/mail/mail.h), as a question carries it. */
typedef struct tacit_mail_step {
    unsigned step;       /* TACIT_MAIL_CARDS or TACIT_MAIL_WORDS; any number, as it came */
    tacit_buffer roster; /* with the cards: all signing keys, by place */
    tacit_letters cards, words;
} tacit_mail_step;

enum { TACIT_MAIL_CARDS, TACIT_MAIL_WORDS };

#define TACIT_MAIL_STEP_INIT                                                                                 \
    { .roster = TACIT_BUFFER_INIT, .cards = TACIT_LETTERS_INIT, .words = TACIT_LETTERS_INIT }

void tacit_mail_step_clear(tacit_mail_step *step);

/* What a question is one of. */
typedef enum tacit_round_kind {
    TACIT_ROUND_PLAIN,  /* the whole question, and the answer in clear */
    TACIT_ROUND_SECURE, /* a step of a secure sum */
    TACIT_ROUND_MAIL,   /* a step of a round between neighbours: the answer is not for the coordinator */
} tacit_round_kind;

typedef struct tacit_question {
    tacit_round_kind kind;
    char study[TACIT_ID_SIZE];
    char method[TACIT_ID_SIZE];
    unsigned method_version;
    uint64_t round;
    char name[TACIT_ID_SIZE];
    uint8_t answer_id[TACIT_ANSWER_ID_BYTES]; /* differs from party to party */
    const tacit_message *message;             /* borrowed; NULL when the question carries nothing */
    bool wants_sum;
    tacit_sum_spec sum;
    union { /* borrowed, as the kind says */
        const tacit_masked_step *masked;
        const tacit_mail_step *mail;
    };
} tacit_question;
