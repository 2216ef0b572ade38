/*
 * Charts as standalone SVG: points, lines and error bars against linear, logarithmic or named positions. One
 * chart names its lines where they end; several panels share a legend and the vertical axis. The same plot
 * gives the same bytes everywhere, in any locale.
 *
 * A point that is not finite (or larger than 1e100), or not positive on a logarithmic axis, is skipped, with
 * one exception: x = 0 on a logarithmic axis gets a place of its own, to the left of the others.
 */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"

typedef struct tacit_plot_point {
    double x, y;
    double spread; /* the error bar reaches this far up and down; 0: none */
} tacit_plot_point;

typedef struct tacit_plot_series {
    const char *name; /* series of one name have one colour in all panels */
    const tacit_plot_point *points;
    size_t count;
    bool is_reference; /* a dashed horizontal line at the first point's y */
    /* large hollow circles in the colour of the series of that name (grey without one) and no label: the note
     * should say what they are */
    bool is_scattered;
} tacit_plot_series;

typedef struct tacit_plot_axis {
    const char *title;
    bool is_logarithmic;
    bool is_bounded; /* the axis stays within [least, most]: accuracies end at 1 */
    double least, most;
    const char *const *names; /* of positions 1, 2, ...; NULL: numbers */
    size_t name_count;
} tacit_plot_axis;

typedef struct tacit_plot_panel {
    const char *title; /* NULL: none */
    tacit_plot_axis x;
    const tacit_plot_series *series;
    size_t count;
} tacit_plot_panel;

/* Texts are UTF-8 and may hold anything: they are escaped, and what XML does not allow is replaced. */
typedef struct tacit_plot {
    const char *title;
    const char *note;        /* smaller, under the title; NULL: none */
    const char *description; /* for those who cannot see the chart; NULL: none */
    tacit_plot_axis y;
    const tacit_plot_panel *panels;
    size_t count;
    size_t across; /* panels in a row; 0: all */
} tacit_plot;

/* Append the SVG document. */
tacit_status tacit_plot_write(const tacit_plot *plot, tacit_buffer *out, tacit_error *error);
