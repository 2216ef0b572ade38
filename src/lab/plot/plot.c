#include "lab/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/plot/plot_parts.h"

/* Pixels. */
static const double LEFT = 66, EDGE = 20, TITLE_SIZE = 18, NOTE_SIZE = 12.5, LABEL_SIZE = 13.5;
static const double ALONE_WIDTH = 520, PANEL_WIDTH = 290, AREA_HEIGHT = 320, LABEL_GAP = 18;
static const double UNDER_AREA = 54, PANEL_GAP = 26, ZERO_SLOT = 44, LABEL_OFFSET = 14;

/* Okabe and Ito's colours, told apart under every common colour blindness, without the yellow; the second of
 * each is darkened to be read as text on white. The marks differ too. */
static const struct {
    const char *line, *text;
} palette[] = {
    { "#0072B2", "#00598C" }, { "#D55E00", "#A84A00" }, { "#009E73", "#00704F" }, { "#CC79A7", "#97466F" },
    { "#E69F00", "#8A5F00" }, { "#56B4E9", "#1D6C9C" }, { "#333333", "#333333" },
};
enum { COLOURS = sizeof palette / sizeof *palette, MARKS = 5 };

const char *plot_line_colour(size_t place) { return palette[place % COLOURS].line; }

static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;fill:#222}"
    ".title{font-size:18px;font-weight:600}.note{font-size:12.5px;fill:#555}"
    ".panel{font-size:14px;font-weight:600}.axis{font-size:13px;fill:#333}"
    ".tick{font-size:12px;fill:#444}.label{font-size:13.5px;font-weight:500}"
    ".grid{stroke:#e4e4e4;stroke-width:1}.frame{stroke:#888;stroke-width:1}"
    ".series{fill:none;stroke-width:2;stroke-linejoin:round}.bar{stroke-width:1.3;stroke-opacity:.65}"
    ".reference{stroke-width:1.8;stroke-dasharray:6 4}.apart{stroke-width:1.5;stroke-dasharray:1.5 4}"
    ".leader{stroke:#bbb;stroke-width:1}";

/* Everything that is worked out before the first byte is written. */
typedef struct layout {
    const tacit_plot *plot;
    plot_scale y;
    const char **names; /* distinct names of series, in order of appearance: the position is the colour */
    size_t name_count;
    bool is_alone; /* one panel, with labels at the lines' ends */
    size_t across, down;
    double area_width, area_height, label_width;
    double width, height, top; /* top: where the first row of panels starts */
    double legend_top;
} layout;

typedef struct area {
    double left, top, right, bottom;
} area;

static bool is_usable(const tacit_plot_point *point, const plot_scale *x, const plot_scale *y) {
    return plot_scale_takes(x, point->x) && plot_scale_takes(y, point->y) &&
           !(y->is_logarithmic && point->y == 0);
}

static double spread_of(const tacit_plot_point *point) {
    return isfinite(point->spread) && point->spread > 0 ? point->spread : 0;
}

/* ---- layout ---- */

static size_t name_of(const layout *all, const char *name) {
    size_t at = 0;
    while (at < all->name_count && strcmp(all->names[at], name) != 0) at++;
    return at;
}

static tacit_status collect_names(layout *all, tacit_error *error) {
    size_t most = 0;
    for (size_t p = 0; p < all->plot->count; p++) most += all->plot->panels[p].count;
    all->names = TACIT_NEW(const char *, most);
    if (all->names == NULL) return tacit_fail_memory(error);
    for (size_t p = 0; p < all->plot->count; p++)
        for (size_t s = 0; s < all->plot->panels[p].count; s++) {
            const char *name = all->plot->panels[p].series[s].name;
            if (all->plot->panels[p].series[s].is_scattered) continue;
            if (name_of(all, name) == all->name_count) all->names[all->name_count++] = name;
        }
    return TACIT_OK;
}

