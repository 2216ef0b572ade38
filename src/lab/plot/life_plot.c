#include "lab/plot/charts.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "lab/plot/plot_parts.h"

/* Pixels. */
static const double LEFT = 150, RIGHT = 690, TOP = 56, BOTTOM = 376, WIDTH = 720, LINE = 20;
enum { MOST_CURVES = 50 };

static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;fill:#222;"
    "font-size:12px}.title{font-size:18px;font-weight:600}.grid{stroke:#e4e4e4}.frame{stroke:#888}"
    ".curve{fill:none;stroke-width:2}.band{fill-opacity:.15;stroke:none}";

/* A line that steps at the times of a table's rows, and its bounds: columns of the table. */
typedef struct series {
    const tacit_report_table *table;
    size_t value, low, high;
    double start; /* where it is at time 0 */
} series;

typedef struct drawing {
    plot_page page;
    plot_scale x;
    double down; /* how far below the first picture this one is */
    const tacit_report_table *curve[MOST_CURVES], *incidence[MOST_CURVES];
    size_t count, incidences;
} drawing;

/* The columns of a cause in a table of incidence: its share, error, low and high. */
enum { CAUSE_COLUMNS = 4 };

static const char *group_of(const tacit_report_table *table) { return table->name + strlen("curve "); }

static double time_of(const tacit_report_table *table, size_t row) {
    return tacit_read_double(table->label[row], NULL);
}

static double value_of(const tacit_report_table *table, size_t row, const char *column) {
    size_t at = tacit_report_column(table, column);
    return at != SIZE_MAX ? table->value[row * table->cols + at] : NAN;
}

static double height_of(const drawing *self, double share) {
    return self->down + BOTTOM - fmin(fmax(share, 0), 1) * (BOTTOM - TOP);
}

static void find_curves(drawing *self, const tacit_report *report) {
    for (size_t t = 0; t < report->tables; t++) {
        const tacit_report_table *table = &report->table[t];
        if (table->rows == 0) continue;
        if (strncmp(table->name, "curve ", strlen("curve ")) == 0 && self->count < MOST_CURVES)
            self->curve[self->count++] = table;
        if (strncmp(table->name, "incidence ", strlen("incidence ")) == 0 && self->incidences < MOST_CURVES)
            self->incidence[self->incidences++] = table;
    }
}

static series survival_of(const tacit_report_table *table) {
    return (series){ table, tacit_report_column(table, "survival"), tacit_report_column(table, "low"),
                     tacit_report_column(table, "high"), 1 };
}

static series incidence_of(const tacit_report_table *table, size_t cause) {
    size_t first = CAUSE_COLUMNS * cause;
    return (series){ table, first, first + 2, first + 3, 0 };
}

/* NaN: the bound is where the line is. */
static double number_of(const series *line, size_t row, size_t column) {
    const tacit_report_table *table = line->table;
    double value = column < table->cols ? table->value[row * table->cols + column] : NAN;
    if (isnan(value) && line->value < table->cols) value = table->value[row * table->cols + line->value];
    return isnan(value) ? 0 : value;
}

/* Of the first picture with its numbers at risk; of one of incidence, with the names of causes. */
static double first_height(const drawing *self) { return BOTTOM + 76 + LINE * (double)self->count; }

static double next_height(const tacit_report_table *table) {
    return BOTTOM + 56 + LINE * (double)(table->cols / CAUSE_COLUMNS);
}

static void lay_axis(drawing *self) {
    static const tacit_plot_axis axis = { .title = "time", .is_bounded = true, .most = 1e99 };
    self->x = plot_scale_begin(&axis);
    plot_scale_add(&self->x, 0);
    for (size_t c = 0; c < self->count; c++)
        for (size_t k = 0; k < self->curve[c]->rows; k++)
            plot_scale_add(&self->x, time_of(self->curve[c], k));
    self->x.begin = LEFT;
    self->x.end = RIGHT;
    plot_scale_finish(&self->x, &axis, true);
}

