#include "cli/process/hardening.h"

#include <stdlib.h>

#include "base/ranks.h"

void tacit_harden_program(tacit_console *console, tacit_harden_settings *settings, const char *folder) {
    settings->shares_memory = tacit_ranks_count(console->ranks) > 1;
    if (folder != NULL) setenv("SQLITE_TMPDIR", folder, 1); /* no other folder can be written from here on */
    tacit_hardening now = tacit_harden(settings);
    if (!now.no_privileges)
        tacit_console_note(console, "this process is not hardened (TACIT_HARDENING=off)");
    else if (settings->runs_programs)
        tacit_console_note(console, "a program of yours is a local classifier: programs may be started by "
                                    "this process, and files are not confined");
    if (now.before > 0)
        tacit_console_note(console,
                           "%u threads of this process were started before its files were confined, and are "
                           "not confined: set OPENBLAS_NUM_THREADS=1 in its environment",
                           now.before);
    tacit_harden_clear(settings);
}
