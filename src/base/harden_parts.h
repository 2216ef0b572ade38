/* Shared by the files of hardening only. */
#pragma once

#include "base/harden.h"

/* With TACIT_HARDENING=off. */
bool tacit_harden_is_off(void);
/* Landlock's version here; 0: none. */
int tacit_harden_landlock(void);
/* Confine this thread, and those that it starts; the version, or 0 when it did not work. */
int tacit_harden_files(const tacit_harden_settings *settings);
/* Threads of this process except for the one that asks; 0 where /proc does not tell. */
unsigned tacit_harden_other_threads(void);
