/*
 * A party at work: what a method's handler sees, and the runtime that takes a question to its handler and
 * the reply through the gate. The same for a simulated party and for one at the far end of a connection.
 */
#pragma once

#include "base/pool.h"
#include "crypto/paillier/paillier.h"
#include "data/packed_rows.h"
#include "model/classifier/classifier.h"
#include "num/glm/glm.h"
#include "privacy/gate.h"
#include "rand/stream.h"
#include "session/mail/mail.h"
#include "session/masked/masked.h"
#include "session/method.h"
#include "session/prepared.h"
#include "session/wire/wire.h"

/* What outlives a question: a party trains its models once, however often it is asked. */
typedef struct tacit_memo {
    tacit_model *model;
    char made_for[128]; /* what the model was trained for; another use trains again */
    tacit_classifier *classifier;
    char trained_as[TACIT_SETTING_SIZE + 64]; /* the same for the classifier */
    double *state;                            /* what a method without a center keeps between rounds */
    size_t state_count;
    tacit_paillier_public *center_key; /* of center server B */
    tacit_prepared *prepared;          /* what the method prepared from its plan */
    struct tacit_derived *derived;     /* and what it derived from it and one number more */
    tacit_packed_rows *packed;         /* the party's rows, while a method passes over them */
} tacit_memo;

void tacit_memo_clear(tacit_memo *memo);

/* What a party hears in an exchange: the last word of each neighbour, and how much it counts. */
typedef struct tacit_heard {
    size_t count;
    const tacit_message *const *word; /* NULL: that neighbour has not said anything yet */
    const double *weight;             /* of each word */
    double own;                       /* of the party's own */
    size_t place;                     /* of the party in the graph, from 0 */
} tacit_heard;

/* Where a real party keeps what it must find again after a restart. */
typedef tacit_masks_store tacit_keep;

/* The others who hold a party's rows: told of a question before the handler runs, so that they run it too,
 * and of how it went. */
typedef struct tacit_holders {
    tacit_status (*ask)(void *context, const tacit_question *question, tacit_error *error);
    tacit_status (*settle)(void *context, tacit_status status, tacit_error *error);
    void *context;
} tacit_holders;

struct tacit_party {
    const tacit_plan *plan;
    const char *coordinator; /* who asks, by name */
    const char *called;      /* what people call this party; NULL: nothing */
    const char *role;        /* the owner's choice among the method's roles; NULL in a simulation */
    size_t number;           /* sets parties of a study apart where that is needed; any number */
    const char *study;       /* as the ledger calls it: unique over all coordinators */
    uint8_t study_hash[TACIT_HASH_BYTES]; /* of the definition that was consented to */
    tacit_view rows;                      /* touched only by mapping over blocks, or through the solver */
    size_t total_rows;                    /* over all holders of this party's rows */
    const tacit_reducer *reducer;         /* adds up over the holders; NULL: all rows are here */
    const tacit_holders *holders;         /* of the one who answers for all; NULL: there are none */
    /* another holder answers: what is computed here goes into sums only, and chance that all must share is
     * that one's */
    bool follows;
    tacit_pool *pool;         /* NULL: one thread */
    tacit_noise_source noise; /* this party's own, for this question */
    const tacit_stream *run;  /* of a simulation: the same in all rounds of a run; NULL for a real party */
    const tacit_keep *keep;   /* of a real party; NULL in a simulation */
    tacit_memo *memo;         /* NULL: nothing is kept */
    tacit_common *common;     /* of the parties of a simulation; NULL for a real one */
    const tacit_heard *heard; /* in an exchange; NULL: the coordinator asks */
    const char *local;        /* the owner's own choice of classifier; NULL: the study's */
    tacit_gate *gate;
    tacit_masks *masks; /* of a deployed party; NULL: it takes part in no masked sum */
    tacit_mail *mail;   /* of a deployed party; NULL: it has no neighbours */
};

/* The party's own regularised linear model: logistic for two classes, softmax for more, on all its rows,
 * certified to `tolerance`. Borrowed from the memo, or owned by the caller through *owned when there is
 * none. */
tacit_status tacit_party_local_model(tacit_party *party, double tolerance, const tacit_model **out,
                                     tacit_model **owned, tacit_error *error);

/* The same with another loss: what `fit` says of lambda, Huber's width and tolerance; its other members are
 * filled in. */
