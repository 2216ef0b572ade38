/*
 * Lambda by cross-validation inside the rows that a model is fitted to: for yardsticks, which promise no
 * privacy and are to be as good as such a model can be. Never for a private one, whose lambda would then tell
 * of rows.
 */
#pragma once

#include "model/model.h"

/*
 * The lambda of least log-loss on rows held out, of eleven: 100/n (at most 1), and down from there by half a
 * decade each. Five folds, or one of them where there are more than 20,000 rows. A row's fold follows from
 * what is in it, so that neither the order of the rows nor where they lie plays a part, and equal rows are in
 * one fold. `fit` as for tacit_model_fit_linear, whose lambda is not read; with a reducer every holder calls.
 * Too few rows to hold any out: 1/n.
 */
tacit_status tacit_model_validate_lambda(double *out, const tacit_view *rows, const tacit_linear_fit *fit,
                                         tacit_error *error);
