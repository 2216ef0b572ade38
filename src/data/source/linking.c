/* Rows of several sources together, person by person, as a linking file says (linking.h). */
#include "data/source/linking.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/source/source_parts.h"

/* Lines of the n-th source are those of the table from n times this. */
enum { SOURCE_SHIFT = 56 };

typedef enum made_kind {
    MADE_FIRST, /* of the first source */
    MADE_EVENT, /* the same, but 0 unless the piece is the last of its row */
    MADE_TIME,  /* of a wide row's part */
    MADE_START,
    MADE_STOP,
    MADE_EPISODE,
    MADE_JOINED, /* of another source */
    MADE_SINCE,
} made_kind;

typedef struct made_column {
    made_kind kind;
    size_t source, column;
} made_column;

typedef struct linking_table {
    tacit_source base;
    linking about;
    held_rows *held;   /* one a source */
    made_column *made; /* one a column */
    follow_up columns;
    bool drained;
    held_clock clock;
    tacit_levels persons;
    size_t person, at; /* whose pieces are at hand, counted from 1; which of them is next */
    pieces pieces;
    tacit_cell *cells; /* of a block */
} linking_table;

static bool linking_takes(const tacit_place *place) {
    return !place->is_folder && place->input == NULL && linking_is_named(place->name);
}

static void linking_free(tacit_source *source) {
    linking_table *self = (linking_table *)source;
    for (size_t k = 0; self->held != NULL && k < self->about.count; k++) held_clear(&self->held[k]);
    free(self->held);
    free(self->made);
    free(self->cells);
    pieces_clear(&self->pieces);
    tacit_levels_clear(&self->persons);
    linking_clear(&self->about);
}

/* ---- columns ---- */

