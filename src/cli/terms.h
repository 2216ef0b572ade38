/* What an owner is asked to agree to, and the question. */
#pragma once

#include "api/option/arguments.h"
#include "cli/console.h"
#include "site/site.h"

tacit_status tacit_terms_show(tacit_console *console, const tacit_site *site, tacit_error *error);

/* TACIT_REFUSED unless the owner says yes, with --yes or at the terminal. */
tacit_status tacit_terms_ask(const tacit_arguments *arguments, tacit_error *error);
