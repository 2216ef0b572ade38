/*
 * A study's definition: what is asked of the parties, by which method, at which price. Written by the
 * consortium's statistician as YAML:
 *
 *   name: breast-cancer              # 1 to 40 of a-z 0-9 -
 *   title: Malignant or benign, from five clinics
 *   description: ...                 # what it is for; optional, like the next three
 *   approval: Ethics board 2026-114  # who approved it
 *   consent: consent.txt             # the document that owners consent to; it becomes part of the definition
 *   schedule: {from: 2027-01-01, until: 2027-03-31T18:00:00Z}   # UTC; nothing is asked outside
 *   method: avg
 *   set: {noise: coordinator}        # the method's settings; optional
 *   epsilon: 2                       # left out, like delta, for a method without noise
 *   delta: 0                         # optional
 *   lambda: 0.05                     # optional: left out, the method chooses from what is public
 *   parties: {expected: 5, minimum: 3}
 *   minimum_rows: 80                 # a party with fewer refuses
 *   patience: 30                     # seconds a round waits for stragglers; optional
 *   sum: masked                      # or paillier (one party holds a key), or clear: the coordinator sees every
 *                                    # contribution to a sum; optional
 *   key_bits: 2048                   # or 3072, of sum: paillier; optional
 *   dropouts: 0.1                    # the largest fraction of the parties that may vanish in a sum; optional
 *   colluders: 0.1                   # the largest fraction that helps the coordinator look, one party at least unless it is
 *                                    # 0; optional
 *   complete: no                     # yes: each party masks with every other one, also where there are more than 50; optional
 *   schema: breast_cancer.schema.yaml
 *   center: server-b.card            # of center server B, for methods that have one (center/center.h)
 *   stop: {rounds: 50}               # when there is enough (study/stop.h); optional
 *   auxiliary: public.csv            # public points, for methods that have them labelled; a label is not read
 *
 * Its canonical text carries the schema and the consent document themselves, and of the points, which go out separately, number and hash
 * (`auxiliary: {points: 114, hash: ...}`). It is what travels; parties consent to the hash of it. A definition that
 * came over the network is never allowed to name a file, nor a program to train with (local: exec:...). Of a look after the first
 * (study/stop.h) the canonical text ends with its number (`look: 2`); a file never has one.
 */
#pragma once

#include "base/pool.h"
#include "method/methods.h"
#include "study/stop.h"

/* Dropouts and colluders, each, of a study that says nothing of them. */
#define TACIT_STUDY_FRACTION 0.1

enum { TACIT_STUDY_BYTES_LIMIT = 2 << 20, TACIT_TITLE_SIZE = 200, TACIT_TIME_TEXT = 24 };

/* What the coordinator's authority signs a canonical text as (net/identity.h). */
#define TACIT_STUDY_PURPOSE "tacit study definition 1"

typedef struct tacit_study {
    char name[TACIT_ID_SIZE];
    char title[TACIT_TITLE_SIZE];
    char approval[TACIT_TITLE_SIZE];         /* "": none is named */
    tacit_buffer description, document;      /* plain text, several lines; empty: none */
    uint8_t document_hash[TACIT_HASH_BYTES]; /* BLAKE2b-256 of the consent document, its version */
    int64_t from, until;                     /* seconds since 1970; 0: no such bound */
    tacit_plan plan;
    unsigned patience_ms;
    tacit_stop stop;
    size_t first_parties; /* expected in the first look; plan.parties are those of this one */
    tacit_schema *schema;
    tacit_buffer canonical;
    uint8_t hash[TACIT_HASH_BYTES]; /* BLAKE2b-256 of the canonical text */

    char center_address[300];        /* of center server B; "" without */
    tacit_buffer center_certificate; /* of its authority, PEM */

    size_t point_count;                   /* public auxiliary points that belong to it; 0: none */
    uint8_t point_hash[TACIT_HASH_BYTES]; /* BLAKE2b-256 of their bytes (data/points_bytes.h) */
    tacit_buffer point_bytes;             /* those bytes, once they are here; so is plan.points then */
    tacit_dataset *point_rows;
    tacit_points points;
} tacit_study;

/* Read a file; `schema:`, `auxiliary:` and `center:` name files relative to it, and the points are here afterwards. TACIT_REFUSED
 * for a method that cannot be deployed. */
tacit_status tacit_study_load(tacit_study **out, const char *path, tacit_error *error);

/* Read a canonical text, e.g. one that came over the network. */
tacit_status tacit_study_parse(tacit_study **out, const char *text, size_t length, const char *name,
                               tacit_error *error);

/* Take in the bytes of the points, wherever they come from; `bytes` is moved when they are the study's, and untouched
 * when not: TACIT_REFUSED. They are checked against the hash before anything of them is read. */
tacit_status tacit_study_take_points(tacit_study *study, tacit_buffer *bytes, tacit_pool *pool,
                                     tacit_error *error);

/* The canonical text of the next look, appended. */
tacit_status tacit_study_next_look(const tacit_study *study, tacit_buffer *out, tacit_error *error);

/* The most bytes they can have. */
size_t tacit_study_point_limit(const tacit_study *study);

/* TACIT_REFUSED outside the study's schedule. */
tacit_status tacit_study_check_time(const tacit_study *study, int64_t now, tacit_error *error);

/* A moment of a schedule, as 2027-03-31T18:00:00Z; returns `out`. */
char *tacit_study_time_text(char out[TACIT_TIME_TEXT], int64_t seconds);

tacit_study *tacit_study_free(tacit_study *study);