static tacit_status add_made(linking_table *self, made_column made, const char *name, tacit_column_hint hint,
                             tacit_error *error) {
    size_t count = self->base.columns.count;
    made_column *grown = tacit_grow(self->made, count + 1, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    self->made = grown;
    grown[count] = made;
    int32_t before = tacit_levels_find(&self->base.columns, name, strlen(name));
    if (before >= 0)
        return tacit_fail(
            error, TACIT_INPUT,
            "%s: '%.60s' is a column of %s and of %s. Give one another name, rename: {%.60s: NEW}, or "
            "take only some columns, columns: [...]",
            self->base.name, name, self->held[grown[before].source].inner->name,
            self->held[made.source].inner->name, name);
    return source_add_column(&self->base, name, hint, error);
}

static tacit_column_hint hint_of(const held_rows *held, size_t column) {
    return tacit_source_hint(held->inner, held->taken[held->columns[column].first]);
}

static bool is_column(const held_rows *held, size_t column, const char *name) {
    const char *own = held->inner->columns.text[held->taken[held->columns[column].first]];
    return name != NULL && held->columns[column].step == 0 && strcmp(own, name) == 0;
}

/* Where a column of the first source is, by the name that it has there. */
static tacit_status find_own(const held_rows *first, const char *name, const char *key, size_t *out,
                             tacit_error *error) {
    size_t found = 0;
    *out = SIZE_MAX;
    if (name == NULL) return TACIT_OK;
    TACIT_TRY(tacit_source_require(first->inner, name, key, &found, error));
    for (size_t c = 0; c < first->column_count; c++)
        if (is_column(first, c, name)) *out = c;
    return TACIT_OK;
}

static tacit_status add_first(linking_table *self, tacit_error *error) {
    const held_rows *first = &self->held[0];
    const linking *about = &self->about;
    for (size_t c = 0; c < first->column_count; c++) {
        if (first->columns[c].step != 0) continue;
        if (about->has_intervals && (c == self->columns.from || c == self->columns.until)) continue;
        made_column made = { c == self->columns.event ? MADE_EVENT : MADE_FIRST, 0, c };
        TACIT_TRY(add_made(self, made, first->columns[c].name, hint_of(first, c), error));
    }
    if (first->about->times != NULL)
        TACIT_TRY(
            add_made(self, (made_column){ MADE_TIME, 0, 0 }, first->about->time, TACIT_HINT_NUMBER, error));
    for (size_t c = 0; c < first->column_count; c++)
        if (first->columns[c].step != 0)
            TACIT_TRY(add_made(self, (made_column){ MADE_FIRST, 0, c }, first->columns[c].name,
                               hint_of(first, c), error));
    if (!about->has_intervals) return TACIT_OK;
    made_column start = { MADE_START, 0, self->columns.until }, stop = { MADE_STOP, 0, self->columns.until };
    made_column episode = { MADE_EPISODE, 0, self->columns.until };
    TACIT_TRY(add_made(self, start, about->start, TACIT_HINT_NUMBER, error));
    TACIT_TRY(add_made(self, stop, about->stop, TACIT_HINT_NUMBER, error));
    if (about->episode == NULL) return TACIT_OK;
    return add_made(self, episode, about->episode, TACIT_HINT_NUMBER, error);
}

static tacit_status add_joined(linking_table *self, size_t source, tacit_error *error) {
    const held_rows *held = &self->held[source];
    for (size_t c = 0; c < held->column_count; c++)
        TACIT_TRY(add_made(self, (made_column){ MADE_JOINED, source, c }, held->columns[c].name,
                           hint_of(held, c), error));
    if (held->about->since == NULL) return TACIT_OK;
    return add_made(self, (made_column){ MADE_SINCE, source, 0 }, held->about->since, TACIT_HINT_NUMBER,
                    error);
}

static tacit_status open_all(linking_table *self, tacit_error *error) {
    const linking *about = &self->about;
    follow_up *columns = &self->columns;
    self->held = TACIT_NEW(held_rows, about->count);
    if (self->held == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < about->count; k++)
        TACIT_TRY(held_open(&self->held[k], &about->sources[k], about, k == 0, error));
    TACIT_TRY(find_own(&self->held[0], about->origin, "origin", &columns->origin, error));
    TACIT_TRY(find_own(&self->held[0], about->from, "from", &columns->from, error));
    TACIT_TRY(find_own(&self->held[0], about->until, "until", &columns->until, error));
    TACIT_TRY(find_own(&self->held[0], about->event, "event", &columns->event, error));
    self->base.row_name = self->held[0].inner->row_name;
    TACIT_TRY(add_first(self, error));
    for (size_t k = 1; k < about->count; k++) TACIT_TRY(add_joined(self, k, error));
    return TACIT_OK;
}

static tacit_status linking_open(tacit_source **out, const tacit_place *place,
                                 const tacit_source_options *options, tacit_error *error) {
    linking_table *self = NULL;
    if (options->no_header)
        return tacit_fail(error, TACIT_USAGE,
                          "%s names columns, so its sources need headers: leave out the option 'no-header'",
                          place->name);
    TACIT_TRY(source_create(&self, sizeof *self, &tacit_source_linking, place->name, error));
    tacit_status status = linking_load(&self->about, place->name, error);
    if (status == TACIT_OK) status = open_all(self, error);
    if (status == TACIT_OK)
        *out = &self->base;
    else
        tacit_source_free(&self->base);
    return status;
}

/* ---- rows ---- */

static tacit_status drain(linking_table *self, tacit_error *error) {
    size_t width = self->base.columns.count;
    for (size_t k = 0; k < self->about.count; k++)
        TACIT_TRY(held_drain(&self->held[k], &self->persons, k == 0, &self->clock, error));
    for (size_t k = 0; k < self->about.count; k++)
        TACIT_TRY(held_settle(&self->held[k], self->persons.count, k == 0, error));
    self->cells = TACIT_NEW(tacit_cell, ((BLOCK_CELLS - 1) / width + 1) * width);
    if (self->cells == NULL) return tacit_fail_memory(error);
    self->drained = true;
    return TACIT_OK;
}

static tacit_cell number_cell(double number) {
    return (tacit_cell){ .number = number, .kind = TACIT_CELL_NUMBER };
}

static double episode_of(const linking *about, const piece *of) {
    size_t episode = 1;
    for (size_t i = 0; i < about->cut_count; i++) episode += of->origin + about->cuts[i] <= of->start;
    return (double)episode;
}

/* Has it happened before, and not too long ago? */
static bool has_happened(const held_rows *held, const piece *of, bool after) {
    for (size_t i = held->end - held->begin; i-- > 0;) {
        double then = held->rows[held->begin + i].time, until = then + held->about->carry;
        if (then <= of->start) return after ? of->start < until : of->start <= until;
    }
    return false;
}

/* A cell of a piece; its line is the one of its own source, or of the first where there is nothing. */
static tacit_cell make_cell(const linking_table *self, const made_column *made, const piece *of) {
    const held_rows *held = &self->held[made->source], *first = &self->held[0];
    const bool after = self->about.has_intervals;
    const held_row *row = &first->rows[first->begin + of->row];
    const tacit_cell *found = NULL;
    tacit_cell cell = { .text = "", .kind = TACIT_CELL_PLAIN };
    if (made->kind == MADE_FIRST || (made->kind == MADE_EVENT && of->last))
        return *held_cell(first, of->row, made->column);
    switch (made->kind) {
    case MADE_FIRST:
    case MADE_EVENT: cell = number_cell(0); break;
    case MADE_TIME: cell = number_cell(row->time); break;
    case MADE_START: cell = number_cell(of->start - of->origin); break;
    case MADE_STOP: cell = number_cell(of->stop - of->origin); break;
    case MADE_EPISODE: cell = number_cell(episode_of(&self->about, of)); break;
    case MADE_SINCE: cell = number_cell(has_happened(held, of, after)); break;
    case MADE_JOINED:
        found = held_at(held, made->column, of->start, after);
        if (found == NULL) break;
        cell = *found;
        cell.line += (uint64_t)made->source << SOURCE_SHIFT;
        return cell;
    }
    cell.line = row->line;
    return cell;
}

/* The next piece, of the next person if need be; NULL after the last. */
static tacit_status next_piece(linking_table *self, const piece **out, tacit_error *error) {
    *out = NULL;
    while (self->at == self->pieces.count) {
        if (self->person == self->persons.count) return TACIT_OK;
        for (size_t k = 0; k < self->about.count; k++)
            TACIT_TRY(held_visit(&self->held[k], self->person, error));
        self->person++;
        self->at = 0;
        TACIT_TRY(pieces_make(&self->pieces, &self->about, self->held, &self->columns, &self->clock, error));
    }
    *out = &self->pieces.items[self->at++];
    return TACIT_OK;
}

static tacit_status linking_next(tacit_source *source, size_t most, tacit_row_block *out,
                                 tacit_error *error) {
    linking_table *self = (linking_table *)source;
    size_t width = source->columns.count, limit = (BLOCK_CELLS - 1) / width + 1;
    if (!self->drained) TACIT_TRY(drain(self, error));
    out->cells = self->cells;
    while (out->rows + out->left_out < most && out->rows < limit) {
        const piece *of = NULL;
        TACIT_TRY(next_piece(self, &of, error));
        out->ended = of == NULL;
        if (of == NULL) return TACIT_OK;
        if (!tacit_row_filter_keeps(source->filter, source->row++)) {
            out->left_out++;
            continue;
        }
        tacit_cell *cells = self->cells + out->rows++ * width;
        for (size_t j = 0; j < width; j++) cells[j] = make_cell(self, &self->made[j], of);
    }
    return TACIT_OK;
}

/* All rows are at hand, whoever was chosen before. */
static tacit_status linking_rewind(tacit_source *source, tacit_error *error) {
    linking_table *self = (linking_table *)source;
    (void)error;
    self->person = self->at = self->pieces.count = 0;
    return TACIT_OK;
}

/* ---- places ---- */

static const char *linking_file(const tacit_source *source, uint64_t *line) {
    const linking_table *self = (const linking_table *)source;
    size_t number = (size_t)(*line >> SOURCE_SHIFT);
    *line &= (UINT64_C(1) << SOURCE_SHIFT) - 1;
    if (number >= self->about.count) return source->name;
    return source_file(self->held[number].inner, line);
}

static size_t linking_position(const tacit_source *source, size_t column) {
    const linking_table *self = (const linking_table *)source;
    const made_column *made = &self->made[column];
    const held_rows *held = &self->held[made->source];
    bool of_key = made->kind == MADE_TIME || made->kind == MADE_SINCE;
    return of_key ? held->key : held->taken[held->columns[made->column].first];
}

/* The file itself, and what it names. */
static void linking_allow(tacit_harden_settings *settings, const tacit_place *place) {
    linking about = { .count = 0 };
    tacit_harden_allow_around(settings, place->name, false);
    if (linking_load(&about, place->name, NULL) != TACIT_OK) return;
    for (size_t k = 0; k < about.count; k++) tacit_source_allow(settings, about.sources[k].rows);
    linking_clear(&about);
}

const tacit_source_kind tacit_source_linking = { .name = "linking",
                                                 .takes = linking_takes,
                                                 .open = linking_open,
                                                 .next = linking_next,
                                                 .rewind = linking_rewind,
                                                 .free = linking_free,
                                                 .file = linking_file,
                                                 .position = linking_position,
                                                 .allow = linking_allow };
