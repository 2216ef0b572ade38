/*
 * A schema is what is publicly known about the columns before anybody looks at the rows: names, bounds,
 * levels, vocabularies, classes. It alone fixes the map of a row into the unit ball; no statistic of private
 * rows enters. Whatever was read off rows all the same, by a draft for instance, carries the mark `from:
 * rows`, which stays with the schema wherever it goes. With one mark anywhere nothing is promised, and no
 * ledger, release, study or party takes the schema: its owner replaces the value by one that is public, and
 * then removes the mark.
 *
 *   label:
 *     name: diagnosis
 *     classes: [benign, malignant]   # class 0, class 1, ...; of two the second is the positive one
 *     others: benign                 # optional: values that are no class count as this one
 *     missing: complete-case         # optional; or error (the default), or unlabelled: such rows are kept
 *                                    without a label # or, for a response that is no class: {name: y, kind:
 *                                    number, low: 0,
 *                                    high: 9}, # {name: visits, kind: count, low: 0, high: 50}; or of two
 *                                    columns, the time until # something happened (1) or was last known not
 *                                    to have (0): # {name: [days, died], kind: time, low: 0, high: 3650}; of
 *                                    three where rows are observed from a time on: # {name: [since, until,
 *                                    died], ...}
 *   columns:                         # in order; columns of a file that are not named here are not read
 *     - {name: age, kind: number, low: 0, high: 120}
 *     - {name: spent, kind: number, low: 0, high: 5000, mean: 90, sd: 250}
 *         # both or neither; as low and high, public
 *     - {name: born, kind: number, date: age at 2020-01-01, low: 0, high: 110}
 *         # a date in the file (date.h); or age at COLUMN, another date of the same row
 *     - {name: sex, kind: category, levels: [f, m]}
 *     - {name: shop, kind: category, levels: [food, fuel, other], coding: effect}
 *         # or indicator, the default
 *     - {name: ward, kind: category, levels: [A, B, other], others: other}
 *         # texts that are no level count as this one
 *     - {name: grade, kind: category, levels: ["1", "2"], recode: {I: "1", II: "2"}}
 *         # texts that stand for a level; classes of a label have it, too
 *     - {name: weight, kind: number, low: 0, high: 300, missing: indicator}
 *         # or error, complete-case, fill, {fill: 70}
 *     - {name: smokes, kind: category, levels: [no, yes], missing: level}
 *         # or error, complete-case, fill, {fill: no}
 *     - {name: id, kind: skip}
 *     - {name: note, kind: text, hash: 65536}            # or terms: [fever, "short of", ...], the
 *                                                        vocabulary; with
 *                                    # idf: [1.2, 3.4, ...] a weight for each; grams: 2 (default 1); strip:
 *                                    news
 *   person: patient                  # optional: the column that says whose row it is; no feature is made of
 *                                    it. For methods that # promise something per person, however many rows
 *                                    one has
 *   missing: fill                    # default of all columns; or `error`, `complete-case`, `impute`
 *   strict: no                       # default; yes: a text that is no level is an error
 *   intercept: yes                   # default
 *   rows: bound                      # default; or scaled, unit, or {clip: C}
 *   terms: y ~ age + log(dose)*sex   # optional: features are the columns of this formula (formula/formula.h)
 *                                    # rather than one column after the other; it decides about the intercept
 *   subset: age > 50 & sex == "f"    # optional: rows to learn from, or to judge a model by, are those for
 *                                    which # this holds (formula/condition.h); of others nothing is kept or
 *                                    counted
 *
 * The mark stands beside what it is about: in a label (classes, or low and high), in a column (bounds, mean
 * and sd, levels, terms and idf, or that it is skipped), in rows: {clip: C, from: rows}, and in sparse:
 * {features: D, from: rows}.
 *
 * Encoding. A number becomes 2 (x - low)/(high - low) - 1 in [-1, 1], or (x - mean)/sd where these are given;
 * a value outside its bounds is moved to the nearest bound and counted. A category becomes one feature a
 * level, 1 for its own level and 0 elsewhere; with effect coding it has one feature less, and its last level
 * is -1 in all of them. A text becomes the counts of its terms (vocabulary.h) times their weights, divided by
 * their norm: none is negative. A missing number is encoded as 0, the midpoint of its bounds or its mean, a
 * missing or unknown level as all zeros, unless the column says otherwise (missing.h). Then the row is
 * brought inside the unit ball:
 *   bound    divided by the largest norm the schema permits, sqrt(numbers + categories + texts), or more
 *            where a standardised number reaches beyond 1, or a last level of k features has norm sqrt(k);
 *   unit     divided by its own norm; a zero row stays zero;
 *   clip: C  divided by C, and by its norm where that is still above 1; scaled: C^2 = an eighth of bound's
 *            square.
 * With an intercept, x <- (x, 1)/sqrt(2). A last factor of 1 - O(d eps) keeps the norm, as computed in any
 * order of summation, at most 1.
 *
 * A LIBSVM file has no columns to describe; its schema says `sparse: D` (the number of features) instead
 * of `columns`. Values are used as they are, so `rows` must be unit or clip.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "data/formula/condition.h"
#include "data/formula/formula.h"
#include "data/schema/levels.h"
#include "data/schema/missing.h"
#include "data/schema/vocabulary.h"
#include "data/table.h"

typedef enum tacit_schema_kind {
    TACIT_SCHEMA_NUMBER,
    TACIT_SCHEMA_CATEGORY,
    TACIT_SCHEMA_SKIP,
    TACIT_SCHEMA_TEXT,
} tacit_schema_kind;

typedef enum tacit_schema_rows {
    TACIT_ROWS_BOUND,
    TACIT_ROWS_UNIT,
    TACIT_ROWS_CLIP,
} tacit_schema_rows;

/* What the label is: one of some classes, or a numeric response. */
typedef enum tacit_response {
    TACIT_RESPONSE_CLASS,
    TACIT_RESPONSE_NUMBER,
    TACIT_RESPONSE_COUNT, /* whole numbers from 0 */
    TACIT_RESPONSE_TIME,  /* and whether the event was seen then, 0 or 1: two columns */
    TACIT_RESPONSES
} tacit_response;

