/* Looks of a simulated study that recruits until a statistical target is reached (study/stop.h). */
#pragma once

#include "api/document/json_text.h"
#include "lab/simulate.h"
#include "study/stop.h"

/* Who hears, line by line, how far it is; may be NULL. */
typedef struct tacit_notifier {
    void (*note)(void *context, const char *line);
    void *context;
} tacit_notifier;

/* Run look after look, each with `more` parties more, the last with all of `split`; what was found is told
 * to `teller`, and appended to `out` (new reference). Afterwards the split has the parties of the look that
 * was the last. */
tacit_status tacit_interim_looks_run(json_t **out, tacit_stop *stop, tacit_simulation *plan,
                                     tacit_split *split, tacit_run *runs, tacit_model **model,
                                     const tacit_notifier *notifier, tacit_error *error);