static plot_scale x_scale(const tacit_plot_panel *panel) {
    plot_scale scale = plot_scale_begin(&panel->x);
    for (size_t s = 0; s < panel->count; s++)
        for (size_t i = 0; !panel->series[s].is_reference && i < panel->series[s].count; i++)
            plot_scale_add(&scale, panel->series[s].points[i].x);
    plot_scale_finish(&scale, &panel->x, false);
    return scale;
}

/* A bar that would leave a logarithmic axis, or the bounds, ends there. */
static void add_heights(plot_scale *scale, const tacit_plot_axis *axis, const tacit_plot_point *point) {
    double spread = spread_of(point);
    if (!plot_scale_takes(scale, point->y) || (scale->is_logarithmic && point->y == 0)) return;
    plot_scale_add(scale, point->y);
    if (scale->is_logarithmic && point->y - spread <= 0) return;
    for (int side = -1; side <= 1; side += 2) {
        double end = point->y + side * spread;
        if (axis->is_bounded) end = fmax(axis->least, fmin(axis->most, end));
        plot_scale_add(scale, end);
    }
}

static plot_scale y_scale(const tacit_plot *plot) {
    plot_scale scale = plot_scale_begin(&plot->y);
    for (size_t p = 0; p < plot->count; p++)
        for (size_t s = 0; s < plot->panels[p].count; s++) {
            const tacit_plot_series *series = &plot->panels[p].series[s];
            size_t count = series->is_reference && series->count > 1 ? 1 : series->count;
            for (size_t i = 0; i < count; i++) add_heights(&scale, &plot->y, &series->points[i]);
        }
    scale.has_zero = false;
    plot_scale_finish(&scale, &plot->y, true);
    return scale;
}

/* The width of a name as it is shown: cut where plot_put_text cuts it. */
static double name_width(const char *name) {
    double width = plot_text_width(name, LABEL_SIZE), longest = PLOT_NAME_LENGTH * 0.75 * LABEL_SIZE;
    return fmin(width, longest);
}

static double legend_item_width(const char *name) { return 40 + name_width(name) + 16; }

static size_t legend_lines(const layout *all) {
    double at = 0, room = all->width - LEFT - EDGE;
    size_t lines = 1;
    for (size_t i = 0; i < all->name_count; i++) {
        double width = legend_item_width(all->names[i]);
        if (at > 0 && at + width > room) {
            lines++;
            at = 0;
        }
        at += width;
    }
    return lines;
}

static tacit_status arrange(layout *all, tacit_error *error) {
    const tacit_plot *plot = all->plot;
    TACIT_TRY(collect_names(all, error));
    all->y = y_scale(plot);
    all->is_alone = plot->count == 1;
    all->across = plot->across > 0 && plot->across < plot->count ? plot->across : plot->count;
    all->down = (plot->count + all->across - 1) / all->across;
    all->area_width = all->is_alone ? ALONE_WIDTH : PANEL_WIDTH;
    all->area_height = AREA_HEIGHT - (all->is_alone ? 0 : 70);
    for (size_t i = 0; all->is_alone && i < all->name_count; i++)
        all->label_width = fmax(all->label_width, name_width(all->names[i]));
    if (all->is_alone) {
        all->area_height = fmax(all->area_height, LABEL_GAP * (double)(all->name_count + 1));
        all->label_width += LABEL_OFFSET + 6;
    }
    all->width = LEFT + (double)all->across * all->area_width +
                 (double)(all->across - 1) * (PANEL_GAP + LEFT - 30) + all->label_width + EDGE;
    double room = all->width - 2 * EDGE;
    all->top = EDGE + 8 + (double)plot_text_lines(plot->title, TITLE_SIZE, room) * 24 +
               (double)plot_text_lines(plot->note, NOTE_SIZE, room) * 17 + 12;
    all->legend_top = all->top;
    if (!all->is_alone) all->top += (double)legend_lines(all) * 24 + 8;
    bool titled = false;
    for (size_t p = 0; p < plot->count; p++) titled = titled || plot->panels[p].title != NULL;
    if (titled) all->top += 22;
    all->height = all->top + (double)all->down * (all->area_height + UNDER_AREA) +
                  (double)(all->down - 1) * (titled ? 34 : 14) + 4;
    return TACIT_OK;
}

