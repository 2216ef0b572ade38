/*
 * Asking to join a study that takes strangers, or one that is offered to an earlier participant. The token of
 * the invitation is drawn here and its hash is told; once the study accepts, the invitation is good for
 * tacit_site_look and tacit_site_join like any other. Nothing about rows or the person is told.
 */
#pragma once

#include <jansson.h>

#include "net/invitation.h"
#include "site/site.h"

enum { TACIT_ENROL_STATE_SIZE = 16 };

/* The catalogue at an address as `tacit coordinator` prints it (net/pinned.h), {coordinator, address,
 * studies, archive, ...}, as a new reference. `home` must exist. */
tacit_status tacit_enrol_catalogue(json_t **out, const char *address, const char *home,
                                   const tacit_site_callbacks *callbacks, tacit_error *error);

/* A document of the archive there, by its permanent id; checked against it. Appended. */
tacit_status tacit_enrol_archived(tacit_buffer *out, const char *address, const char *id, const char *home,
                                  const tacit_site_callbacks *callbacks, tacit_error *error);

typedef struct tacit_enrol_request {
    const char *address; /* of a catalogue; NULL: of a study that is offered to this home */
    const char *study;
    const char *words; /* to whoever decides; NULL: none */
    const char *home;
} tacit_enrol_request;

/* Ask, or ask again how the matter stands. `invitation`: empty the first time, and appended to; else what an
 * earlier call appended. `state` receives "waiting", "accepted" or "declined". TACIT_REFUSED: the study takes
 * nobody now. The invitation is there before the coordinator of a catalogue is asked (`keep`, which may be
 * NULL, is to keep it), so that no answer is lost by a crash. Without an address the coordinators of the
 * home's studies are asked one after the other, and what one accepts is kept then. */
typedef tacit_status tacit_enrol_keep(void *context, const tacit_buffer *invitation, tacit_error *error);
tacit_status tacit_enrol_ask(const tacit_enrol_request *request, const tacit_site_callbacks *callbacks,
                             tacit_enrol_keep *keep, void *keep_context, tacit_buffer *invitation,
                             char state[TACIT_ENROL_STATE_SIZE], tacit_error *error);
