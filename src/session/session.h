/*
 * A session is what a method's coordinator half asks through: every party's answer, or only their sum, or,
 * for methods without a center, a round in which parties hear their neighbours and the coordinator hears
 * nothing. Where the parties live is the transport's business (local.h: in this process; board.h: at the far
 * end of connections).
 *
 * Every question and its result is journalled. After a crash the coordinator's half is run again from the
 * start and fed from the journal up to the question that was open, so it must be deterministic given the
 * answers and the session's noise. A question still open is asked again under the same answer ids, and the
 * parties send the bytes they stored: the journal need not hold anything of an unfinished round.
 */
#pragma once

#include "base/pool.h"
#include "base/progress.h"
#include "data/graph/mixing.h"
#include "rand/stream.h"
#include "session/method.h"
#include "session/prepared.h"
#include "session/result_cache.h"
#include "session/wire/wire.h"

/* Answers in a fixed order of parties; those that did not answer are missing. */
typedef struct tacit_answers {
    size_t count;
    tacit_answer *answer;
} tacit_answers;

#define TACIT_ANSWERS_INIT                                                                                   \
    { 0, NULL }

void tacit_answers_clear(tacit_answers *answers);

typedef struct tacit_sum {
    double *values;
    size_t length;
    size_t parties; /* how many contributed */
} tacit_sum;

#define TACIT_SUM_INIT                                                                                       \
    { NULL, 0, 0 }

void tacit_sum_clear(tacit_sum *sum);

/* Where parties live. `question` comes without an answer id: the transport gives each party its own. */
typedef struct tacit_transport {
    tacit_status (*ask)(void *context, const tacit_question *question, tacit_answers *out,
                        tacit_error *error);
    /* The party in one place alone, as in tacit_ask_one; NULL where that cannot be. */
    tacit_status (*ask_one)(void *context, const tacit_question *question, size_t place, bool needed,
                            tacit_answers *out, tacit_error *error);
    /* Add up contributions modulo 2^64 into `total`, which starts at zero. */
    tacit_status (*ask_sum)(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error);
    /* All rows of all parties, where they are in this process or spread over ranks; NULL elsewhere. Spread,
     * the view has those of this rank, of pooled_rows, and the reducer adds up; else that is NULL. */
    const tacit_view *(*pooled)(void *context);
    size_t pooled_rows;
    const tacit_reducer *reducer;
    void *context;
    /* One round between neighbours; NULL where parties cannot hear each other. *bytes: the most that one
     * heard. */
    tacit_status (*exchange)(void *context, const tacit_question *question, const tacit_mixing *mixing,
                             size_t *bytes, tacit_error *error);
} tacit_transport;

/* What the coordinator publishes is journalled beside the rounds, under numbers from here on. */
#define TACIT_RELEASE_RECORDS ((uint64_t)1 << 62)

/* Records by round, durable when write returns. */
typedef struct tacit_journal {
    tacit_status (*read)(void *context, uint64_t round, bool *found, tacit_buffer *out, tacit_error *error);
    tacit_status (*write)(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                          tacit_error *error);
    /* The latest checkpoint replaces earlier ones, and the records of rounds before it may go. */
    tacit_status (*read_checkpoint)(void *context, bool *found, uint64_t *round, tacit_buffer *out,
                                    tacit_error *error);
    tacit_status (*write_checkpoint)(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                     tacit_error *error);
    void *context;
} tacit_journal;

/* Told what the coordinator publishes, with its noise, before anything is made of it: for audits and
 * replays. */
typedef struct tacit_watch {
    void (*published)(void *context, const double *values, size_t count);
    void *context;
} tacit_watch;

/* Told when a round between neighbours is over: for traces. */
typedef struct tacit_round_watch {
    tacit_status (*over)(void *context, tacit_error *error);
    void *context;
} tacit_round_watch;

