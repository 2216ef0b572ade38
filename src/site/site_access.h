/* What a party's process must be able to reach, for base/harden.h. */
#pragma once

#include "base/harden.h"
#include "site/site.h"

/* Of a study that is about to be joined: the home, the rows with their schema, what a database's client
 * reads; and whether a program of the owner's is started. Files are allowed with the folder they are in, for
 * they are replaced by others of the same name. */
void tacit_site_access_joining(tacit_harden_settings *settings, const tacit_site_settings *joining);

/* The same of a study that was joined before; with `study` NULL of all of them, and of those that will be
 * joined: files may then be read anywhere. A study that cannot be read is left out, and complained of where
 * it is served. */
void tacit_site_access_home(tacit_harden_settings *settings, const char *home, const char *study);
