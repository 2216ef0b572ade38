/* Rows that the tests of method describe are about, dealt out to three parties. */
#pragma once

#include "check.h"

#include <math.h>

#include "parties.h"

enum { ROWS = 600, PARTIES = 3 };

static const char schema_text[] = "label: {name: outcome, classes: [no, yes]}\n"
                                  "columns:\n"
                                  "  - {name: age, kind: number, low: 0, high: 100}\n"
                                  "  - {name: dose, kind: number, low: -1, high: 3, mean: 1, sd: 0.5}\n"
                                  "  - {name: site, kind: category, levels: [a, b, c]}\n"
                                  "  - {name: arm, kind: category, levels: [x, y], coding: effect}\n";

typedef struct world {
    tacit_schema *schema;
    parties all;
    /* What the rows hold: sums over those with an age. */
    double sites[4], ages, sum, squares;
} world;

/* Ages that are missing at every tenth row, a site that is rare, another that is unknown now and then. */
static inline void make(world *out, const tacit_method *method) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(11);
    tacit_buffer text = TACIT_BUFFER_INIT;
    *out = (world){ .schema = NULL };
    CHECK_OK(tacit_schema_parse(&out->schema, schema_text, sizeof schema_text - 1, "test", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "age,dose,site,arm,outcome\n"), error);
    for (size_t i = 0; i < ROWS; i++) {
        static const char *const names[] = { "a", "b", "c", "elsewhere" };
        double age = floor(20 + 60 * tacit_stream_unit(&stream)), dose = 2 * tacit_stream_unit(&stream);
        size_t site = i % 200 == 7 ? 2 : i % 50 == 0 ? 3 : tacit_stream_below(&stream, 2);
        out->sites[site]++;
        if (i % 10 != 3) {
            out->ages++;
            out->sum += age;
            out->squares += age * age;
            CHECK_OK(tacit_buffer_print(&text, &error, "%.0f", age), error);
        }
        CHECK_OK(tacit_buffer_print(&text, &error, ",%.6f,%s,%s,%s\n", dose, names[site],
                                    tacit_stream_below(&stream, 3) > 0 ? "x" : "y",
                                    dose > 1.2 ? "yes" : "no"),
                 error);
    }
    parties_read(&out->all, &text, out->schema, PARTIES, method);
}

static inline void end(world *self) {
    parties_end(&self->all);
    tacit_schema_free(self->schema);
}

static inline void set(world *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->all.plan, name, value, &error), error);
}
