/* What a method prepares from its plan (tacit_method.prepare): worked out once, and handed to both halves. */
#pragma once

#include <pthread.h>

#include "session/method.h"

/* Fill `out` with what the method of the plan prepares: from *place, if that was made for an equal plan, or
 * worked out now and kept there instead. Pointers in it are borrowed until *place is freed or filled for
 * another plan. */
tacit_status tacit_prepared_take(tacit_prepared **place, const tacit_plan *plan, void *out,
                                 tacit_error *error);

tacit_prepared *tacit_prepared_free(tacit_prepared *prepared);

/* The same where nothing is kept: before a run, or where a plan is only asked about. Of methods whose struct
 * has no pointers. */
tacit_status tacit_plan_prepared(const tacit_plan *plan, void *out, tacit_error *error);

/* What the method charges under the plan, its noise, or both; prepared once for the call. A method without
 * noise leaves that of tacit_plan_declare as it is, and is not asked for tacit_plan_noise. */
tacit_status tacit_plan_price(const tacit_plan *plan, tacit_prices *out, tacit_error *error);
tacit_status tacit_plan_noise(const tacit_plan *plan, tacit_noise_law *out, tacit_error *error);
tacit_status tacit_plan_declare(const tacit_plan *plan, tacit_prices *prices, tacit_noise_law *noise,
                                tacit_error *error);

/* What the session and the parties of a simulation, which share a plan, work out once for all. Guarded by its
 * mutex. */
typedef struct tacit_common {
    pthread_mutex_t mutex;
    tacit_prepared *prepared;
    struct tacit_derived *derived; /* party.h */
} tacit_common;

/* What is prepared, charged and added for a session or a party, which keeps what was prepared at `own`, or
 * with the others in `common` where that is not NULL. A method that needs the schema of rows is not prepared
 * for one without. */
tacit_status tacit_common_prepared(tacit_common *common, tacit_prepared **own, const tacit_plan *plan,
                                   void *out, tacit_error *error);
tacit_status tacit_common_price(tacit_common *common, tacit_prepared **own, const tacit_plan *plan,
                                tacit_prices *out, tacit_error *error);
tacit_status tacit_common_noise(tacit_common *common, tacit_prepared **own, const tacit_plan *plan,
                                tacit_noise_law *out, tacit_error *error);

/* Before a run: forget what may point into a schema that is no more. */
void tacit_common_begin(tacit_common *common);
