/*
 * Where this user's ledger, keys and studies are, and how a data source is called in the ledger.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "data/source/source.h"

/* The path of `name` in Tacit's folder: $TACIT_HOME, else $XDG_DATA_HOME/tacit, else ~/.local/share/tacit.
 * Makes nothing: whoever writes there calls tacit_folder_make first. An empty name gives the folder.
 * TACIT_USAGE when none of the variables says where. */
tacit_status tacit_home_path(char *out, size_t size, const char *name, tacit_error *error);

/* TACIT_REFUSED for a folder that others than its owner can write, or that is another user's: they could
 * change ledger, keys and consent. One that does not exist is fine. tacit_home_path asks this of the home. */
tacit_status tacit_home_check(const char *folder, tacit_error *error);

/* The id under which a data source is charged: the real path of an existing file, so that a file has one
 * ledger however it is spelled; of a person's store, store:PATH?..., the store, whatever is asked of it; else
 * the text itself. `size` should be at least TACIT_NAME_MOST + 1, the
 * most a ledger takes. */
tacit_status tacit_source_id(char *out, size_t size, const char *text, tacit_error *error);

/* The file in that folder with the ledgers of all this user's data sources. */
#define TACIT_LEDGER_NAME "ledger.db"
