/*
 * Options as they are written on a command line. Sentences of the lower layers know no front end: they say
 * "the option 'rows'", or "the option 'delta=1e-5'" with a value, which reads well as it is. Here it becomes
 * --rows and --delta 1e-5; the bindings have spellings of their own.
 */
#pragma once

#include "api/document/methods_list.h"

/* In place, which is never longer. Returns `text`. */
char *tacit_spell_options(char *text);

/* A help text with its lists of methods filled in and its options spelled; may return `text` itself. */
const char *tacit_help_text(const char *text, char out[TACIT_HELP_TEXT]);
