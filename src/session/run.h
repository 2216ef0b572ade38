/*
 * One way to run a method, whoever runs it: with parties simulated in this process (local.h), with one's own
 * rows alone (site/fit.h), or as a coordinator and sites of a study. Each brings a transport, what it keeps,
 * and its source of random numbers; party, session and guarantee are made here, and nobody else calls a
 * method's coordinate.
 */
#pragma once

#include "session/party.h"
#include "session/session.h"

/* A party as its handler sees it, for one question; what only some have (role, keep, masks, reducer...) is
 * set by the caller. `noise` has entropy where the gate is a real party's, and else a stream. */
tacit_party tacit_run_party(const tacit_plan *plan, const char *coordinator, const char *study,
                            tacit_view rows, size_t total_rows, tacit_noise_source noise, tacit_memo *memo,
                            tacit_gate *gate);

/* A session of the plan. What is random in the coordinator's half, but not its noise, is forked from
 * `stream`; NULL: the caller fills session.secret. Noise that is published comes from session.entropy, or
 * where the caller leaves that NULL, as in a simulation, from the secret. */
tacit_session tacit_run_session(const tacit_plan *plan, const tacit_transport *transport,
                                const tacit_stream *stream, tacit_pool *pool, const tacit_progress *progress);

/* Run the coordinator's half. */
tacit_status tacit_run_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error);

/* What the model of a run promises: with noise from a seed it is a simulation's, without noise nothing. */
tacit_guarantee tacit_run_guarantee(const tacit_plan *plan, const tacit_price *charged,
                                    const tacit_price *claimed, const tacit_outcome *outcome, bool simulated);
