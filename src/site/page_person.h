/* A person's own store on the page: open it by its passphrase, see what is in it and where it came from,
 * answer what is due, and set rules. The store is open in this process only, from the passphrase until it is
 * locked. */
#pragma once

#include "site/page.h"
#include "web/web.h"

typedef struct page_person page_person;

/* `settings` must stay. */
tacit_status page_person_create(page_person **out, const tacit_page_settings *settings, tacit_error *error);
page_person *page_person_free(page_person *person);

/* How it stands with a study that was joined on the page, and how often something was said of one
 * (page_join.h). */
json_t *page_person_state(page_person *person, const char *id);
uint64_t page_person_said(page_person *person);

/* Its routes, whose context it is. */
extern const web_further page_person_routes[];
extern const size_t page_person_route_count;