static area area_of(const layout *all, size_t panel) {
    size_t column = panel % all->across, row = panel / all->across;
    bool titled = all->plot->panels[panel].title != NULL;
    double left = LEFT + (double)column * (all->area_width + PANEL_GAP + LEFT - 30);
    double top = all->top + (double)row * (all->area_height + UNDER_AREA + (titled ? 34 : 14));
    return (area){ left, top, left + all->area_width, top + all->area_height };
}

/* ---- drawing ---- */

/* Five marks, filled or, when the colours begin again, hollow. */
static void put_mark(plot_page *page, size_t name, double x, double y) {
    const char *colour = palette[name % COLOURS].line;
    const char *fill = name < COLOURS ? colour : "#fff";
    double r = 4;
    switch (name % MARKS) {
    case 0: plot_put(page, "<circle cx=\"%d.%02d\" cy=\"%d.%02d\" r=\"4\"", PX(x), PX(y)); break;
    case 1:
        plot_put(page, "<rect x=\"%d.%02d\" y=\"%d.%02d\" width=\"7.4\" height=\"7.4\"", PX(x - 3.7),
                 PX(y - 3.7));
        break;
    case 2:
        plot_put(page, "<path d=\"M%d.%02d %d.%02dL%d.%02d %d.%02dL%d.%02d %d.%02dZ\"", PX(x), PX(y - r - 1),
                 PX(x + r + 0.6), PX(y + r - 0.8), PX(x - r - 0.6), PX(y + r - 0.8));
        break;
    case 3:
        plot_put(page, "<path d=\"M%d.%02d %d.%02dL%d.%02d %d.%02dL%d.%02d %d.%02dL%d.%02d %d.%02dZ\"", PX(x),
                 PX(y - r - 1), PX(x + r + 1), PX(y), PX(x), PX(y + r + 1), PX(x - r - 1), PX(y));
        break;
    default:
        plot_put(page, "<path d=\"M%d.%02d %d.%02dL%d.%02d %d.%02dL%d.%02d %d.%02dZ\"", PX(x), PX(y + r + 1),
                 PX(x + r + 0.6), PX(y - r + 0.8), PX(x - r - 0.6), PX(y - r + 0.8));
    }
    plot_put(page, " fill=\"%s\" stroke=\"%s\" stroke-width=\"1.2\"/>\n", fill, colour);
}

static void put_line(plot_page *page, const char *class, double x1, double y1, double x2, double y2) {
    plot_put(page, "<line class=\"%s\" x1=\"%d.%02d\" y1=\"%d.%02d\" x2=\"%d.%02d\" y2=\"%d.%02d\"/>\n",
             class, PX(x1), PX(y1), PX(x2), PX(y2));
}

static void put_coloured(plot_page *page, const char *class, size_t name, double x1, double y1, double x2,
                         double y2) {
    plot_put(
        page,
        "<line class=\"%s\" stroke=\"%s\" x1=\"%d.%02d\" y1=\"%d.%02d\" x2=\"%d.%02d\" y2=\"%d.%02d\"/>\n",
        class, palette[name % COLOURS].line, PX(x1), PX(y1), PX(x2), PX(y2));
}

static void put_middle(plot_page *page, const char *class, double x, double y, const char *text) {
    plot_put(page, "<text class=\"%s\" x=\"%d.%02d\" y=\"%d.%02d\" text-anchor=\"middle\">", class, PX(x),
             PX(y));
    plot_put_text(page, text, 0);
    plot_put(page, "</text>\n");
}

