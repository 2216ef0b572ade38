/* Ctrl-C during a long call. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "glue.h"

typedef struct watch {
    pthread_t owner;
    atomic_bool pressed;
} watch;

_Static_assert(sizeof(watch) <= sizeof(((glue_interrupt *)0)->state), "a watch does not fit");

static void look(void *unused) {
    (void)unused;
    R_CheckUserInterrupt();
}

/* R_CheckUserInterrupt jumps; at a top level of its own the jump ends here and says FALSE. */
static bool cancelled(void *context) {
    watch *self = context;
    if (!atomic_load(&self->pressed) && pthread_equal(self->owner, pthread_self()) &&
        !R_ToplevelExec(look, NULL))
        atomic_store(&self->pressed, true);
    return atomic_load(&self->pressed);
}

const tacit_progress *glue_interrupt_begin(glue_interrupt *interrupt) {
    watch *self = (watch *)(void *)interrupt->state;
    self->owner = pthread_self();
    atomic_init(&self->pressed, false);
    interrupt->progress = (tacit_progress){ NULL, cancelled, self };
    return &interrupt->progress;
}
