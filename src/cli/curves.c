#include "cli/curves.h"

#include <stdio.h>
#include <string.h>

#include "api/json_text.h"

static const double within[] = { 1e-2, 1e-4, 1e-6, 1e-8, 1e-10 };
enum { LEVELS = sizeof within / sizeof *within };

/* The last point of the next curve from *at on, which then moves behind it; NULL: no more. */
static const tacit_trace_point *next_curve(const tacit_trace *trace, size_t *at) {
    if (*at >= trace->count) return NULL;
    size_t last = *at;
    while (last + 1 < trace->count && trace->points[last + 1].round > trace->points[last].round) last++;
    *at = last + 1;
    return &trace->points[last];
}

tacit_status tacit_rounds_print(tacit_console *console, const tacit_reproduction *result,
                                tacit_error *error) {
    static const tacit_grid_column columns[] = {
        { "curve", TACIT_LEFT },  { "rounds", TACIT_RIGHT },    { "to the optimum", TACIT_RIGHT },
        { "apart", TACIT_RIGHT }, { "objective", TACIT_RIGHT }, { "within 1e-2", TACIT_RIGHT },
        { "1e-4", TACIT_RIGHT },  { "1e-6", TACIT_RIGHT },      { "1e-8", TACIT_RIGHT },
        { "1e-10", TACIT_RIGHT },
    };
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    size_t at = 0;
    for (const tacit_trace_point *end; (end = next_curve(&result->trace, &at)) != NULL;) {
        tacit_grid_cell(grid, "%s", end->curve);
        tacit_grid_cell(grid, "%llu", (unsigned long long)end->round);
        tacit_grid_cell(grid, "%.1e", end->distance);
        tacit_grid_cell(grid, "%.1e", end->disagreement);
        tacit_grid_cell(grid, "%.1e", end->gap);
        for (size_t i = 0; i < LEVELS; i++) {
            uint64_t round = tacit_trace_reached(end, within[i]);
            if (round <= end->round)
                tacit_grid_cell(grid, "%llu", (unsigned long long)round);
            else
                tacit_grid_cell(grid, "-");
        }
    }
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static json_t *reached_document(const tacit_trace_point *end) {
    json_t *reached = json_object();
    for (size_t i = 0; reached != NULL && i < LEVELS; i++) {
        char name[16];
        uint64_t round = tacit_trace_reached(end, within[i]);
        snprintf(name, sizeof name, "%.0e", within[i]);
        json_t *told = round <= end->round ? json_integer((json_int_t)round) : json_null();
        if (json_object_set_new(reached, name, told) == 0) continue;
        json_decref(reached);
        reached = NULL;
    }
    return reached;
}

json_t *tacit_rounds_document(const tacit_reproduction *result) {
    json_t *list = json_array();
    size_t at = 0;
    for (const tacit_trace_point *end; (end = next_curve(&result->trace, &at)) != NULL;)
        list = tacit_json_append(
            list, json_pack("{s:s,s:I,s:o,s:o,s:o,s:o}", "curve", end->curve, "rounds",
                            (json_int_t)end->round, "distance", tacit_json_number(end->distance),
                            "disagreement", tacit_json_number(end->disagreement), "gap",
                            tacit_json_number(end->gap), "reached", reached_document(end)));
    return list;
}
