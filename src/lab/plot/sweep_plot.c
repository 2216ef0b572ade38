#include "lab/plot/charts.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lab/plot/plot.h"

static int by_x(const void *left, const void *right) {
    const tacit_plot_point *a = left, *b = right;
    return (a->x > b->x) - (a->x < b->x);
}

/* One series a method; its points are consecutive in `points`. Returns how many there are. */
static size_t make_series(const tacit_run *runs, size_t count, tacit_plot_series *series,
                          tacit_plot_point *points) {
    size_t made = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i;
        bool noisy = false;
        for (; end < count && runs[end].method == runs[i].method; end++) {
            noisy = noisy || isfinite(runs[end].epsilon);
            points[end] =
                (tacit_plot_point){ 1 / runs[end].epsilon, runs[end].accuracy.mean, runs[end].accuracy.sd };
        }
        qsort(points + i, end - i, sizeof *points, by_x);
        series[made++] = (tacit_plot_series){ runs[i].method->name, points + i, end - i, !noisy, false };
        i = end;
    }
    return made;
}

/* The same figures in words. */
static tacit_status describe(const tacit_run *runs, size_t count, tacit_buffer *text, tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(text, error, "Test accuracy against 1/epsilon."));
    for (size_t i = 0; i < count; i++) {
        int percent = (int)lround(1000 * runs[i].accuracy.mean);
        if (!isfinite(runs[i].accuracy.mean)) continue;
        if (isinf(runs[i].epsilon))
            TACIT_TRY(tacit_buffer_print(text, error, " %s without noise", runs[i].method->name));
        else
            TACIT_TRY(
                tacit_buffer_print(text, error, " %s at epsilon %g", runs[i].method->name, runs[i].epsilon));
        TACIT_TRY(tacit_buffer_print(text, error, ": %d.%d %%.", percent / 10, percent % 10));
    }
    return TACIT_OK;
}

tacit_status tacit_sweep_plot(const tacit_run *runs, size_t count, const char *note, tacit_buffer *out,
                              tacit_error *error) {
    tacit_plot_series *series = TACIT_NEW(tacit_plot_series, count);
    tacit_plot_point *points = TACIT_NEW(tacit_plot_point, count);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    if (series == NULL || points == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(describe(runs, count, &text, error));
    tacit_plot_panel panel = { .x = { .title = "1/ε (further right: more private)", .is_logarithmic = true },
                               .series = series,
                               .count = make_series(runs, count, series, points) };
    tacit_plot plot = { .title = "Accuracy and privacy",
                        .note = note,
                        .description = tacit_buffer_text(&text),
                        .y = { .title = "test accuracy", .is_bounded = true, .least = 0, .most = 1 },
                        .panels = &panel,
                        .count = 1 };
    TACIT_CHECK(tacit_plot_write(&plot, out, error));
cleanup:
    tacit_buffer_clear(&text);
    free(points);
    free(series);
    return status;
}
