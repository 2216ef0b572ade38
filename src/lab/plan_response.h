/* Numbers and counts as labels of assumed rows (lab/plan_belief.h). */
#pragma once

#include "lab/plan_belief.h"
#include "model/family/family.h"

/* The family of a number or a count; NULL of classes, whose number says it. */
const tacit_family *plan_family(const tacit_schema *schema);

/* A model of rows without noise, for whatever kind of label the schema has. */
tacit_status plan_fit(tacit_model **out, const tacit_view *rows, const tacit_schema *schema,
                      const tacit_linear_fit *how, tacit_error *error);

/* Rows whose label is a number instead of a class. */
tacit_status plan_take_numbers(tacit_dataset *data, tacit_error *error);

/* Mean deviance of the rows' own mean; NaN of classes. */
double plan_null_deviance(const tacit_view *rows, const tacit_schema *schema);
double plan_null_of_tests(const tacit_world *world, const tacit_belief *belief);

/* Mean and deviation of the response: of given rows (TACIT_INPUT where all are alike), or from the bounds of
 * the schema. */
tacit_status plan_look_at_responses(tacit_belief *belief, tacit_error *error);
void plan_suppose_responses(tacit_belief *belief);

/* Responses for all rows by scores of mean 0 and deviation 1, of which they have the belief's signal; and
 * what the law itself scores on the tests. */
tacit_status plan_respond(tacit_world *world, const tacit_belief *belief, const double *score,
                          tacit_stream *stream, tacit_error *error);
