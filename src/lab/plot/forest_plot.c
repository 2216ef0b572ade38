#include "lab/plot/charts.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "lab/plot/plot_parts.h"

/* Pixels. */
static const double WIDTH = 720, LEFT = 150, RIGHT = 510, EDGE = 20, LINE = 22, HEAD = 62, PANEL_HEAD = 30,
                    FOOT = 44;

static const char PREFIX[] = "forest ";

static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica "
    "Neue',Arial,sans-serif;fill:#222}.title{font-size:18px;font-weight:600}.note{font-size:12.5px;fill:#555}"
    ".panel{font-size:14px;font-weight:600}.name{font-size:12.5px}.tick{font-size:12px;fill:#444}.grid{"
    "stroke:#e4e4e4;stroke-width:1}.zero{stroke:#888;stroke-width:1;stroke-dasharray:3 "
    "3}.bar{stroke:#0072B2;stroke-width:1.5}.site{fill:#0072B2}.pooled{fill:#A84A00}";

typedef struct pooled {
    const char *name;
    double estimate, low, high;
} pooled;

static bool is_forest(const tacit_report_table *table) {
    return strncmp(table->name, PREFIX, sizeof PREFIX - 1) == 0;
}

static double height_of(const tacit_report_table *table) {
    return PANEL_HEAD + LINE * ((double)table->rows + 2) + FOOT;
}

static double at(const tacit_report_table *table, size_t row, const char *column) {
    size_t place = tacit_report_column(table, column);
    return place == SIZE_MAX ? NAN : table->value[row * table->cols + place];
}

static void take_pooled(const tacit_report *report, const char *coefficient, pooled out[2]) {
    static const char *const tables[] = { "fixed", "random" };
    static const char *const names[] = { "Fixed effect", "Random effects" };
    for (int k = 0; k < 2; k++) {
        const tacit_report_table *table = tacit_report_find(report, tables[k]);
        out[k] = (pooled){ .name = names[k], .estimate = NAN };
        if (table == NULL) continue;
        out[k].estimate = tacit_report_value(table, coefficient, "estimate");
        out[k].low = tacit_report_value(table, coefficient, "low");
        out[k].high = tacit_report_value(table, coefficient, "high");
    }
}

static void put_line(plot_page *page, const char *name, double estimate, double low, double high, double y) {
    char figures[96];
    tacit_format(figures, sizeof figures, "%.3g [%.3g, %.3g]", estimate, low, high);
    plot_put(page, "<text class=\"name\" x=\"%d.%02d\" y=\"%d.%02d\">", PX(EDGE), PX(y + 4));
    plot_put_text(page, name, 22);
    plot_put(page, "</text><text class=\"name\" x=\"%d.%02d\" y=\"%d.%02d\">%s</text>\n", PX(RIGHT + 16),
             PX(y + 4), figures);
}

static void put_site(plot_page *page, const tacit_report_table *table, size_t row, const plot_scale *scale,
                     double y) {
    double estimate = at(table, row, "estimate"), low = at(table, row, "low"), high = at(table, row, "high");
    double share = at(table, row, "random weight"), side = 4 + 8 * sqrt(share > 0 && share <= 1 ? share : 0);
    if (!plot_scale_takes(scale, estimate) || !plot_scale_takes(scale, low) || !plot_scale_takes(scale, high))
        return;
    put_line(page, table->label[row], estimate, low, high, y);
    plot_put(page, "<line class=\"bar\" x1=\"%d.%02d\" y1=\"%d.%02d\" x2=\"%d.%02d\" y2=\"%d.%02d\"/>",
             PX(plot_scale_place(scale, low)), PX(y), PX(plot_scale_place(scale, high)), PX(y));
    plot_put(page,
             "<rect class=\"site\" x=\"%d.%02d\" y=\"%d.%02d\" width=\"%d.%02d\" height=\"%d.%02d\"/>\n",
             PX(plot_scale_place(scale, estimate) - side / 2), PX(y - side / 2), PX(side), PX(side));
}

static void put_pooled(plot_page *page, const pooled *one, const plot_scale *scale, double y) {
    if (!plot_scale_takes(scale, one->estimate) || !plot_scale_takes(scale, one->low) ||
        !plot_scale_takes(scale, one->high))
        return;
    double middle = plot_scale_place(scale, one->estimate);
    put_line(page, one->name, one->estimate, one->low, one->high, y);
    plot_put(page,
             "<polygon class=\"pooled\" points=\"%d.%02d,%d.%02d %d.%02d,%d.%02d %d.%02d,%d.%02d "
             "%d.%02d,%d.%02d\"/>\n",
             PX(plot_scale_place(scale, one->low)), PX(y), PX(middle), PX(y - 6),
             PX(plot_scale_place(scale, one->high)), PX(y), PX(middle), PX(y + 6));
}

