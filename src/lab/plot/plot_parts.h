/* What the files of the chart writer share. */
#pragma once

#include "data/schema/text.h"
#include "lab/plot/plot.h"

/* ---- plot_scale.c: from values to places ---- */

enum { PLOT_MOST_TICKS = 16, PLOT_TICK_TEXT = 48 };

typedef struct plot_tick {
    double value;
    char text[PLOT_TICK_TEXT];
} plot_tick;

typedef struct plot_scale {
    bool is_logarithmic;
    bool is_empty; /* no usable value: nothing can be placed */
    bool has_zero; /* logarithmic, with a place of its own for 0 */
    double low, high;
    double begin, end; /* pixels of low and high; begin > end when the axis grows upwards */
    double zero;       /* pixels of 0, with has_zero */
    size_t tick_count;
    plot_tick ticks[PLOT_MOST_TICKS];
} plot_scale;

/* Start with no values; add them; then choose limits and ticks. */
plot_scale plot_scale_begin(const tacit_plot_axis *axis);
void plot_scale_add(plot_scale *scale, double value);
void plot_scale_finish(plot_scale *scale, const tacit_plot_axis *axis, bool to_ticks);

double plot_scale_place(const plot_scale *scale, double value);

/* Can this value be placed on such an axis? */
bool plot_scale_takes(const plot_scale *scale, double value);

/* ---- plot_text.c ---- */

/* Collects the document; the first failure is kept and everything after it skipped. */
typedef struct plot_page {
    tacit_buffer *out;
    tacit_error *error;
    tacit_status status;
} plot_page;

void plot_put(plot_page *page, const char *format, ...) TACIT_PRINTF(2, 3);

/* Text with markup escaped, `most` characters of it (0: all) and then an ellipsis. */
void plot_put_text(plot_page *page, const char *text, size_t most);

/* Coordinates are written as whole pixels and hundredths, whatever the locale: "%d.%02d", PX(x). */
int plot_whole(double pixels);
int plot_hundredths(double pixels);
#define PX(pixels) plot_whole(pixels), plot_hundredths(pixels)

/* About how many pixels wide text is at a font size; errs on the wide side. */
double plot_text_width(const char *text, double size);

/* Lines that text takes when wrapped to `width`, and the same written as <text> elements from `y` down. */
size_t plot_text_lines(const char *text, double size, double width);
void plot_put_paragraph(plot_page *page, const char *text, const char *class, double size, double x, double y,
                        double width, double line_height);

/* Of the line in that place, from 0; they repeat after seven (plot.c). */
const char *plot_line_colour(size_t place);

/* Names longer than this are cut. */
enum { PLOT_NAME_LENGTH = 40 };

/* Move `count` wanted places (pixels, in any order) as little as possible, in the sense of least squares, so
 * that they are `gap` apart and within [top, bottom]; the order is kept. TACIT_NO_MEMORY. */
tacit_status plot_spread_out(double *place, size_t count, double gap, double top, double bottom,
                             tacit_error *error);
