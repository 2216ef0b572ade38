/*
 * What a coordinator writes down of a study's rounds for people to see: when each was asked and closed, how
 * many answered, and how much its result differs from the one before. A file of JSON lines in the
 * coordinator's folder, STUDY.rounds.jsonl; nothing depends on it, and no party is named in it.
 *
 * Privacy. The change is |s_t - s_(t-1)| / |s_(t-1)| of the sums s that the coordinator was told, written
 * only where everything in s is released anyway: with the noise of the parties (release kind charged), or by
 * a method without noise, which promises nothing. A sum that is entrusted to the coordinator, to be published
 * with noise, is told of by what was published. So a line is post-processing of what was charged for, and
 * costs nothing more.
 */
#pragma once

#include <jansson.h>

#include "session/session.h"

/* The values of a result, to compare the next of its kind with. */
typedef struct tacit_recorded {
    double *values;
    size_t length;
    char question[TACIT_ID_SIZE];
} tacit_recorded;

typedef struct tacit_recorder {
    const tacit_plan *plan;
    tacit_transport inner; /* asks */
    char path[4096], answers[4096];
    tacit_recorded sum, release;
    uint64_t published;
    tacit_watch watch;
} tacit_recorder;

/* Write down the rounds of a session from now on: its transport is wrapped, and what it publishes is watched.
 * The recorder must live as long as the session. */
tacit_status tacit_recorder_attach(tacit_recorder *recorder, tacit_session *session, const char *folder,
                                   tacit_error *error);
void tacit_recorder_clear(tacit_recorder *recorder);

/* The file that says who answered in which round, STUDY.answers.jsonl; each round's end brings it to the
 * disk. */
tacit_status tacit_rounds_answers_path(char *out, size_t size, const char *folder, const char *study,
                                       tacit_error *error);

/* The study begins again. */
void tacit_rounds_forget(const char *folder, const char *study);

/* {"rounds": [...], "published": [...]}, as written; both empty when there is no file. New reference. */
tacit_status tacit_rounds_read(json_t **out, const char *folder, const char *study, tacit_error *error);