enum { TACIT_RESPONSE_COLUMNS = 3 }; /* most of a label */

/* How many columns a label of that kind has, a time without one of when a row came under observation. */
static inline size_t tacit_response_columns(tacit_response response) {
    return response == TACIT_RESPONSE_TIME ? 2 : 1;
}

typedef struct tacit_schema_column {
    char *name;
    tacit_schema_kind kind;
    double low, high;      /* number: finite, low < high */
    double mean, sd;       /* number: standardised by them, unless sd is 0 */
    tacit_date date;       /* number: made of a date */
    char *date_at;         /* the same: age at the date in this column of the row; NULL: at a fixed day */
    int32_t others;        /* category: the level of texts that are none; -1: they become zeros */
    bool effect;           /* category: effect coding, not indicators */
    tacit_missing missing; /* what becomes of a missing value; TACIT_MISSING_DEFAULT: what the schema says */
    double fill;           /* number: with TACIT_MISSING_VALUE */
    int32_t fill_level;    /* category: the same */
    bool from_rows;        /* something of it was read off rows */
    tacit_levels levels;   /* category: at least one */
    tacit_recode recode;   /* category: texts that stand for a level */
    tacit_vocabulary text; /* text */
    char *note;            /* written as a comment beside the column; may be NULL; not part of the schema */
} tacit_schema_column;

typedef struct tacit_schema {
    char *label; /* its column; of several the first */
    char *event; /* the second column of a time; else NULL */
    /* of a time the column that says since when a row is observed, the third number of its response; NULL:
     * none */
    char *entry;
    tacit_levels causes; /* of the event, where it has several: the column holds 1 for the first, and so on */
    char *person;        /* the column that says whose row it is; NULL: none is named */
    tacit_response response;
    double low,
        /* of a numeric response: values outside are moved to the nearest bound; a time beyond `high` counts
         * as one at which the event was not seen yet */
        high;
    tacit_levels classes; /* at least two; none when the response is numeric */
    tacit_recode recode;  /* texts that stand for a class */
    int32_t others;       /* the class of values that are none of the classes; -1: they are errors */
    size_t cols, column_capacity;
    tacit_schema_column *columns;
    size_t sparse;               /* > 0: rows of that many features as in LIBSVM, and no columns */
    bool missing_is_error;       /* what columns do that do not say it themselves: this, */
    bool complete_case, imputes; /* or one of these, or else they fill */
    tacit_missing label_missing; /* default, error, complete-case or unlabelled */
    bool strict;
    bool intercept;
    tacit_schema_rows rows;
    double clip;                                            /* C, with TACIT_ROWS_CLIP */
    bool label_from_rows, sparse_from_rows, clip_from_rows; /* these were read off rows */
    tacit_formula *formula;  /* the terms that features are made of; NULL: each column by itself */
    tacit_condition *subset; /* which rows; NULL: all */
} tacit_schema;

