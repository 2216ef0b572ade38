/* The fields of a PMML document: what the caller gives, what is derived from it, and the expressions between.
 * For the export's files only. */
#pragma once

#include "model/export/export_parts.h"
#include "model/export/export_xml.h"

enum { PMML_NAME = 128 };

typedef struct pmml_name {
    char text[PMML_NAME];
} pmml_name;

typedef struct pmml {
    const export_plan *plan;
    xml_writer x;
    const char *label;  /* the target's name */
    tacit_levels taken; /* names of fields */
} pmml;

/* The name of one of our own fields: the plan's prefix, a word and a number from 1. */
pmml_name pmml_own(const pmml *p, const char *word, size_t number);

/* The name of encoded feature j, from 0. */
pmml_name pmml_feature(const pmml *p, size_t j);

/* Note all names that the caller gives values by. TACIT_INPUT when one appears twice. */
tacit_status pmml_take_names(pmml *p, tacit_error *error);

void pmml_data_dictionary(pmml *p);
void pmml_mining_schema(pmml *p, bool with_target);

/* The derived fields that are the model's features. */
void pmml_encoding(pmml *p);

/* Expressions: pmml_apply opens one, its operands follow, pmml_end closes it. `missing` may be NULL: what it
 * gives when an operand is missing. */
void pmml_apply(pmml *p, const char *function, const char *missing);
void pmml_end(pmml *p);
void pmml_ref(pmml *p, const char *field);
void pmml_constant(pmml *p, double number);
void pmml_text_constant(pmml *p, const char *text);

/* Score k of the leaf that a row ends in, of `each` scores a node. */
void pmml_tree(pmml *p, const tacit_tree *tree, size_t each, const double *scores, size_t k);

/* A derived number: its expression follows, then pmml_derived_end. `shown` may be NULL. */
void pmml_derived(pmml *p, const char *name, const char *shown);
void pmml_derived_end(pmml *p);
