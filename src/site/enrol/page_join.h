/*
 * Joining a study on a person's page (docs/openapi.yaml): what `tacit join` does, with rows of the person's
 * own store. The invitation is one that the page asked for (page_enrol.h). What is shown before consent is
 * what the command shows; looking, checking, consenting and joining are the calls of site.h, as there.
 *
 * A study that was joined here is answered for by this process, as `tacit party` would (daemon.h), while the
 * store is open; its folder has a mark, so that the page goes on with it after a restart. Whoever has the
 * study's lock serves it, this page or a `tacit party`, and never both.
 */
#pragma once

#include "person/instrument/diary.h"
#include "site/page.h"
#include "web/web.h"

typedef struct page_join page_join;

/* The store; TACIT_REFUSED while it is locked. */
typedef struct page_join_store {
    void *owner;
    /* what is in it, for a study to choose from: page_join_list */
    tacit_status (*list)(void *owner, const char *study, const char *coordinator, json_t **out,
                         tacit_error *error);
    /* take a questionnaire up, as tacit_diary_take */
    tacit_status (*take)(void *owner, const tacit_instrument *made, const tacit_buffer *text,
                         tacit_error *error);
} page_join_store;

/* `settings` must stay. */
tacit_status page_join_create(page_join **out, const tacit_page_settings *settings,
                              const page_join_store *store, tacit_error *error);
page_join *page_join_free(page_join *self);

/* Answer for studies that were joined here, from now on; or answer no more, having let go of all rows. */
void page_join_begin(page_join *self);
void page_join_end(page_join *self);

/* [{name, columns: [NAME], rows, reuse}] of a store: reuse is what its rules say of this study. */
tacit_status page_join_list(json_t **out, tacit_vault *vault, const char *study, const char *coordinator,
                            tacit_error *error);

/* Handlers of routes. */
void page_join_look(page_join *self, web_call *call);
void page_join_take_part(page_join *self, web_call *call);
void page_join_take_up(page_join *self, web_call *call);
void page_join_limit(page_join *self, web_call *call);

/* How it stands with a study of the home, by its id: {open, says}; null where it was not joined here. And
 * how often something was said so far. */
json_t *page_join_state(page_join *self, const char *id);
uint64_t page_join_said(page_join *self);