/* How many numbers a row's response has. */
static inline size_t tacit_schema_response_columns(const tacit_schema *schema) {
    return tacit_response_columns(schema->response) + (schema->entry != NULL);
}

enum {
    TACIT_SCHEMA_BYTES_LIMIT = 4 << 20,
    TACIT_FEATURE_LIMIT = 50000001,
    TACIT_FROM_ROWS_TEXT = 300,
};

/* Read YAML. Errors name file:line; unknown and repeated keys are refused. */
tacit_status tacit_schema_load(tacit_schema **out, const char *path, tacit_error *error);
/* The same, then tacit_schema_set_terms and tacit_schema_set_subset of what is not NULL; and these of a
 * schema that is there, which becomes *out or is freed. */
tacit_status tacit_schema_take_terms(tacit_schema **out, tacit_schema *schema, const char *terms,
                                     const char *subset, tacit_error *error);
tacit_status tacit_schema_load_terms(tacit_schema **out, const char *path, const char *terms,
                                     const char *subset, tacit_error *error);
tacit_status tacit_schema_parse(tacit_schema **out, const char *text, size_t length, const char *name,
                                tacit_error *error);

/* Have features made of the terms of a formula from now on (NULL: of each column by itself). TACIT_USAGE
 * names the place in the text; the schema is then unchanged. */
tacit_status tacit_schema_set_terms(tacit_schema *schema, const char *terms, tacit_error *error);

/* The same with weights of rows (a column; NULL: none), which become part of the formula: weights(COLUMN). */
tacit_status tacit_schema_set_model(tacit_schema *schema, const char *terms, const char *weights,
                                    tacit_error *error);

/* Which rows the schema is about: those for which the condition holds (NULL: all). As
 * tacit_schema_set_terms. */
tacit_status tacit_schema_set_subset(tacit_schema *schema, const char *subset, tacit_error *error);

/* What rows are that a model is judged by: `schema` gets the terms and the subset of the model's schema where
 * it has none of its own. `by`, a category or NULL: with terms, rows are told apart by its levels, too
 * (subgroups(COLUMN) in the formula). */
tacit_status tacit_schema_take_model(tacit_schema *schema, const tacit_schema *model, const char *by,
                                     tacit_error *error);
/* The same with a copy of the model's schema. */
tacit_status tacit_schema_for_model(tacit_schema **out, const tacit_schema *model, const char *by,
                                    tacit_error *error);
/* TACIT_USAGE, with the first difference, unless `schema` is that copy, of whatever subset. */
tacit_status tacit_schema_check_model(const tacit_schema *schema, const tacit_schema *model, const char *by,
                                      tacit_error *error);

/* Whether features are made of a column. */
bool tacit_schema_uses(const tacit_schema *schema, size_t column);

/* Whether it weighs the rows: those that are only predicted need none. */
bool tacit_schema_is_weights(const tacit_schema *schema, size_t column);

/* Append the schema as YAML that reads back the same; each line of `comment` (may be NULL) goes on top as
 * a comment, and the notes of columns beside them. */
tacit_status tacit_schema_print(const tacit_schema *schema, const char *comment, tacit_buffer *out,
                                tacit_error *error);
tacit_status tacit_schema_save(const tacit_schema *schema, const char *comment, const char *path,
                               tacit_error *error);

/* Append the canonical text: the same bytes for the same schema however its file was laid out. This is
 * what is hashed. */
tacit_status tacit_schema_canonical(const tacit_schema *schema, tacit_buffer *out, tacit_error *error);

/* Append `key: "text"`, as YAML reads it back. */
tacit_status tacit_schema_print_line(tacit_buffer *out, const char *key, const char *text,
                                     tacit_error *error);

