/* What a study is expected to be worth, told where it is made and where an owner is asked to take part. */
#pragma once

#include "api/study/vetting.h"
#include "cli/console.h"
#include "site/site.h"

/* What is said of a study before it is added (tacit_vetting), to the console that is the context. */
void tacit_prospect_say(void *context, tacit_saying kind, const char *line);

/* For an owner: you alone, and together, from the definition's public numbers and from the own rows. The
 * latter goes to the owner's screen and nowhere else. Never fails: what cannot be foreseen is left out.
 * TACIT_CANCELLED where the owner stops it. */
tacit_status tacit_prospect_show(tacit_console *console, const tacit_site *site, tacit_error *error);

/* What a description says about a schema, a line each. */
tacit_status tacit_prospect_remarks(tacit_console *console, const tacit_model *described,
                                    const tacit_schema *schema, tacit_error *error);