static void put_axes(plot_page *page, const layout *all, const tacit_plot_panel *panel, const plot_scale *x,
                     const plot_scale *y, area in, bool is_first) {
    for (size_t i = 0; i < y->tick_count; i++) {
        double at = plot_scale_place(y, y->ticks[i].value);
        put_line(page, "grid", in.left, at, in.right, at);
        plot_put(page, "<text class=\"tick\" x=\"%d.%02d\" y=\"%d.%02d\" text-anchor=\"end\">",
                 PX(in.left - 8), PX(at + 4));
        plot_put_text(page, y->ticks[i].text, 0);
        plot_put(page, "</text>\n");
    }
    put_line(page, "frame", in.left, in.bottom, in.right, in.bottom);
    if (x->has_zero) {
        put_line(page, "frame", x->zero, in.bottom, x->zero, in.bottom + 5);
        put_middle(page, "tick", x->zero, in.bottom + 20, "0");
        /* The axis is interrupted between 0 and the logarithmic part. */
        double middle = (x->zero + x->begin) / 2;
        plot_put(page, "<path d=\"M%d.%02d %d.%02dl4 -8m4 0l-4 8\" stroke=\"#888\" fill=\"none\"/>\n",
                 PX(middle - 4), PX(in.bottom + 4));
    }
    for (size_t i = 0; !(x->is_empty && panel->x.names == NULL) && i < x->tick_count; i++) {
        double at = plot_scale_place(x, x->ticks[i].value);
        put_line(page, "frame", at, in.bottom, at, in.bottom + 5);
        put_middle(page, "tick", at, in.bottom + 20, x->ticks[i].text);
    }
    if (panel->x.title != NULL)
        put_middle(page, "axis", (in.left + in.right) / 2, in.bottom + 43, panel->x.title);
    if (is_first && all->plot->y.title != NULL) {
        plot_put(page,
                 "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(%d.%02d %d.%02d) "
                 "rotate(-90)\">",
                 PX(in.left - 42), PX((in.top + in.bottom) / 2));
        plot_put_text(page, all->plot->y.title, 0);
        plot_put(page, "</text>\n");
    }
    if (panel->title != NULL) put_middle(page, "panel", (in.left + in.right) / 2, in.top - 10, panel->title);
}

/* Larger than the marks of lines, so that one may lie inside. */
static void put_scattered(plot_page *page, const layout *all, const tacit_plot_series *series,
                          const plot_scale *x, const plot_scale *y) {
    size_t name = name_of(all, series->name);
    const char *colour = name < all->name_count ? palette[name % COLOURS].line : "#777777";
    for (size_t i = 0; i < series->count; i++)
        if (is_usable(&series->points[i], x, y))
            plot_put(page,
                     "<circle class=\"scattered\" cx=\"%d.%02d\" cy=\"%d.%02d\" r=\"7\" fill=\"none\" "
                     "stroke=\"%s\" stroke-width=\"1.8\"/>\n",
                     PX(plot_scale_place(x, series->points[i].x)),
                     PX(plot_scale_place(y, series->points[i].y)), colour);
}

/* Lines first, then bars, then marks, so that no line crosses a mark of its own. */
static void put_series(plot_page *page, const tacit_plot_series *series, size_t name, const plot_scale *x,
                       const plot_scale *y) {
    const tacit_plot_point *before = NULL;
    for (size_t i = 0; i < series->count; i++) {
        const tacit_plot_point *point = &series->points[i];
        if (!is_usable(point, x, y)) continue;
        if (before != NULL) {
            bool apart = x->has_zero && (before->x == 0) != (point->x == 0);
            put_coloured(page, apart ? "apart" : "series", name, plot_scale_place(x, before->x),
                         plot_scale_place(y, before->y), plot_scale_place(x, point->x),
                         plot_scale_place(y, point->y));
        }
        before = point;
    }
    for (size_t i = 0; i < series->count; i++) {
        const tacit_plot_point *point = &series->points[i];
        double spread = spread_of(point), at = plot_scale_place(x, point->x);
        if (!is_usable(point, x, y) || spread == 0) continue;
        double low = fmax(point->y - spread, y->low), high = fmin(point->y + spread, y->high);
        double bottom = plot_scale_place(y, low), top = plot_scale_place(y, high);
        put_coloured(page, "bar", name, at, top, at, bottom);
        put_coloured(page, "bar", name, at - 3.5, top, at + 3.5, top);
        put_coloured(page, "bar", name, at - 3.5, bottom, at + 3.5, bottom);
    }
    for (size_t i = 0; i < series->count; i++)
        if (is_usable(&series->points[i], x, y))
            put_mark(page, name, plot_scale_place(x, series->points[i].x),
                     plot_scale_place(y, series->points[i].y));
}

