#include "cli/process/interrupt.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_bool asked_to_end;
static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler may only touch lock-free atomics");

static void ask_to_end(int number) {
    (void)number;
    atomic_store(&asked_to_end, true);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static void catch_unless_ignored(int number) {
    struct sigaction now;
    if (sigaction(number, NULL, &now) != 0 || now.sa_handler == SIG_IGN) return;
    /* Without SA_RESTART a blocked system call returns, so that its caller looks at the flag. */
    struct sigaction caught = { .sa_handler = ask_to_end };
    sigemptyset(&caught.sa_mask);
    sigaction(number, &caught, NULL);
}

void tacit_interrupt_install(void) {
    catch_unless_ignored(SIGINT);
    catch_unless_ignored(SIGTERM);
    signal(SIGPIPE, SIG_IGN);
}

bool tacit_interrupted(void) { return atomic_load(&asked_to_end); }
