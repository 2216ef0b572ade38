/*
 * A study's definition: what is asked of the parties, by which method, at which price. Written by the
 * consortium's statistician as YAML:
 *
 *   name: breast-cancer
 *   title: Malignant or benign, from five clinics
 *   method: avg
 *   epsilon: 2
 *   parties: {expected: 5, minimum: 3}
 *   minimum_rows: 80
 *   schema: breast_cancer.schema.yaml
 *
 * study_table.h has a line for each setting, `tacit help study-settings` shows them.
 *
 * Its canonical text carries the schema, the consent document and the model that it is about themselves, and
 * of the points, which go out separately, number and hash (`auxiliary: {points: 114, hash: ...}`). It is what
 * travels; parties consent to the hash of it. A definition that came over the network is never allowed to
 * name a file, nor a program to train with (local: exec:...). Of a look after the first (study/stop.h) the
 * canonical text ends with its number (`look: 2`); a file never has one.
 */
#pragma once

#include "base/pool.h"
#include "crypto/prf/arms.h"
#include "crypto/prf/voprf.h"
#include "method/methods.h"
#include "study/stop.h"

/* Dropouts and colluders, each, of a study that says nothing of them. */
#define TACIT_STUDY_FRACTION 0.1

enum {
    TACIT_STUDY_BYTES_LIMIT = 2 << 20,
    TACIT_TITLE_SIZE = 200,
    TACIT_TIME_TEXT = 24,
    TACIT_CONTACT_KEY_BYTES = 32
};

/* What the coordinator's authority signs a canonical text as (net/identity.h). */
#define TACIT_STUDY_PURPOSE "tacit study definition 1"

/* Who may join (study_enrolment.c). */
typedef enum tacit_enrolment {
    TACIT_ENROL_INVITED,
    TACIT_ENROL_ACCEPTED, /* whoever asks and gets the researcher's yes */
    TACIT_ENROL_ANYBODY
} tacit_enrolment;

const char *tacit_enrolment_name(tacit_enrolment enrolment);

/* Arms, in the order of the levels of their column. */
typedef struct tacit_study_arms {
    size_t column; /* of the schema */
    size_t count;  /* 0: the study has none */
    unsigned weights[TACIT_ARMS_MOST];
    bool has_key; /* the coordinator has written its key */
    uint8_t key[TACIT_VRF_KEY_BYTES];
} tacit_study_arms;

typedef struct tacit_study {
    char name[TACIT_ID_SIZE];
#define TACIT_STUDY_NUMBER(name, ...) double name;
#define TACIT_STUDY_COUNT(name, ...) size_t name;
#define TACIT_STUDY_SWITCH(name, ...) bool name;
#define TACIT_STUDY_LINE(name, ...) char name[TACIT_TITLE_SIZE]; /* "": left out */
#include "study/study_table.h"
    tacit_buffer description, document;      /* plain text, several lines; empty: none */
    uint8_t document_hash[TACIT_HASH_BYTES]; /* BLAKE2b-256 of the consent document, its version */
    int64_t from, until;                     /* seconds since 1970; 0: no such bound */
    tacit_plan plan;
    bool by_files;        /* questions and answers may be carried by people */
    bool exchange_chosen; /* two, for shares of noise, by whoever read the definition */
    bool lambda_chosen;   /* the definition has none, so that the method or a plan may choose it */
    tacit_stop stop;
    size_t first_parties; /* expected in the first look; plan.parties are those of this one */
    /* of the first look's parties, plan.expected_rows of this one's; 0: nothing was said */
    size_t expected_rows;
    tacit_enrolment enrolment;
    struct tacit_condition *eligible;            /* of one row of a party at least; NULL: everybody is */
    char derived_from[2 * TACIT_HASH_BYTES + 1]; /* permanent id of an archived study; "": none */
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

    tacit_study_arms arms;
    bool has_receipts, has_contact;
    uint8_t receipt_key[TACIT_VOPRF_ELEMENT_BYTES], contact_key[TACIT_CONTACT_KEY_BYTES];

    tacit_buffer *instruments; /* questionnaires as they are written, signatures included */
    size_t instrument_count;

    tacit_model *model;                   /* that it is about; NULL: none */
    tacit_buffer model_text;              /* as the canonical text has it */
    uint8_t model_hash[TACIT_HASH_BYTES]; /* BLAKE2b-256 of that */
} tacit_study;

/* Read a file; `schema:`, `auxiliary:` and `center:` name files relative to it, and the points are here
 * afterwards. TACIT_REFUSED for a method that cannot be deployed. */
tacit_status tacit_study_load(tacit_study **out, const char *path, tacit_error *error);

/* Read a canonical text, e.g. one that came over the network. */
tacit_status tacit_study_parse(tacit_study **out, const char *text, size_t length, const char *name,
                               tacit_error *error);

/* Read a text that was written for a new study and names no file: schema, consent document and model stand in
 * it. As with a file, a lambda may be left out. */
tacit_status tacit_study_compose(tacit_study **out, const char *text, size_t length, const char *name,
                                 tacit_error *error);

/* Take in the bytes of the points, wherever they come from; `bytes` is moved when they are the study's, and
 * untouched when not: TACIT_REFUSED. They are checked against the hash before anything of them is read. */
tacit_status tacit_study_take_points(tacit_study *study, tacit_buffer *bytes, tacit_pool *pool,
                                     tacit_error *error);

/* The canonical text of the next look, appended. */
tacit_status tacit_study_next_look(const tacit_study *study, tacit_buffer *out, tacit_error *error);

/* Expect this many rows of all parties together, in a definition that says nothing about that; fewer than its
 * parties must have change nothing. */
tacit_status tacit_study_expect_rows(tacit_study *study, size_t rows, tacit_error *error);

/* Another lambda, tried on public rows, for a study whose definition has none: canonical text and hash
 * follow. */
tacit_status tacit_study_set_lambda(tacit_study *study, double lambda, tacit_error *error);

/* The rounds and rates that the definition leaves to the method become part of it (tacit_plan_settle), except
 * in a study with looks, whose later ones have other rows: canonical text and hash follow. */
tacit_status tacit_study_settle(tacit_study *study, tacit_error *error);

/* Write the coordinator's keys, where the study has arms or a compensation: canonical text and hash
 * follow. */
tacit_status tacit_study_set_keys(tacit_study *study, const uint8_t arms[TACIT_VRF_KEY_BYTES],
                                  const tacit_voprf_element *receipts, tacit_error *error);

/* The name of an arm; borrowed. */
const char *tacit_study_arm_name(const tacit_study *study, size_t arm);

/* The most bytes they can have. */
size_t tacit_study_point_limit(const tacit_study *study);

/* The schema as an owner keeps it, into a file: its terms and its subset are the study's affair. */
tacit_status tacit_study_write_schema(const tacit_study *study, const char *path, tacit_error *error);

/* TACIT_REFUSED outside the study's schedule. */
tacit_status tacit_study_check_time(const tacit_study *study, int64_t now, tacit_error *error);

/* A moment of a schedule, as 2027-03-31T18:00:00Z; returns `out`. */
char *tacit_study_time_text(char out[TACIT_TIME_TEXT], int64_t seconds);

tacit_study *tacit_study_free(tacit_study *study);
