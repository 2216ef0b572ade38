/* What is to be said of a simulated run beside its figures. */
#pragma once

#include "lab/simulate.h"

/* Fill run->remark: why nothing can come of the plan, or why every test row gets the same class. */
void tacit_run_remark(const tacit_plan *plan, tacit_run *run);
