#include "cli/print/bar.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "cli/help/text_width.h"

static const double QUIET_SECONDS = 1; /* work that is over by then shows nothing */
static const double REDRAW_SECONDS = 0.1;
static const double LINE_SECONDS = 5; /* between two lines of one stage, in a log */
static const double SAMPLE_SECONDS = 0.25;
static const double LEAST_MEMORY_SECONDS = 5; /* of the speed; later a sixth of the time spent */
static const double BENDING_SECONDS = 3;      /* how soon the time left follows a new estimate */

static double monotonic_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void tacit_bar_open(tacit_bar *bar, FILE *out, bool terminal, unsigned width) {
    *bar = (tacit_bar){ .out = out, .terminal = terminal, .width = width, .clock = monotonic_seconds };
    bar->begun = bar->shown = -1;
    pthread_mutex_init(&bar->lock, NULL);
}

static void erase(tacit_bar *bar) {
    if (!bar->drawn) return;
    fputs("\r\033[K", bar->out);
    fflush(bar->out);
    bar->drawn = false;
}

void tacit_bar_close(tacit_bar *bar) {
    erase(bar);
    pthread_mutex_destroy(&bar->lock);
}

void tacit_bar_pause(tacit_bar *bar) {
    pthread_mutex_lock(&bar->lock);
    erase(bar);
}

void tacit_bar_resume(tacit_bar *bar) {
    bar->shown = -1;
    pthread_mutex_unlock(&bar->lock);
}

/* The time left, as steady as it can honestly be. The speed is a mean that forgets: steps of one sweep cost
 * very different times, and what went before says less than what went last. */
static void note_speed(tacit_bar *bar, double now, uint64_t done) {
    double since = now - bar->sampled;
    if (since < SAMPLE_SECONDS) return;
    double speed = (double)(done - bar->sampled_done) / since;
    double memory = fmax(LEAST_MEMORY_SECONDS, (now - bar->part_begun) / 6);
    double weight = bar->speed < 0 ? 1 : 1 - exp(-since / memory);
    bar->speed = bar->speed < 0 ? speed : bar->speed + weight * (speed - bar->speed);
    bar->sampled = now;
    bar->sampled_done = done;
}

/* Seconds left, negative while there is too little to reckon from. What was said before counts down by the
 * clock and only moves towards the new estimate, and not at all when the two nearly agree. */
static double seconds_left(tacit_bar *bar, double now, uint64_t done, uint64_t total) {
    if (total == 0 || done >= total || now - bar->part_begun < QUIET_SECONDS || !(bar->speed > 0)) return -1;
    double reckoned = (double)(total - done) / bar->speed;
    if (bar->left < 0) {
        bar->left = reckoned;
    } else {
        double expected = fmax(bar->left - (now - bar->left_at), 0);
        double weight = 1 - exp(-(now - bar->left_at) / BENDING_SECONDS);
        bool agrees = fabs(reckoned - expected) <= 1 + 0.1 * expected;
        bar->left = agrees ? expected : expected + weight * (reckoned - expected);
    }
    bar->left_at = now;
    return bar->left;
}

/* ", 3 min left", or nothing. */
static const char *time_left(tacit_bar *bar, double now, uint64_t done, uint64_t total, char *text,
                             size_t size) {
    double left = seconds_left(bar, now, done, total);
    text[0] = 0;
    if (left < 0) return text;
    if (left < 90)
        snprintf(text, size, ", %.0f s left", fmax(left, 1));
    else if (left < 90 * 60)
        snprintf(text, size, ", %.0f min left", left / 60);
    else
        snprintf(text, size, ", %.1f h left", left / 3600);
    return text;
}

static void draw_bar(tacit_bar *bar, double now, uint64_t done, uint64_t total) {
    char tail[64], left[32];
    if (total > 0)
        snprintf(tail, sizeof tail, " %3.0f %%%s", 100 * (double)done / (double)total,
                 time_left(bar, now, done, total, left, sizeof left));
    else
        snprintf(tail, sizeof tail, " %llu", (unsigned long long)done);
    size_t taken = strlen(bar->stage) + strlen(tail) + 4;
    size_t cells = total > 0 && bar->width > taken ? bar->width - taken : 0;
    if (cells > 30) cells = 30;
    size_t filled = total > 0 ? (size_t)((double)cells * (double)done / (double)total) : 0;
    fprintf(bar->out, "\r\033[K%s", bar->stage);
    if (cells > 0) fputs(" [", bar->out);
    for (size_t i = 0; i < cells; i++) fputc(i < filled ? '#' : '.', bar->out);
    if (cells > 0) fputc(']', bar->out);
    fputs(tail, bar->out);
    fflush(bar->out);
    bar->drawn = true;
}

static void write_line(tacit_bar *bar, double now, uint64_t done, uint64_t total) {
    char left[32];
    if (total > 0)
        fprintf(bar->out, "%s: %.1f %%%s\n", bar->stage, 100 * (double)done / (double)total,
                time_left(bar, now, done, total, left, sizeof left));
    else
        fprintf(bar->out, "%s: %llu\n", bar->stage, (unsigned long long)done);
    fflush(bar->out);
}

/* Stages of one length that follow each other without a step back are parts of one whole (the runs of a
 * sweep): its time left goes on. Anything else is reckoned afresh. */
static void note_stage(tacit_bar *bar, const char *stage, double now, uint64_t done, uint64_t total) {
    char clean[TACIT_BAR_STAGE_SIZE];
    tacit_text_clean(clean, sizeof clean, stage);
    bool renamed = strcmp(clean, bar->stage) != 0;
    bool continues = bar->begun >= 0 && total == bar->total && done >= bar->done && (total > 0 || !renamed);
    if (bar->begun < 0) bar->begun = now;
    if (renamed) {
        memcpy(bar->stage, clean, sizeof clean);
        bar->stage_shown = false;
    }
    if (!continues) {
        bar->part_begun = bar->sampled = now;
        bar->sampled_done = done;
        bar->speed = bar->left = -1;
    }
    bar->done = done;
    bar->total = total;
    note_speed(bar, now, done);
}

/* A bar is redrawn often. A log gets a stage's first line soon, then one now and then, and the end of a
 * stage that has been mentioned. */
static bool is_due(const tacit_bar *bar, double now, uint64_t done, uint64_t total) {
    if (now - bar->begun < QUIET_SECONDS) return false;
    if (bar->shown < 0) return true;
    double since = now - bar->shown;
    if (bar->terminal) return since >= REDRAW_SECONDS;
    if (bar->stage_shown && total > 0 && done >= total) return since >= QUIET_SECONDS;
    return since >= (bar->stage_shown ? LINE_SECONDS : QUIET_SECONDS);
}

void tacit_bar_report(tacit_bar *bar, const char *stage, uint64_t done, uint64_t total) {
    if (bar->silent) return;
    if (total > 0 && done > total) done = total;
    pthread_mutex_lock(&bar->lock);
    double now = bar->clock();
    note_stage(bar, stage, now, done, total);
    if (is_due(bar, now, done, total)) {
        if (bar->terminal)
            draw_bar(bar, now, done, total);
        else
            write_line(bar, now, done, total);
        bar->shown = now;
        bar->stage_shown = true;
    }
    pthread_mutex_unlock(&bar->lock);
}
