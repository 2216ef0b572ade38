/* Examining a coordinator whose authority hands over to another one. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "net/clock.h"
#include "net/rotation.h"
#include "site/doctor_parts.h"
#include "study/registry.h"

enum { NAMES_MOST = 5 };

typedef struct followers {
    size_t parties, left;
    char late[NAMES_MOST][TACIT_ID_SIZE]; /* the first of those that are left */
    char names[NAMES_MOST * (TACIT_PARTY_NAME_SIZE + 2)];
} followers;

static tacit_status take(void *context, const char *party, bool away, tacit_error *error) {
    followers *self = context;
    (void)error;
    self->parties++;
    if (!away) return TACIT_OK;
    if (self->left < NAMES_MOST) snprintf(self->late[self->left], TACIT_ID_SIZE, "%s", party);
    self->left++;
    return TACIT_OK;
}

/* As people call them, where they have a name. */
static tacit_status name_late(followers *self, tacit_registry *registry, tacit_error *error) {
    for (size_t i = 0; i < self->left && i < NAMES_MOST; i++) {
        char called[TACIT_PARTY_NAME_SIZE];
        size_t used = strlen(self->names);
        TACIT_TRY(tacit_registry_called(registry, self->late[i], called, error));
        snprintf(self->names + used, sizeof self->names - used, "%s%s", used > 0 ? "; " : "",
                 called[0] != 0 ? called : self->late[i]);
    }
    return TACIT_OK;
}

static void notify(const examination *self, const tacit_handover *last, bool over, const followers *found) {
    char day[32];
    struct tm parts;
    time_t until = (time_t)last->until;
    gmtime_r(&until, &parts);
    strftime(day, sizeof day, "%Y-%m-%d", &parts);
    if (found->left == 0)
        doctor_find(self, TACIT_FINDING_OK, "hand-over", "",
                    "all %zu parties have followed to authority %s; the one before it is trusted %s %s",
                    found->parties, last->new.fingerprint, over ? "no longer, since" : "until", day);
    else
        doctor_find(self, TACIT_FINDING_WARN, "hand-over",
                    over ? "their owners must say its fingerprint: tacit follow"
                         : "they follow by themselves when they serve (tacit party) before that day",
                    "%zu of %zu parties have not followed to authority %s, and the one before it is trusted "
                    "%s %s: %s%s",
                    found->left, found->parties, last->new.fingerprint, over ? "no longer, since" : "until",
                    day, found->names, found->left > NAMES_MOST ? "; ..." : "");
}

void doctor_check_rotation(const examination *self, tacit_registry *registry) {
    tacit_handovers chain = { .count = 0 };
    followers found = { .parties = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_handovers_load(&chain, self->folder, &error);
    const tacit_handover *last = chain.count > 0 ? &chain.entries[chain.count - 1] : NULL;
    if (status == TACIT_OK && last != NULL)
        status = tacit_registry_followers(registry, NULL, last->new.key_id, take, &found, &error);
    if (status == TACIT_OK) status = name_late(&found, registry, &error);
    if (status != TACIT_OK)
        doctor_find(self, TACIT_FINDING_FAIL, "hand-over", "restore the folder from a backup", "%s",
                    error.text);
    else if (last != NULL)
        notify(self, last, tacit_handovers_oldest(&chain, tacit_clock_wall_seconds()) == chain.count, &found);
    tacit_handovers_clear(&chain);
}