static plot_scale scale_of(const tacit_report_table *table, const pooled all[2]) {
    const tacit_plot_axis axis = { .title = NULL };
    plot_scale scale = plot_scale_begin(&axis);
    plot_scale_add(&scale, 0);
    for (size_t row = 0; row < table->rows; row++) {
        plot_scale_add(&scale, at(table, row, "low"));
        plot_scale_add(&scale, at(table, row, "high"));
    }
    for (int k = 0; k < 2; k++) plot_scale_add(&scale, all[k].estimate);
    plot_scale_finish(&scale, &axis, false);
    scale.begin = LEFT;
    scale.end = RIGHT;
    return scale;
}

static void put_axis(plot_page *page, const plot_scale *scale, double top, double bottom) {
    for (size_t i = 0; i < scale->tick_count; i++) {
        double x = plot_scale_place(scale, scale->ticks[i].value);
        plot_put(page, "<line class=\"%s\" x1=\"%d.%02d\" y1=\"%d.%02d\" x2=\"%d.%02d\" y2=\"%d.%02d\"/>",
                 scale->ticks[i].value == 0 ? "zero" : "grid", PX(x), PX(top), PX(x), PX(bottom));
        plot_put(page, "<text class=\"tick\" text-anchor=\"middle\" x=\"%d.%02d\" y=\"%d.%02d\">%s</text>\n",
                 PX(x), PX(bottom + 16), scale->ticks[i].text);
    }
}

static void put_panel(plot_page *page, const tacit_report *report, const tacit_report_table *table,
                      double top) {
    const char *coefficient = table->name + sizeof PREFIX - 1;
    pooled all[2];
    take_pooled(report, coefficient, all);
    plot_scale scale = scale_of(table, all);
    double y = top + PANEL_HEAD;
    plot_put(page, "<text class=\"panel\" x=\"%d.%02d\" y=\"%d.%02d\">", PX(EDGE), PX(top + 14));
    plot_put_text(page, coefficient, 60);
    plot_put(page, "</text>\n");
    put_axis(page, &scale, y - LINE / 2, y + LINE * ((double)table->rows + 2) - LINE / 2);
    for (size_t row = 0; row < table->rows; row++, y += LINE) put_site(page, table, row, &scale, y);
    for (int k = 0; k < 2; k++, y += LINE) put_pooled(page, &all[k], &scale, y);
}

tacit_status tacit_forest_plot(const tacit_report *report, tacit_buffer *out, tacit_error *error) {
    plot_page page = { .out = out, .error = error, .status = TACIT_OK };
    const tacit_report_fact *level = tacit_report_find_fact(report, "level");
    double height = HEAD, top = HEAD;
    for (size_t t = 0; t < report->tables; t++)
        if (is_forest(&report->table[t])) height += height_of(&report->table[t]);
    if (strcmp(report->kind, "meta") != 0 || height == HEAD)
        return tacit_fail(error, TACIT_USAGE,
                          "a forest plot shows the sites of a meta-analysis: the report is not of method "
                          "meta with forest: yes");
    plot_put(&page,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
             "aria-label=\"Forest plot\">\n<style>",
             (int)WIDTH, (int)ceil(height));
    for (size_t i = 0; i < sizeof style - 1; i += 256) plot_put(&page, "%.256s", style + i);
    plot_put(&page, "</style>\n");
    plot_put(&page,
             "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text class=\"title\" x=\"%d.%02d\" "
             "y=\"28\">Sites and pooled estimates</text>\n",
             PX(EDGE));
    plot_put(
        &page,
        "<text class=\"note\" x=\"%d.%02d\" y=\"47\">%d%% intervals; squares grow with a site's weight in "
        "the random effects</text>\n",
        PX(EDGE),
        (int)lround(100 * (level != NULL && level->number > 0 && level->number < 1 ? level->number : 0.95)));
    for (size_t t = 0; t < report->tables; t++) {
        if (!is_forest(&report->table[t])) continue;
        put_panel(&page, report, &report->table[t], top);
        top += height_of(&report->table[t]);
    }
    plot_put(&page, "</svg>\n");
    return page.status;
}
