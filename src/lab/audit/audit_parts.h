/* What the files of the table of audits share. */
#pragma once

#include "lab/audit/audit.h"

/* The table's entries that have a file of their own. */
extern const tacit_auditable tacit_audit_output, tacit_audit_plr, tacit_audit_gop;
extern const tacit_auditable tacit_audit_dpiw, tacit_audit_dphtl;
extern const tacit_auditable tacit_audit_dpnewton, tacit_audit_dpnewton_softmax, tacit_audit_dpnewton_linear,
    tacit_audit_dpnewton_poisson, tacit_audit_dpnewton_thin, tacit_audit_dpnewton_person,
    tacit_audit_dpnewton_missing, tacit_audit_dpnewton_person_rows, tacit_audit_dpnewton_folds;
extern const tacit_auditable tacit_audit_dpnewton_inference, tacit_audit_dpnewton_inference_thin;
extern const tacit_auditable tacit_audit_dpnewton_line, tacit_audit_dpnewton_line_thin;
extern const tacit_auditable tacit_audit_dpgd, tacit_audit_psgd, tacit_audit_psgd_claim;
extern const tacit_auditable tacit_audit_dpstgd, tacit_audit_dpstgd_claim;
extern const tacit_auditable tacit_audit_dpsgd, tacit_audit_dpsgd_batches;

/* Whether the user gave this setting (--set); and a value for one that the user did not give. */
bool audit_is_set(const tacit_audit_setup *setup, const char *name);
tacit_status audit_set_default(tacit_plan *plan, const tacit_audit_setup *setup, const char *name,
                               const char *value, tacit_error *error);

/* Two stored rows of class 1 at the origin, twice: row 0 is the one that differs, row 1 is everybody's. The
 * first party has row 0 once and row 1 rows - 1 times, every other row 1 only. The caller moves them. */
tacit_status audit_start_pair(tacit_pair *out, size_t features, size_t parties, size_t rows,
                              tacit_error *error);

/* One of `rows` rows is turned against the rest, so that along the second axis only the regulariser resists
 * (logistic loss; audit_table.c has the argument). The plan's lambda is set. */
tacit_status audit_turned_row(tacit_pair *out, char text[TACIT_AUDIT_TEXT], size_t parties, size_t rows,
                              tacit_error *error);

/* What a method that asks several questions and adds Gaussian noise to each is charged for all of them:
 * `plan` is checked and priced, `exact` becomes the same without noise, and `charged` the distance of answers
 * that the price is about, in the noise of all questions. `thin`: `plan` gets the noise of a price at which
 * each question alone costs what all are charged. */
tacit_status audit_charge_questions(tacit_audit_case *out, tacit_plan *plan, tacit_plan *exact,
                                    size_t questions, bool thin, double *charged, tacit_error *error);

/* Ask for the sum of a question that carries weights (none of them: nothing). */
tacit_status audit_ask_at(tacit_session *session, const char *question, const double *weights, size_t count,
                          const tacit_sum_spec *spec, tacit_sum *sum, tacit_error *error);

/* How far apart the answers of both sides are without noise, of `sensitivity`. */
typedef tacit_status audit_draw(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                tacit_error *error);
tacit_status audit_measure_reach(tacit_audit_case *out, audit_draw *draw, double sensitivity,
                                 tacit_error *error);

/* A whole number of rows from 2 to 100,000. */
size_t audit_rows(double wanted);
