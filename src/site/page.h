/*
 * A party's own page, on 127.0.0.1: what each joined study asks, what has left and when, what it cost, and
 * the owner's word on each study. Reads the home folder and its ledger; a party that serves meanwhile is
 * another process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct tacit_page_settings {
    const char *home;
    uint16_t port; /* 0: any free one */
    bool (*cancelled)(void *context);
    void (*news)(void *context, const char *line); /* the address and the one-time link */
    void *context;
} tacit_page_settings;

/* Serve until cancelled. */
tacit_status tacit_page_run(const tacit_page_settings *settings, tacit_error *error);
