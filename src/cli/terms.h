/* What an owner is asked to agree to, and the question. */
#pragma once

#include "api/option/arguments.h"
#include "cli/console.h"
#include "site/site.h"

tacit_status tacit_terms_show(tacit_console *console, const tacit_site *site, tacit_error *error);

/* Warn where the rows seem to be about the same people as another data source of this home. */
void tacit_terms_compare(tacit_console *console, const tacit_site *site);

/* TACIT_REFUSED unless the owner says yes, with --yes or at the terminal. */
tacit_status tacit_terms_ask(const tacit_arguments *arguments, tacit_error *error);
