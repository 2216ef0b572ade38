/* What a method prepares from its plan (tacit_method.prepare): worked out once, and handed to both halves. */
#pragma once

#include <pthread.h>

#include "session/method.h"

typedef struct tacit_prepared tacit_prepared;

/* Fill `out` with what the method of the plan prepares: from *place, if that was made for an equal plan, or
 * worked out now and kept there instead. Pointers in it are borrowed until *place is freed or filled for
 * another plan. */
tacit_status tacit_prepared_take(tacit_prepared **place, const tacit_plan *plan, void *out,
                                 tacit_error *error);

tacit_prepared *tacit_prepared_free(tacit_prepared *prepared);

/* What the session and the parties of a simulation, which share a plan, work out once for all. Guarded by its
 * mutex. */
typedef struct tacit_common {
    pthread_mutex_t mutex;
    tacit_prepared *prepared;
    struct tacit_derived *derived; /* party.h */
} tacit_common;

tacit_status tacit_common_prepared(tacit_common *common, const tacit_plan *plan, void *out,
                                   tacit_error *error);

/* Before a run: forget what may point into a schema that is no more. */
void tacit_common_begin(tacit_common *common);
