/* What the commands about the owner's ledger share. */
#pragma once

#include "api/arguments.h"
#include "api/ledger_document.h"
#include "cli/console.h"
#include "study/home.h"

/* Open the ledger in Tacit's folder for reading, about `source` or (NULL) none in particular; `path` receives
 * where it is. TACIT_NOT_FOUND says how a ledger begins. */
tacit_status tacit_ledger_use_open(tacit_ledger **out, char *path, size_t size, const char *source,
                                   tacit_error *error);