static void put_heading(drawing *self) {
    plot_page *page = &self->page;
    double height = first_height(self);
    for (size_t k = 0; k < self->incidences; k++) height += next_height(self->incidence[k]);
    plot_put(page,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
             "width=\"%d.%02d\" height=\"%d.%02d\" role=\"img\" aria-labelledby=\"plot-title\">\n",
             PX(WIDTH), PX(height));
    plot_put(page, "<title id=\"plot-title\">Survival, with numbers at risk</title>\n<style>");
    for (size_t i = 0; i < sizeof style - 1; i += 256) plot_put(page, "%.256s", style + i);
    plot_put(page, "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                   "<text class=\"title\" x=\"20\" y=\"32\">Survival</text>\n");
}

static void put_text(plot_page *page, double x, double y, const char *anchor, const char *colour,
                     const char *text) {
    plot_put(page, "<text x=\"%d.%02d\" y=\"%d.%02d\" text-anchor=\"%s\" style=\"fill:%s\">", PX(x), PX(y),
             anchor, colour);
    plot_put_text(page, text, PLOT_NAME_LENGTH / 2);
    plot_put(page, "</text>\n");
}

static void put_line(plot_page *page, const char *class, double x, double y, double right, double bottom) {
    plot_put(page, "<line class=\"%s\" x1=\"%d.%02d\" y1=\"%d.%02d\" ", class, PX(x), PX(y));
    plot_put(page, "x2=\"%d.%02d\" y2=\"%d.%02d\"/>\n", PX(right), PX(bottom));
}

static void put_axes(drawing *self) {
    plot_page *page = &self->page;
    char text[16];
    for (int k = 0; k <= 5; k++) {
        double y = height_of(self, k / 5.0);
        put_line(page, k == 0 ? "frame" : "grid", LEFT, y, RIGHT, y);
        tacit_format(text, sizeof text, "%.1f", k / 5.0);
        put_text(page, LEFT - 8, y + 4, "end", "#444", text);
    }
    for (size_t k = 0; k < self->x.tick_count; k++) {
        double x = plot_scale_place(&self->x, self->x.ticks[k].value);
        put_line(page, "grid", x, self->down + TOP, x, self->down + BOTTOM);
        put_text(page, x, self->down + BOTTOM + 18, "middle", "#444", self->x.ticks[k].text);
    }
    put_text(page, (LEFT + RIGHT) / 2, self->down + BOTTOM + 40, "middle", "#444", "time");
}

/* Forward along a bound, which steps at each time; back along the other. */
static void put_band(drawing *self, const series *line, const char *colour) {
    plot_page *page = &self->page;
    const tacit_report_table *table = line->table;
    double before = height_of(self, line->start);
    plot_put(page, "<path class=\"band\" fill=\"%s\" d=\"M%d.%02d %d.%02d", colour,
             PX(plot_scale_place(&self->x, 0)), PX(before));
    for (size_t k = 0; k < table->rows; k++) {
        double x = plot_scale_place(&self->x, time_of(table, k)),
               y = height_of(self, number_of(line, k, line->high));
        plot_put(page, "L%d.%02d %d.%02d", PX(x), PX(before));
        plot_put(page, "L%d.%02d %d.%02d", PX(x), PX(y));
        before = y;
    }
    for (size_t k = table->rows; k-- > 0;) {
        double x = plot_scale_place(&self->x, time_of(table, k)),
               y = height_of(self, number_of(line, k, line->low));
        double next = k + 1 < table->rows ? plot_scale_place(&self->x, time_of(table, k + 1)) : x;
        plot_put(page, "L%d.%02d %d.%02d", PX(next), PX(y));
        plot_put(page, "L%d.%02d %d.%02d", PX(x), PX(y));
    }
    plot_put(page, "L%d.%02d %d.%02dZ\"/>\n", PX(plot_scale_place(&self->x, time_of(table, 0))),
             PX(height_of(self, line->start)));
}

