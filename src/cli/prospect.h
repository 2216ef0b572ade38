/* What a study is expected to be worth, told where it is made and where an owner is asked to take part. */
#pragma once

#include "api/option/arguments.h"
#include "cli/console.h"
#include "site/site.h"

/* For whoever makes the study: takes over a lambda that does better, where the definition has none, and says
 * what to expect. TACIT_USAGE for a study that is hopeless, unless --force is among `arguments`. Nothing is
 * said of a study without expected_rows. */
tacit_status tacit_prospect_check(tacit_console *console, tacit_study *study, const tacit_model *described,
                                  const tacit_arguments *arguments, tacit_error *error);

/* For an owner: you alone, and together, from the definition's public numbers and from the own rows. The
 * latter goes to the owner's screen and nowhere else. Never fails: what cannot be foreseen is left out.
 * TACIT_CANCELLED where the owner stops it. */
tacit_status tacit_prospect_show(tacit_console *console, const tacit_site *site, tacit_error *error);

/* What a description says about a schema, a line each. */
tacit_status tacit_prospect_remarks(tacit_console *console, const tacit_model *described,
                                    const tacit_schema *schema, tacit_error *error);
