/* The parts of a person's page that read a public catalogue and ask to join a study of it
 * (docs/openapi.yaml). */
#pragma once

#include "web/web.h"

/* Handlers of routes; `home` is where invitations are kept, in the folder `invitations`. */
void page_enrol_catalogue(const char *home, web_call *call);
void page_enrol_ask(const char *home, web_call *call);