/* Was anything of it read off rows? */
bool tacit_schema_is_from_rows(const tacit_schema *schema);

/* What was, for people: "the classes of 'outcome'; the columns 'age', 'weight' and 3 more". Returns `out`; ""
 * for nothing. */
const char *tacit_schema_from_rows_text(const tacit_schema *schema, char out[TACIT_FROM_ROWS_TEXT]);

/* TACIT_REFUSED, with what and the remedy, where something was. Everything that publishes or charges asks
 * this first. */
tacit_status tacit_schema_check_public(const tacit_schema *schema, tacit_error *error);

/* A schema drafted from data: bounds are the extremes rounded outwards to two significant digits, levels
 * and classes those that occur, `rows: {clip: C}` with C the largest norm, rounded likewise. NOT PRIVATE:
 * bounds, levels and C are read off the rows, and marked so. For a first draft that its owner edits, and for
 * simulations that say so. Constant columns, and those with more than TACIT_LEVEL_LIMIT texts, are skipped
 * with a note.
 *
 * `label` NULL is the last column; `positive` NULL makes the larger class positive (numeric order when all
 * classes are numbers, else that of strcmp). A `positive` given with more than two classes makes two: it,
 * and all the others. TACIT_USAGE when label or positive is not in the table.
 *
 * A draft for people (`tidy`) makes the rarer of two classes positive, where none is named, leaves out
 * identifiers and columns with a text of its own in nearly every row, and puts rare levels together. */
typedef struct tacit_draft_options {
    const char *label, *positive; /* may be NULL */
    tacit_response response;      /* class, or a numeric one, whose bounds are read off the rows too */
    bool tidy;
    bool unlabelled; /* rows without a label are kept as such, not refused */
} tacit_draft_options;

tacit_status tacit_schema_draft(tacit_schema **out, const tacit_table *table,
                                const tacit_draft_options *options, tacit_error *error);

/* "class", "number", "count", "time". */
const char *tacit_response_name(tacit_response response);

/* Set the schema's classes to `values` (distinct, in any order), sorted as above, with `positive` as above.
 * `label` and `file` are for messages. For readers that draft a schema themselves. */
tacit_status tacit_schema_set_classes(tacit_schema *schema, const tacit_levels *values, const char *positive,
                                      const char *file, tacit_error *error);

/* The nearest number of two significant digits that is not smaller (not larger). */
double tacit_round_up(double value);
double tacit_round_down(double value);

/* An empty schema with the defaults. */
tacit_status tacit_schema_create(tacit_schema **out, tacit_error *error);

/* Add a column, borrowed until the next one is added. */
tacit_status tacit_schema_add_column(tacit_schema *schema, tacit_schema_column **out, const char *name,
                                     tacit_schema_kind kind, tacit_error *error);

/* The comment that warns of the above, for tacit_schema_print. */
extern const char tacit_schema_draft_comment[];

/* Of the event of a time: at least one. */
static inline size_t tacit_schema_causes(const tacit_schema *schema) {
    return schema->causes.count > 0 ? schema->causes.count : 1;
}

/* How many features an encoded row has, the intercept included. */
size_t tacit_schema_features(const tacit_schema *schema);

/* How many levels a category has, that of missing values included, which is the last. */
size_t tacit_schema_column_levels(const tacit_schema_column *column);

/* How many features a column becomes. */
size_t tacit_schema_column_features(const tacit_schema_column *column);

/* The square of the largest norm that a column's features can have: 1 for most. */
double tacit_schema_column_reach(const tacit_schema_column *column);

/* The expected share of features of a row that are not zero: every number, one level a category, a hundred
 * terms a text, the intercept. */
double tacit_schema_density(const tacit_schema *schema);

/* Can no feature be negative, whatever the row? So it is with texts and categories only. */
bool tacit_schema_nonnegative(const tacit_schema *schema);

/* The names of all features: "age", "age (missing)", "sex=f", "note=short of", "note#17" where terms are
 * hashed, "(intercept)". NULL for a sparse schema, whose features are numbered. Out: an array freed by
 * tacit_feature_names_free. */
tacit_status tacit_schema_feature_names(char ***out, const tacit_schema *schema, tacit_error *error);
char **tacit_feature_names_free(char **names, size_t count);

tacit_schema *tacit_schema_free(tacit_schema *schema);
