/* The figure of a reproduction: a panel a setup over 1/epsilon, or a panel an epsilon over named setups. Of
 * an experiment whose x-axis is rounds: distances on a logarithmic axis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "lab/plot/plot.h"
#include "lab/reproduce/reproduce.h"

enum { PANEL_TITLE = 96 };

/* Room for all panels: no panel has more series or points than there are findings. */
typedef struct drawing {
    const tacit_reproduction *from;
    tacit_plot_panel *panels;
    char (*titles)[PANEL_TITLE];
    tacit_plot_series *series;
    tacit_plot_point *points;
    const char **names;
    size_t panel_count, series_count, point_count, name_count;
} drawing;

static void drawing_clear(drawing *draw) {
    free(draw->panels);
    free(draw->titles);
    free(draw->series);
    free(draw->points);
    free(draw->names);
}

static tacit_status drawing_open(drawing *draw, const tacit_reproduction *from, tacit_error *error) {
    size_t setups = from->experiment->setup_count, panels = setups * (from->experiment->epsilon_count + 1);
    *draw = (drawing){ .from = from,
                       .panels = TACIT_NEW(tacit_plot_panel, panels),
                       .titles = tacit_allocate(panels, PANEL_TITLE),
                       .series = TACIT_NEW(tacit_plot_series, panels * 2 * from->count),
                       .points = TACIT_NEW(tacit_plot_point, panels * 2 * from->count),
                       .names = TACIT_NEW(const char *, panels *setups) };
    if (draw->panels == NULL || draw->titles == NULL || draw->series == NULL || draw->points == NULL ||
        draw->names == NULL)
        return tacit_fail_memory(error);
    return TACIT_OK;
}

static tacit_plot_panel *add_panel(drawing *draw, const char *title) {
    tacit_plot_panel *panel = &draw->panels[draw->panel_count];
    char *kept = draw->titles[draw->panel_count++];
    snprintf(kept, PANEL_TITLE, "%s", title);
    panel->title = kept;
    panel->series = draw->series + draw->series_count;
    return panel;
}

static void end_series(drawing *draw, tacit_plot_panel *panel, const char *name, size_t first,
                       bool is_reference, bool is_scattered) {
    size_t count = draw->point_count - first;
    if (count == 0) return;
    draw->series[draw->series_count++] =
        (tacit_plot_series){ name, draw->points + first, count, is_reference, is_scattered };
    panel->count++;
}

static void add_point(drawing *draw, double x, const tacit_finding *finding) {
    draw->points[draw->point_count++] = (tacit_plot_point){ x, finding->mean, finding->sd };
}

/* The first finding of each curve among those chosen starts a series. */
static bool is_first_of_curve(const drawing *draw, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (strcmp(draw->from->findings[i].curve, draw->from->findings[at].curve) == 0) return false;
    return true;
}

static void add_by_epsilon(drawing *draw, size_t setup) {
    const tacit_reproduction *from = draw->from;
    tacit_plot_panel *panel = add_panel(draw, from->experiment->setups[setup].panel);
    size_t first;
    panel->x = (tacit_plot_axis){ .title = "1/ε", .is_logarithmic = true };
    for (size_t i = 0; i < from->count; i++) {
        if (!is_first_of_curve(draw, i)) continue;
        first = draw->point_count;
        for (size_t j = i; j < from->count; j++)
            if (from->findings[j].setup == setup && from->findings[j].trials > 0 &&
                strcmp(from->findings[j].curve, from->findings[i].curve) == 0)
                add_point(draw, 1 / from->findings[j].epsilon, &from->findings[j]);
        end_series(draw, panel, from->findings[i].curve, first, from->findings[i].noise_free, false);
    }
    for (size_t i = 0; i < from->count; i++) {
        if (from->findings[i].setup != setup || isnan(from->findings[i].printed)) continue;
        first = draw->point_count;
        draw->points[draw->point_count++] =
            (tacit_plot_point){ 1 / from->findings[i].epsilon, from->findings[i].printed, 0 };
        end_series(draw, panel, from->findings[i].curve, first, false, true);
    }
}

static bool shares_panel(const drawing *draw, size_t setup, size_t other) {
    return strcmp(draw->from->experiment->setups[setup].panel, draw->from->experiment->setups[other].panel) ==
           0;
}