tacit_status tacit_party_linear_model(tacit_party *party, const tacit_linear_fit *fit,
                                      const tacit_model **out, tacit_model **owned, tacit_error *error);

/* The party's own classifier of any type, for methods that ask what it predicts: the owner's choice, or from
 * `kinds` dealt round robin. Borrowed from the memo or owned by the caller, as above. */
tacit_status tacit_party_classifier(tacit_party *party, const char *kinds, double lambda,
                                    const tacit_classifier **out, tacit_classifier **owned,
                                    tacit_error *error);

/* `count` numbers that stay between the rounds of a run, zeros at first and after tacit_party_forget.
 * Borrowed from the memo. */
tacit_status tacit_party_state(tacit_party *party, size_t count, double **out, tacit_error *error);
void tacit_party_forget(tacit_party *party);

/* Give back the memory of packed rows. */
void tacit_party_unpack(tacit_party *party);

/* Gaussian noise that a party draws once in a study and uses in all its rounds, on the given grid. A real
 * party draws it exactly, from entropy, and keeps it before it is first used, so that it is the same after a
 * restart; it is kept for one scale, number and grid, and TACIT_REFUSED for others. In a simulation it
 * follows from the run's seed. It is no release: what leaves needs noise of its own. */
tacit_status tacit_party_persistent_noise(tacit_party *party, double scale, size_t count, int grid_bits,
                                          double *out, tacit_error *error);

/* Hold a real party to one choice of the coordinator's numbers in a version of a study, under a name: lists
 * of numbers, the last list NULL. The first ones are kept; TACIT_REFUSED for others later. For exact answers,
 * two of which must not differ by what a coordinator changed in between. */
tacit_status tacit_party_asked_once(const tacit_party *party, const char *name, const double *const *values,
                                    const size_t *counts, tacit_error *error);

/* What the method prepares from its plan (tacit_method.prepare), once for all questions. Pointers in it are
 * borrowed. */
tacit_status tacit_party_prepared(const tacit_party *party, void *out, tacit_error *error);

/* tacit_plan_price of the party's plan, from what is prepared for it already. */
tacit_status tacit_party_price(const tacit_party *party, tacit_prices *out, tacit_error *error);

/* Numbers that a method derives from its plan and one public number more, such as a calibration that takes
 * long: a struct without pointers. */
typedef tacit_status tacit_deriver(const tacit_plan *plan, double about, void *out, tacit_error *error);

/* Fill `out`, `size` bytes, by `derive`, or with what it gave when the same was asked before: of this party,
 * or of any in a simulation. */
tacit_status tacit_party_derive(tacit_party *party, tacit_deriver *derive, double about, void *out,
                                size_t size, tacit_error *error);

/* Answer one question: find the handler, compute, and let the encoded answer through the gate into `out`. A
 * refusal (TACIT_REFUSED) is the caller's to report. `question_hash` is of the bytes received, zeros in a
 * simulation. */
tacit_status tacit_party_answer(tacit_party *party, const tacit_question *question,
                                const uint8_t question_hash[TACIT_HASH_BYTES], tacit_buffer *out,
                                tacit_error *error);

/* The same for a contribution to a sum inside this process: the gate is passed, the bytes are not encoded,
 * and the integers are added to `total` modulo 2^64. */
tacit_status tacit_party_contribute(tacit_party *party, const tacit_question *question, uint64_t *total,
                                    tacit_error *error);

/* The name of the step that a question is, for people; NULL: it is a whole one. */
const char *tacit_question_step(const tacit_plan *plan, const tacit_question *question);

/* The `rows` of a question, how many all parties have together: refused where they are fewer than this
 * party's own, or more than `most` for each party. */
tacit_status tacit_party_read_total(const tacit_party *party, const tacit_question *question, double most,
                                    double *out, tacit_error *error);

/* The entry of the method's table for a question. */
tacit_status tacit_party_handler(const tacit_party *party, const tacit_question *question,
                                 const tacit_handler_entry **out, tacit_error *error);

/* Pass the gate for a contribution to a repeatable question, in a simulation that adds it up with others' or
 * knows the sum already: checks and charge as ever, nothing is computed. */
tacit_status tacit_party_contribute_blank(tacit_party *party, const tacit_question *question,
                                          tacit_error *error);

void tacit_reply_clear(tacit_reply *reply);
