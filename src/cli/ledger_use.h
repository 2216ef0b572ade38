/* What the commands about the owner's ledger share. */
#pragma once

#include "api/document/ledger_document.h"
#include "api/option/arguments.h"
#include "cli/console.h"
#include "site/history/sketch.h"
#include "study/home.h"

/* Open the ledger in Tacit's folder for reading, about `source` or (NULL) none in particular; `path` receives
 * where it is. TACIT_NOT_FOUND says how a ledger begins. */
tacit_status tacit_ledger_use_open(tacit_ledger **out, char *path, size_t size, const char *source,
                                   tacit_error *error);

/* A tacit_overlap_visit that warns; the context is the console. */
tacit_status tacit_overlap_warn(void *context, const tacit_overlap *overlap, tacit_error *error);

/* Keep a sketch of a source and warn of others that seem to hold the same people. What goes wrong with that
 * is told and stops nothing. */
void tacit_overlaps_warn(tacit_console *console, const tacit_sketch_source *about);
