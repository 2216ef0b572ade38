/* What both formats write of a model: where its features come from, and what is promised. For the export's
 * files only. */
#pragma once

#include "model/export/export.h"

typedef enum export_kind {
    EXPORT_NUMBER,   /* a column of numbers: one feature */
    EXPORT_CATEGORY, /* a column of texts: a feature a level */
    EXPORT_COUNTS,   /* how often each term occurs in a text: a feature a term */
    EXPORT_VALUES,   /* features as they are */
} export_kind;

/* What the caller gives, in the order of the features. */
typedef struct export_input {
    export_kind kind;
    const char *name;
    const tacit_schema_column *column; /* NULL for values */
    size_t first, width;               /* of its features */
    double middle, half_width;         /* number: encoded as (x - middle)/half_width within its bounds */
    double fill;                       /* number: what a missing one becomes */
    bool indicator;                    /* number: a second feature is 1 where it is missing */
    bool refuses_missing;              /* a row without it gets no result */
} export_input;

/* How a row is brought inside the ball once its features stand side by side. */
typedef enum export_rows {
    EXPORT_ROWS_TIMES,  /* times `factor` */
    EXPORT_ROWS_UNIT,   /* times `factor` over its norm; a zero row stays zero */
    EXPORT_ROWS_CLIP,   /* times `factor` over its norm, or over `clip` where that is larger */
    EXPORT_ROWS_AS_ARE, /* encoded by the caller */
} export_rows;

typedef struct export_fact {
    const char *key; /* constant */
    char *value;
} export_fact;

enum { EXPORT_FACTS_MOST = 24 };

typedef struct export_plan {
    const tacit_model *model;
    size_t inputs;
    export_input *input;
    size_t raw;                   /* features of all inputs */
    const tacit_formula *formula; /* that makes them of the inputs; NULL: each input is some of them */
    export_rows rows;
    double factor, clip;
    bool intercept; /* one feature more, after the others and not scaled with them */
    double intercept_value;
    bool refuses_missing, refuses_unknown;
    char **feature;  /* names of all features; NULL: they are numbered */
    char prefix[64]; /* no input and no label starts with it: for names of our own */
    size_t facts;
    export_fact fact[EXPORT_FACTS_MOST];
    tacit_buffer words; /* the facts that matter most, as sentences */
} export_plan;

#define EXPORT_PLAN_INIT                                                                                     \
    { .words = TACIT_BUFFER_INIT }

/* Borrows the model. Clear it also after a failure. */
tacit_status export_plan_make(export_plan *out, const tacit_model *model, tacit_error *error);
void export_plan_clear(export_plan *plan);

/* The facts and words of a plan (export_facts.c). */
tacit_status export_plan_describe(export_plan *plan, tacit_error *error);

enum { EXPORT_CLASS_NAME = 24 };

/* The name of a class, or its number in `scratch` where it has none. */
const char *export_class_name(const tacit_model *model, size_t k, char scratch[EXPORT_CLASS_NAME]);