/* The setups of one panel, side by side, at one epsilon; what has no noise is there at every epsilon. */
static void add_by_setup(drawing *draw, size_t setup, double epsilon) {
    const tacit_reproduction *from = draw->from;
    char title[PANEL_TITLE];
    if (isinf(epsilon)) /* every curve has its own */
        snprintf(title, sizeof title, "%s", from->experiment->setups[setup].panel);
    else
        tacit_format(title, sizeof title, "%s, ε = %g", from->experiment->setups[setup].panel, epsilon);
    tacit_plot_panel *panel = add_panel(draw, title);
    const char **names = draw->names + draw->name_count;
    size_t positions = 0;
    for (size_t s = setup; s < from->experiment->setup_count; s++)
        if (shares_panel(draw, setup, s))
            names[positions++] = from->experiment->setups[s].name != NULL ? from->experiment->setups[s].name
                                                                          : from->experiment->setups[s].panel;
    draw->name_count += positions;
    panel->x = (tacit_plot_axis){ .names = names, .name_count = positions };
    for (size_t i = 0; i < from->count; i++) {
        if (!is_first_of_curve(draw, i)) continue;
        size_t first = draw->point_count;
        for (size_t j = i; j < from->count; j++) {
            const tacit_finding *one = &from->findings[j];
            if (strcmp(one->curve, from->findings[i].curve) != 0 || !shares_panel(draw, setup, one->setup))
                continue;
            if (one->trials > 0 && (one->is_alone || one->epsilon == epsilon))
                add_point(draw, (double)(one->setup - setup + 1), one);
        }
        end_series(draw, panel, from->findings[i].curve, first, from->findings[i].noise_free, false);
    }
}

static void add_panels(drawing *draw) {
    const tacit_experiment *experiment = draw->from->experiment;
    for (size_t s = 0; s < experiment->setup_count; s++) {
        if (!experiment->by_setup) {
            add_by_epsilon(draw, s);
            continue;
        }
        if (s > 0 && shares_panel(draw, s - 1, s)) continue;
        for (size_t e = 0; e < experiment->epsilon_count; e++) add_by_setup(draw, s, experiment->epsilons[e]);
    }
}

/* ---- over rounds ---- */

enum { ROUND_PANELS = 2, POINTS_EACH = 41 }; /* as many points of a curve as an eye can tell apart */

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

static tacit_status plot_rounds(const tacit_reproduction *reproduction, const char *note, tacit_buffer *out,
                                tacit_error *error) {
    static const char *const titles[ROUND_PANELS] = { "From the nodes' mean to the pooled optimum",
                                                      "From the furthest node to their mean" };
    const tacit_experiment *experiment = reproduction->experiment;
    const tacit_trace *trace = &reproduction->trace;
    size_t curves = count_curves(trace);
    tacit_plot_series *series = TACIT_NEW(tacit_plot_series, ROUND_PANELS * curves);
    tacit_plot_point *points = TACIT_NEW(tacit_plot_point, ROUND_PANELS * curves * POINTS_EACH);
    tacit_plot_panel panels[ROUND_PANELS];
    tacit_status status = TACIT_OK;
    char title[256];
    if (series == NULL || points == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t p = 0; p < ROUND_PANELS; p++) {
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
                        .count = ROUND_PANELS };
    TACIT_CHECK(tacit_plot_write(&plot, out, error));
cleanup:
    free(points);
    free(series);
    return status;
}

/* ---- all ---- */

tacit_status tacit_reproduction_plot(const tacit_reproduction *reproduction, const char *note,
                                     tacit_buffer *out, tacit_error *error) {
    const tacit_experiment *experiment = reproduction->experiment;
    drawing draw;
    tacit_status status;
    char title[256];
    if (experiment->by_round) return plot_rounds(reproduction, note, out, error);
    snprintf(title, sizeof title, "%s, %s: %s", experiment->paper, experiment->figure, experiment->title);
    TACIT_CHECK(drawing_open(&draw, reproduction, error));
    add_panels(&draw);
    tacit_plot plot = { .title = title,
                        .note = note,
                        .description = experiment->differs,
                        .y = { .title = experiment->measures != NULL ? experiment->measures
                                        : experiment->shows_errors   ? "test error"
                                        : experiment->shows_auc      ? "test AUC"
                                                                     : "test accuracy",
                               .is_logarithmic = experiment->is_unbounded,
                               .is_bounded = !experiment->is_unbounded,
                               .least = 0,
                               .most = 1 },
                        .panels = draw.panels,
                        .count = draw.panel_count,
                        .across = experiment->by_setup ? experiment->epsilon_count : 0 };
    TACIT_CHECK(tacit_plot_write(&plot, out, error));
cleanup:
    drawing_clear(&draw);
    return status;
}
