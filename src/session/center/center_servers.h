/*
 * The two center servers of a method that computes on numbers nobody sees (Wang 2018, figure 5.1). Server A
 * is the coordinator's half: it asks the nodes and adds up their ciphertexts. Server B holds the key of these
 * ciphertexts and never sees one that is not masked by A. What they compute together is one function, the
 * method's `compute`, which both run at the same time, each on its own shares (crypto/linear/secure.h): where
 * A asks the nodes, B waits; what is opened, both see. Its control flow follows from the plan and from what
 * is opened.
 *
 * Deployed, B is a process of its own (center/center.h) and the channel is TLS. In a simulation B is a thread
 * at the far end of a channel in memory, which runs the same code; its key is one that everybody can read in
 * the source, since a simulation has nothing to hide.
 *
 * Crashes. A journals what was opened. Run again from the start, it tells B what is known, and both skip that
 * computation; conversions are drawn again, so that two openings of one number never meet.
 */
#pragma once

#include "crypto/linear/secure.h"
#include "session/party.h"
#include "session/session.h"

/* How A reaches B. */
struct tacit_center_link {
    tacit_channel *channel;
    const tacit_paillier_public *key; /* B's */
};

/* What a run cost, for reports. */
typedef struct tacit_center_report {
    size_t iterations;
    double node_seconds;   /* A waited for nodes: they computed in the clear and encrypted */
    double center_seconds; /* the two servers computed */
    tacit_secure_costs costs;
} tacit_center_report;

/* One of the two servers at work. */
typedef struct tacit_center_server {
    tacit_role role; /* TACIT_GARBLER: A; TACIT_EVALUATOR: B */
    const tacit_plan *plan;
    tacit_session *session; /* of A; NULL at B */
    tacit_channel *channel;
    const tacit_paillier_public *key;
    const tacit_paillier_secret *secret; /* of B; NULL at A */
    tacit_noise_source noise;            /* this server's own */
    tacit_entropy *entropy;
    tacit_pool *pool; /* may be NULL */
    tacit_center_report report;
} tacit_center_server;

/* The coordinator's half of every method with center servers: run `compute` as A, with B at the far end of
 * session->center or, in a simulation, on a thread of its own. */
tacit_status tacit_center_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error);

/* B's half, over a channel to A: returns when A is done. */
tacit_status tacit_center_assist(const tacit_plan *plan, tacit_channel *channel,
                                 const tacit_paillier_secret *secret, tacit_pool *pool, tacit_error *error);

/* A sends a public number to B, so that both have it. */
tacit_status tacit_center_share_public(tacit_center_server *center, int64_t *values, size_t count,
                                       tacit_error *error);

/* Every wait of this server ends this many milliseconds from now. */
void tacit_center_set_timeout(tacit_center_server *center, int64_t milliseconds);

/* Have `count` numbers been opened in this place before a crash? Then both servers have them. */
tacit_status tacit_center_known(tacit_center_server *center, bool *known, int64_t *values, size_t count,
                                tacit_error *error);
/* Otherwise, once they are opened: A writes them down. */
tacit_status tacit_center_keep(tacit_center_server *center, const int64_t *values, size_t count,
                               tacit_error *error);

/* The key that a question carries, kept with the party's memo (or owned by the caller through *owned when
 * there is none). TACIT_REFUSED unless it is the one that the study names; a simulated study names none. */
tacit_status tacit_party_center_key(tacit_party *party, const tacit_question *question,
                                    const tacit_paillier_public **out, tacit_paillier_public **owned,
                                    tacit_error *error);

/* The key of simulations. */
tacit_status tacit_center_simulated_key(tacit_paillier_secret **out, tacit_error *error);
