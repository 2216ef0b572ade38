/* Rows that lack values, dealt out to three parties, for tests of counts of missing values. */
#pragma once

#include "check.h"

#include <math.h>

#include "method/methods.h"
#include "parties.h"

enum { ROWS = 1200, PARTIES = 3 };

static const char CLASSES[] = "label: {name: ill, classes: [no, yes], missing: complete-case}\n";
static const char NUMBER[] = "label: {name: ill, kind: number, low: 0, high: 1, missing: complete-case}\n";

/* Five numbers: three columns and the label, and the rows left out. `dose` may not be missing, and `site` is skipped. */
static const char COLUMNS[] = "columns:\n"
                              "  - {name: weight, kind: number, low: 0, high: 100, missing: indicator}\n"
                              "  - {name: arm, kind: category, levels: [a, b], missing: complete-case}\n"
                              "  - {name: height, kind: number, low: 0, high: 2}\n"
                              "  - {name: dose, kind: number, low: 0, high: 1, missing: error}\n"
                              "  - {name: site, kind: skip}\n"
                              "rows: bound\nintercept: yes\n";

typedef struct world {
    tacit_schema *schema;
    parties all;
    double truth[5]; /* weight, arm, height, the label, rows left out */
} world;

static inline tacit_schema *schema_of(const char *first, const char *second) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_schema *schema = NULL;
    CHECK_OK(tacit_buffer_print(&text, &error, "%s%s", first, second), error);
    CHECK_OK(tacit_schema_parse(&schema, tacit_buffer_text(&text), text.length, "test", &error), error);
    tacit_buffer_clear(&text);
    return schema;
}

static inline void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

/* Which cells of row i are missing, bit by bit. */
static inline unsigned gaps_of(size_t i) {
    return (unsigned)(i % 3 == 0) | (unsigned)(i % 4 == 1) << 1 | (unsigned)(i % 5 == 2) << 2 |
           (unsigned)(i % 7 == 3) << 3;
}

static inline void print_row(tacit_buffer *text, size_t i, unsigned gaps, bool digits) {
    static const char *const outcome[2][2] = { { "no", "yes" }, { "0", "1" } };
    tacit_error error = TACIT_ERROR_INIT;
    char weight[32], height[32];
    snprintf(weight, sizeof weight, "%zu", 40 + i * 37 % 50);
    snprintf(height, sizeof height, "%.3f", 1 + (double)(i * 13 % 90) / 100);
    CHECK_OK(tacit_buffer_print(text, &error, "%zu,%s,%s,%s,%.2f,%zu,%zu,%s\n", i / 4, gaps & 1 ? "" : weight,
                                gaps & 2     ? "NA"
                                : i % 2 == 0 ? "a"
                                             : "b",
                                gaps & 4 ? "nan" : height, (double)(i % 11) / 10, i % 9, 1 + i * 29 % 99,
                                gaps & 8 ? "" : outcome[digits][i * 17 % 10 < 4]),
             error);
}

static inline void begin(tacit_buffer *text) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_buffer_print(text, &error, "who,weight,arm,height,dose,site,age,ill\n"), error);
}

static inline world world_of(const char *label, const tacit_method *method, const char *noise) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    world out = { .schema = schema_of(label, COLUMNS) };
    begin(&text);
    for (size_t i = 0; i < ROWS; i++) {
        const unsigned gaps = gaps_of(i);
        print_row(&text, i, gaps, label != CLASSES);
        for (size_t j = 0; j < 4; j++) out.truth[j] += gaps >> j & 1;
        out.truth[4] += (gaps & 10) != 0;
    }
    parties_read(&out.all, &text, out.schema, PARTIES, method);
    out.all.plan.epsilon = 1;
    out.all.plan.lambda = method == &tacit_method_dpcox ? 0 : 0.01;
    set(&out.all.plan, "noise", noise);
    if (method == &tacit_method_dpnewton || method == &tacit_method_dpcox) set(&out.all.plan, "rows", "1200");
    return out;
}

static inline void end(world *self) {
    parties_end(&self->all);
    tacit_schema_free(self->schema);
}

static const tacit_report_table *table_of(const tacit_model *model) {
    assert_non_null(model->missing_counts);
    const tacit_report_table *table = tacit_report_find(model->missing_counts, "missing");
    assert_non_null(table);
    return table;
}

static inline double apart(const double *a, const double *b, size_t length) {
    double square = 0;
    for (size_t j = 0; j < length; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}