/* Where a series ends; false when nothing of it is shown. */
static bool end_of(const tacit_plot_series *series, const plot_scale *x, const plot_scale *y, area in,
                   double *end_x, double *end_y) {
    if (series->is_reference) {
        *end_x = in.right;
        if (series->count == 0 || !plot_scale_takes(y, series->points[0].y)) return false;
        if (y->is_logarithmic && series->points[0].y == 0) return false;
        *end_y = plot_scale_place(y, series->points[0].y);
        return true;
    }
    for (size_t i = series->count; i > 0; i--) {
        if (!is_usable(&series->points[i - 1], x, y)) continue;
        *end_x = plot_scale_place(x, series->points[i - 1].x);
        *end_y = plot_scale_place(y, series->points[i - 1].y);
        return true;
    }
    return false;
}

static void put_label(plot_page *page, const char *name, size_t colour, double x, double y) {
    plot_put(page, "<text class=\"label\" x=\"%d.%02d\" y=\"%d.%02d\" style=\"fill:%s\">", PX(x), PX(y + 4.5),
             palette[colour % COLOURS].text);
    plot_put_text(page, name, PLOT_NAME_LENGTH);
    plot_put(page, "</text>\n");
}

static tacit_status put_labels(plot_page *page, const layout *all, const tacit_plot_panel *panel,
                               const plot_scale *x, const plot_scale *y, area in) {
    double *place = TACIT_NEW(double, panel->count), end_x, end_y;
    size_t *shown = TACIT_NEW(size_t, panel->count), count = 0;
    tacit_status status = TACIT_OK;
    if (place == NULL || shown == NULL) TACIT_CHECK(tacit_fail_memory(page->error));
    for (size_t s = 0; s < panel->count; s++)
        if (!panel->series[s].is_scattered && end_of(&panel->series[s], x, y, in, &end_x, &end_y)) {
            place[count] = end_y;
            shown[count++] = s;
        }
    TACIT_CHECK(plot_spread_out(place, count, LABEL_GAP, in.top + 6, in.bottom - 6, page->error));
    for (size_t i = 0; i < count; i++) {
        const tacit_plot_series *series = &panel->series[shown[i]];
        end_of(series, x, y, in, &end_x, &end_y);
        double text = in.right + LABEL_OFFSET,
               from = series->is_reference ? in.right + 2 : fmax(end_x + 8, in.right - 2);
        if (end_x + 8 < from) put_line(page, "leader", end_x + 8, end_y, from, end_y);
        if (fabs(place[i] - end_y) > 1) put_line(page, "leader", from, end_y, text - 3, place[i]);
        put_label(page, series->name, name_of(all, series->name), text, place[i]);
    }
cleanup:
    free(place);
    free(shown);
    return status;
}

