/*
 * A party's own page, on 127.0.0.1: what each joined study asks, what has left and when, what it cost, and
 * the owner's word on each study. Reads the home folder and its ledger; a party that serves meanwhile is
 * another process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct tacit_site;

typedef struct tacit_page_settings {
    const char *home;
    uint16_t port; /* 0: any free one */
    bool (*cancelled)(void *context);
    void (*news)(void *context, const char *line); /* the address and the one-time link */
    void *context;
    /* What an owner reads before joining a study, line by line, as `tacit join` shows it: appended. */
    tacit_status (*terms)(void *context, const struct tacit_site *site, tacit_buffer *out,
                          tacit_error *error);
    const char *(*allowing)(const char *option); /* what an owner says who gives this option when joining */
    /* The person has opened the store by this passphrase, or locked it (NULL): rows of it can be read from
     * now on, or no more. */
    void (*opened)(void *context, const char *passphrase);
} tacit_page_settings;

/* Serve until cancelled. */
tacit_status tacit_page_run(const tacit_page_settings *settings, tacit_error *error);
