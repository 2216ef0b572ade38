#include "lab/reproduce/rounds_plot.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lab/plot/plot.h"

enum { PANELS = 2, POINTS_EACH = 41 }; /* as many points of a curve as an eye can tell apart */

static double value_of(const tacit_trace_point *point, size_t panel) {
    return panel == 0 ? point->distance : point->disagreement;
}

/* A curve is a run of points of one name. */
static size_t curve_end(const tacit_trace *trace, size_t begin) {
    size_t end = begin + 1;
    while (end < trace->count && trace->points[end].round > trace->points[end - 1].round) end++;
    return end;
}

static size_t count_curves(const tacit_trace *trace) {
    size_t curves = 0;
    for (size_t at = 0; at < trace->count; at = curve_end(trace, at)) curves++;
    return curves;
}

static void add_curve(tacit_plot_series *series, tacit_plot_point *points, const tacit_trace *trace,
                      size_t begin, size_t end, size_t panel) {
    size_t last = end - begin - 1, kept = last + 1 < POINTS_EACH ? last + 1 : POINTS_EACH;
    for (size_t i = 0; i < kept; i++) {
        size_t at = begin + (kept > 1 ? last * i / (kept - 1) : 0);
        points[i] =
            (tacit_plot_point){ (double)trace->points[at].round, value_of(&trace->points[at], panel), 0 };
    }
    *series = (tacit_plot_series){ .name = trace->points[begin].curve, .points = points, .count = kept };
}

tacit_status tacit_rounds_plot(const tacit_reproduction *reproduction, const char *note, tacit_buffer *out,
                               tacit_error *error) {
    static const char *const titles[PANELS] = { "From the nodes' mean to the pooled optimum",
                                                "From the furthest node to their mean" };
    const tacit_experiment *experiment = reproduction->experiment;
    const tacit_trace *trace = &reproduction->trace;
    size_t curves = count_curves(trace);
    tacit_plot_series *series = TACIT_NEW(tacit_plot_series, PANELS * curves);
    tacit_plot_point *points = TACIT_NEW(tacit_plot_point, PANELS * curves * POINTS_EACH);
    tacit_plot_panel panels[PANELS];
    tacit_status status = TACIT_OK;
    char title[256];
    if (series == NULL || points == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t p = 0; p < PANELS; p++) {
        panels[p] = (tacit_plot_panel){
            .title = titles[p], .x = { .title = "round" }, .series = series + p * curves, .count = curves
        };
        for (size_t at = 0, c = p * curves; at < trace->count; at = curve_end(trace, at), c++)
            add_curve(&series[c], points + c * POINTS_EACH, trace, at, curve_end(trace, at), p);
    }
    snprintf(title, sizeof title, "%s, %s: %s", experiment->paper, experiment->figure, experiment->title);
    tacit_plot plot = { .title = title,
                        .note = note,
                        .description = experiment->differs,
                        .y = { .title = "distance of the weights", .is_logarithmic = true },
                        .panels = panels,
                        .count = PANELS };
    TACIT_CHECK(tacit_plot_write(&plot, out, error));
cleanup:
    free(points);
    free(series);
    return status;
}