struct tacit_session {
    const tacit_plan *plan;
    tacit_transport transport;
    const tacit_view *own; /* rows of whoever runs the coordinator's half: a target; NULL: it has none */
    const tacit_journal *journal; /* NULL: nothing is kept */
    tacit_stream secret;          /* the coordinator's; what is random in its half, but not its noise */
    tacit_entropy *entropy;       /* for noise that is published; NULL in a simulation: from the secret */
    tacit_pool *pool;
    const tacit_progress *progress;
    const tacit_watch *watch;               /* NULL: nobody */
    const tacit_round_watch *round_watch;   /* NULL: nobody */
    const struct tacit_center_link *center; /* to center server B (center_servers.h); NULL: it is simulated */
    struct tacit_center_report *center_report; /* receives what the center servers' work cost; may be NULL */
    tacit_result_cache *cache;                 /* what trials of a simulation share; NULL elsewhere */
    tacit_common *common;     /* what it shares with simulated parties; NULL: they are elsewhere */
    tacit_prepared *prepared; /* where they are elsewhere, what the method prepared (run.c frees it) */
    uint64_t round;           /* of the next question */
    uint64_t releases;        /* published so far */
    uint64_t bytes_per_party; /* points, questions and answers so far, as they would travel */
};

/* What the method prepares from its plan (tacit_method.prepare), in the coordinator's half. Pointers in it
 * are borrowed until the half ends. */
tacit_status tacit_session_prepared(tacit_session *session, void *out, tacit_error *error);

/* tacit_plan_noise of the session's plan, from what is prepared for it already. */
tacit_status tacit_session_noise(tacit_session *session, tacit_noise_law *out, tacit_error *error);

/* Ask every party; wait for their answers. TACIT_REFUSED when fewer than the plan's minimum answered. */
tacit_status tacit_ask(tacit_session *session, const char *question, const tacit_message *message,
                       tacit_answers *out, tacit_error *error);

/* Ask one party alone, for methods that go round: `place` counts the parties from 0 in an order that stays.
 * At most one answer: none from a party that refused, is not there, or did not answer in time. Where its
 * answer is `needed` it is waited for, and TACIT_REFUSED if it refuses. */
tacit_status tacit_ask_one(tacit_session *session, const char *question, const tacit_message *message,
                           size_t place, bool needed, tacit_answers *out, tacit_error *error);

/* Ask for the sum of contributions only. */
tacit_status tacit_ask_sum(tacit_session *session, const char *question, const tacit_message *message,
                           const tacit_sum_spec *spec, tacit_sum *out, tacit_error *error);

/* A round without a center: everybody whom `mixing` has present hears the last words of its neighbours in
 * this round, as tacit_party.heard, and what its handler answers is its next word. A word passes the party's
 * gate when it is said and goes to neighbours only: the coordinator's half hands out the graph and counts
 * rounds. The parties keep their state themselves, and the transport their words; the journal only says that
 * the round is over. TACIT_REFUSED where parties cannot hear each other, or one refuses. */
tacit_status tacit_ask_neighbours(tacit_session *session, const char *question, const tacit_message *message,
                                  const tacit_mixing *mixing, tacit_error *error);

/* Add noise to what the coordinator was entrusted with, before it is published: out[j] = values[j] + noise on
 * the given grid; under a discrete law values are counts and the grid is 0. Journalled like a question, so
 * that a half run again publishes the same numbers; a second draw would be a second release. */
tacit_status tacit_session_release(tacit_session *session, const tacit_mechanism *mechanism,
                                   const double *values, size_t count, int grid_bits, double bound,
                                   double *out, tacit_error *error);

/* The same on the finest grid that has room for values of at most `bound` each and their noise. */
tacit_status tacit_session_publish(tacit_session *session, const tacit_mechanism *mechanism,
                                   const double *values, size_t count, double bound, double *out,
                                   tacit_error *error);

/* Tell the watch of values that came with their noise inside and are published as they are. */
void tacit_session_notify(const tacit_session *session, const double *values, size_t count);
/* Numbers that center servers opened: were they, in this place, in a run before? And if not, once they are:
 * written down as a release is, and told to the watch. */
tacit_status tacit_session_opened(tacit_session *session, bool *found, int64_t *values, size_t count,
                                  tacit_error *error);
tacit_status tacit_session_keep_opened(tacit_session *session, const int64_t *values, size_t count,
                                       tacit_error *error);

/* Randomness for the coordinator's half, the same when the half is run again; `purpose` sets uses apart. */
tacit_stream tacit_session_stream(const tacit_session *session, const char *purpose);

/* For long methods. checkpoint stores the half's state before the next question; resume, called at the start,
 * brings the latest one back (and the session to its round) or leaves *found false. */
tacit_status tacit_checkpoint(tacit_session *session, const tacit_message *state, tacit_error *error);
tacit_status tacit_resume(tacit_session *session, bool *found, tacit_message *state, tacit_error *error);
