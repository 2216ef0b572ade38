/*
 * Progress on a stream: a bar with the time left on a terminal; otherwise one line now and then. Work
 * that is over within a second shows nothing. Any thread may report.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define TACIT_BAR_STAGE_SIZE 64

typedef struct tacit_bar {
    FILE *out;
    bool terminal;
    bool silent;
    unsigned width;
    double (*clock)(void); /* seconds, monotonic; tests supply their own */
    /* Below: guarded by the lock. */
    pthread_mutex_t lock;
    char stage[TACIT_BAR_STAGE_SIZE];
    double begun;         /* first report of all; negative before it */
    uint64_t done, total; /* as last reported */
    double part_begun;    /* the time left is reckoned from here: see note_stage */
    double sampled;       /* when the speed was last measured, and `done` then */
    uint64_t sampled_done;
    double speed;         /* steps a second; negative before there is one */
    double left, left_at; /* the time left as last said, and when; negative before */
    double shown;         /* when something was last written; negative before */
    bool stage_shown;     /* this stage has a line of its own */
    bool drawn;           /* a bar stands on the terminal's current line */
} tacit_bar;

void tacit_bar_open(tacit_bar *bar, FILE *out, bool terminal, unsigned width);
void tacit_bar_close(tacit_bar *bar);

/* `done` of `total` steps of `stage`; total = 0 when unknown. */
void tacit_bar_report(tacit_bar *bar, const char *stage, uint64_t done, uint64_t total);

/* Hold the stream for a line of one's own: takes the lock and removes a drawn bar; the next report draws
 * it again. */
void tacit_bar_pause(tacit_bar *bar);
void tacit_bar_resume(tacit_bar *bar);
