/* What is to be said of a simulated run beside its figures. */
#pragma once

#include "lab/simulate.h"

/* Fill run->remark: why nothing can come of the plan, why every test row gets the same class, or why a model
 * is no better than one that looks at no column: the commonest class, each class's share or the mean of these
 * rows for everybody. A deployed study has no test rows: model/one_sided.h says what it can of its model. */
tacit_status tacit_run_remark(const tacit_plan *plan, const tacit_view *test, tacit_run *run,
                              tacit_error *error);

/* Where classes are learnt, say in the remark of private runs that parties alone do better: by the figures of
 * a yardstick that is among the runs, or, for methods whose parties train models and label public points, by
 * training the models of some parties for this, in one process. Nothing is said within two standard
 * errors. */
tacit_status tacit_runs_beside_alone(const tacit_simulation *simulation, tacit_run *runs, size_t count,
                                     tacit_error *error);
