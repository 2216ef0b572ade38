/* Hardening a command that serves. */
#pragma once

#include "base/harden.h"
#include "cli/console.h"

/* Harden this process as the settings say, and clear them. What a user should know is noted: that it was
 * switched off, or that a program of the owner's may be started. `folder` is where SQLite puts what does not
 * fit its memory; NULL: where it always does. */
void tacit_harden_program(tacit_console *console, tacit_harden_settings *settings, const char *folder);