static void put_curve(drawing *self, const series *line, const char *colour) {
    plot_page *page = &self->page;
    double before = height_of(self, line->start);
    plot_put(page, "<path class=\"curve\" stroke=\"%s\" d=\"M%d.%02d %d.%02d", colour,
             PX(plot_scale_place(&self->x, 0)), PX(before));
    for (size_t k = 0; k < line->table->rows; k++) {
        double x = plot_scale_place(&self->x, time_of(line->table, k)),
               y = height_of(self, number_of(line, k, line->value));
        plot_put(page, "L%d.%02d %d.%02d", PX(x), PX(before));
        plot_put(page, "L%d.%02d %d.%02d", PX(x), PX(y));
        before = y;
    }
    plot_put(page, "\"/>\n");
}

/* Who is at risk at a time: those of the first step at or after it; beyond the curve nothing is known. */
static void put_at_risk(drawing *self, size_t c, const char *colour) {
    const tacit_report_table *table = self->curve[c];
    double y = BOTTOM + 62 + LINE * (double)c;
    char text[32];
    put_text(&self->page, LEFT - 30, y, "end", colour, group_of(table));
    for (size_t k = 0; k < self->x.tick_count; k++) {
        size_t row = 0;
        while (row < table->rows && time_of(table, row) < self->x.ticks[k].value) row++;
        if (row == table->rows) break;
        tacit_format(text, sizeof text, "%.0f", fmax(0, value_of(table, row, "at risk")));
        put_text(&self->page, plot_scale_place(&self->x, self->x.ticks[k].value), y, "middle", "#222", text);
    }
}

static void put_survival(drawing *self) {
    put_axes(self);
    for (size_t c = 0; c < self->count; c++) {
        series line = survival_of(self->curve[c]);
        put_band(self, &line, plot_line_colour(c));
    }
    for (size_t c = 0; c < self->count; c++) {
        series line = survival_of(self->curve[c]);
        put_curve(self, &line, plot_line_colour(c));
    }
    put_text(&self->page, LEFT - 30, BOTTOM + 40, "end", "#444", "at risk");
    for (size_t c = 0; c < self->count; c++) put_at_risk(self, c, plot_line_colour(c));
}

/* Competing causes of one group, each from 0 up. */
static void put_incidence(drawing *self, const tacit_report_table *table) {
    plot_page *page = &self->page;
    size_t causes = table->cols / CAUSE_COLUMNS;
    plot_put(page, "<text class=\"title\" x=\"20\" y=\"%d.%02d\">", PX(self->down + 32));
    plot_put_text(page, table->title, PLOT_NAME_LENGTH);
    plot_put(page, "</text>\n");
    put_axes(self);
    for (size_t k = 0; k < 2 * causes; k++) {
        series line = incidence_of(table, k % causes);
        (k < causes ? put_band : put_curve)(self, &line, plot_line_colour(k % causes));
    }
    for (size_t k = 0; k < causes; k++)
        put_text(page, LEFT, self->down + BOTTOM + 58 + LINE * (double)k, "start", plot_line_colour(k),
                 table->column[CAUSE_COLUMNS * k]);
}

tacit_status tacit_life_plot(const tacit_report *report, tacit_buffer *out, tacit_error *error) {
    drawing self = { .page = { out, error, TACIT_OK } };
    find_curves(&self, report);
    if (self.count == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "the report is of kind %s and has no curves of survival: there is no picture of it",
                          report->kind);
    lay_axis(&self);
    put_heading(&self);
    put_survival(&self);
    self.down = first_height(&self);
    for (size_t k = 0; k < self.incidences; self.down += next_height(self.incidence[k++]))
        put_incidence(&self, self.incidence[k]);
    plot_put(&self.page, "</svg>\n");
    return self.page.status;
}
