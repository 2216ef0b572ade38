/*
 * A model card: what a model is, what it was made of, how good it is, what was promised, and what it is not
 * for; made of the model's file, and of reports and the study's definition where they are given.
 */
#pragma once

#include <jansson.h>

#include "model/model.h"
#include "study/study.h"

/* Whose rows a model was evaluated on. */
typedef enum tacit_card_rows {
    TACIT_CARD_ROWS_UNKNOWN,
    TACIT_CARD_ROWS_TRAINED, /* of the study that made it, or of its parties */
    TACIT_CARD_ROWS_OTHERS,  /* of parties that came after it was made */
} tacit_card_rows;

typedef struct tacit_card_evaluation {
    tacit_model *report;
    tacit_card_rows rows;
} tacit_card_evaluation;

/* As far as the two files say. */
tacit_card_rows tacit_card_rows_of(const tacit_model *model, const tacit_model *report);

typedef struct tacit_model_card {
    const tacit_model *model;
    const char *file;                        /* its name, without folders */
    const char *written;                     /* when, as 2027-03-31T18:00:00Z; NULL: unknown */
    const char *hash;                        /* BLAKE2b-256 of the file, in hexadecimal digits */
    const tacit_card_evaluation *evaluation; /* reports, `evaluations` of them */
    size_t evaluations;
    const tacit_model *describe; /* a report; NULL: none */
    const tacit_study *study;    /* the definition; NULL: none was given */
    const char *const *party;    /* names of those who took part; NULL: none are known */
    size_t parties;
} tacit_model_card;

/* Whether two files belong to one another: TACIT_USAGE for a "report" that is a model, or is of another kind,
 * for a model that is a report, and for a definition of another study. */
tacit_status tacit_model_card_check(const tacit_model_card *card, tacit_error *error);

/* As Markdown or HTML (card_page.h). */
tacit_status tacit_model_card_print(const tacit_model_card *card, bool html, tacit_buffer *out,
                                    tacit_error *error);

/* The same as a document; NULL: out of memory. */
json_t *tacit_model_card_document(const tacit_model_card *card);