static tacit_status put_panel(plot_page *page, const layout *all, size_t at) {
    const tacit_plot_panel *panel = &all->plot->panels[at];
    plot_scale x = x_scale(panel), y = all->y;
    area in = area_of(all, at);
    x.begin = in.left + (x.has_zero ? ZERO_SLOT : 0);
    x.end = in.right;
    x.zero = in.left + 16;
    y.begin = in.bottom;
    y.end = in.top;
    plot_put(page, "<g>\n");
    put_axes(page, all, panel, &x, &y, in, at % all->across == 0);
    if (y.is_empty) put_middle(page, "axis", (in.left + in.right) / 2, (in.top + in.bottom) / 2, "no values");
    for (size_t s = 0; s < panel->count; s++) {
        const tacit_plot_series *series = &panel->series[s];
        size_t name = name_of(all, series->name);
        double end_x, end_y;
        if (series->is_scattered)
            put_scattered(page, all, series, &x, &y);
        else if (!series->is_reference)
            put_series(page, series, name, &x, &y);
        else if (end_of(series, &x, &y, in, &end_x, &end_y))
            put_coloured(page, "reference", name, in.left, end_y, in.right, end_y);
    }
    tacit_status status = all->is_alone ? put_labels(page, all, panel, &x, &y, in) : TACIT_OK;
    plot_put(page, "</g>\n");
    return status;
}

static bool is_reference_name(const layout *all, const char *name) {
    for (size_t p = 0; p < all->plot->count; p++)
        for (size_t s = 0; s < all->plot->panels[p].count; s++)
            if (strcmp(all->plot->panels[p].series[s].name, name) == 0)
                return all->plot->panels[p].series[s].is_reference;
    return false;
}

static void put_legend(plot_page *page, const layout *all) {
    double x = LEFT, y = all->legend_top + 8;
    for (size_t i = 0; i < all->name_count; i++) {
        double width = legend_item_width(all->names[i]);
        if (x > LEFT && x + width > all->width - EDGE) {
            x = LEFT;
            y += 24;
        }
        bool dashed = is_reference_name(all, all->names[i]);
        put_coloured(page, dashed ? "reference" : "series", i, x, y, x + 30, y);
        if (!dashed) put_mark(page, i, x + 15, y);
        put_label(page, all->names[i], i, x + 38, y);
        x += width;
    }
}

static void put_heading(plot_page *page, const layout *all) {
    const tacit_plot *plot = all->plot;
    double room = all->width - 2 * EDGE, y = EDGE + 16;
    plot_put(page,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d.%02d\" height=\"%d.%02d\" ",
             PX(all->width), PX(all->height));
    plot_put(page, "viewBox=\"0 0 %d.%02d %d.%02d\" role=\"img\" aria-labelledby=\"plot-title plot-desc\">\n",
             PX(all->width), PX(all->height));
    plot_put(page, "<title id=\"plot-title\">");
    plot_put_text(page, plot->title, 0);
    plot_put(page, "</title>\n<desc id=\"plot-desc\">");
    plot_put_text(page, plot->description != NULL ? plot->description : plot->title, 0);
    plot_put(page, "</desc>\n<style>");
    for (size_t i = 0; i < sizeof style - 1; i += 256) plot_put(page, "%.256s", style + i);
    plot_put(page, "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    plot_put_paragraph(page, plot->title, "title", TITLE_SIZE, EDGE, y, room, 24);
    y += (double)plot_text_lines(plot->title, TITLE_SIZE, room) * 24 - 3;
    plot_put_paragraph(page, plot->note, "note", NOTE_SIZE, EDGE, y, room, 17);
}

tacit_status tacit_plot_write(const tacit_plot *plot, tacit_buffer *out, tacit_error *error) {
    layout all = { .plot = plot };
    plot_page page = { out, error, TACIT_OK };
    if (plot->count == 0) return tacit_fail(error, TACIT_USAGE, "a chart needs at least one panel");
    tacit_status status = arrange(&all, error);
    if (status == TACIT_OK) put_heading(&page, &all);
    if (status == TACIT_OK && !all.is_alone) put_legend(&page, &all);
    for (size_t p = 0; p < plot->count && status == TACIT_OK; p++) status = put_panel(&page, &all, p);
    plot_put(&page, "</svg>\n");
    free(all.names);
    return status != TACIT_OK ? status : page.status;
}
