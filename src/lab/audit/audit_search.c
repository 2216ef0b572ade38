/*
 * A search for a pair of neighbours that tells more than the known one. Rows that are the same on both sides
 * are moved together, rows that differ each for themselves, all within the unit ball; so do labels. A pair is
 * judged by how far it moves the output, of the declared sensitivity, or where that is not known by how many
 * standard deviations lie between the scores of both sides in a few runs; and by how much more often one of
 * them ends without an answer. The better of a pair and its change is changed next; every fourth change is
 * large.
 *
 * Nothing of these runs is used again (audit.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/audit/audit.h"
#include "rand/fast.h"

enum { RUNS = 200, FEW_RUNS = 10, LARGE_EVERY = 4 };

static const double ABORT_WORTH = 20; /* of runs that end on one side only, in standard deviations */
static const double INSIDE = 1 - 1e-12;

/* ---- rows of pairs ---- */

static tacit_dataset *const *of_kind(const tacit_pair *pair, int kind) {
    return kind == 0 ? pair->data : pair->auxiliary;
}

tacit_audit_rows *tacit_audit_rows_free(tacit_audit_rows *rows) {
    if (rows == NULL) return NULL;
    for (int side = 0; side < 2; side++) {
        for (int kind = 0; kind < 2; kind++) free(rows->values[kind][side]);
        free(rows->label[side]);
    }
    free(rows);
    return NULL;
}

static tacit_audit_rows *rows_create(const size_t rows[2], size_t features, bool has[2][2]) {
    tacit_audit_rows *self = TACIT_NEW(tacit_audit_rows, 1);
    bool whole = self != NULL;
    if (!whole) return NULL;
    self->features = features;
    for (int kind = 0; kind < 2; kind++) {
        self->rows[kind] = rows[kind];
        for (int side = 0; side < 2; side++) {
            if (!has[kind][side]) continue;
            self->values[kind][side] = TACIT_NEW(double, rows[kind] * features + 1);
            whole = whole && self->values[kind][side] != NULL;
        }
    }
    for (int side = 0; side < 2; side++) {
        self->label[side] = TACIT_NEW(int32_t, rows[0] + 1);
        whole = whole && self->label[side] != NULL;
    }
    return whole ? self : tacit_audit_rows_free(self);
}

/* Copy between a pair's data sets and `rows`, whichever way. */
static void exchange(tacit_audit_rows *rows, const tacit_pair *pair, bool into_pair) {
    for (int side = 0; side < 2; side++) {
        for (int kind = 0; kind < 2; kind++) {
            double *own = rows->values[kind][side];
            if (own == NULL) continue;
            double *other = of_kind(pair, kind)[side]->dense.values;
            size_t bytes = rows->rows[kind] * rows->features * sizeof *own;
            memcpy(into_pair ? other : own, into_pair ? own : other, bytes);
        }
        int32_t *own = rows->label[side], *other = pair->data[side]->label;
        memcpy(into_pair ? other : own, into_pair ? own : other, rows->rows[0] * sizeof *own);
    }
}

tacit_status tacit_audit_rows_of(tacit_audit_rows **out, const tacit_pair *pair, tacit_error *error) {
    bool has[2][2];
    for (int kind = 0; kind < 2; kind++)
        for (int side = 0; side < 2; side++) {
            const tacit_dataset *data = of_kind(pair, kind)[side];
            has[kind][side] = data != NULL && !data->is_sparse;
        }
    if (!has[0][0] || !has[0][1])
        return tacit_fail(error, TACIT_USAGE, "a pair is searched among dense rows");
    size_t rows[2] = { pair->data[0]->rows, has[1][0] ? pair->auxiliary[0]->rows : 0 };
    *out = rows_create(rows, pair->data[0]->features, has);
    if (*out == NULL) return tacit_fail_memory(error);
    exchange(*out, pair, false);
    return TACIT_OK;
}

tacit_status tacit_audit_rows_use(const tacit_audit_rows *rows, tacit_pair *pair, tacit_error *error) {
    bool fits = pair->data[0]->rows == rows->rows[0] && pair->data[0]->features == rows->features &&
                (rows->values[1][0] == NULL || pair->auxiliary[0]->rows == rows->rows[1]);
    if (!fits) return tacit_fail(error, TACIT_INTERNAL, "the rows of another pair are put into this one");
    exchange((tacit_audit_rows *)rows, pair, true);
    return TACIT_OK;
}

/* ---- changes ---- */

/* A small step, or anywhere; back into the ball. */
static void move_row(double *x, size_t features, bool large, tacit_stream *stream) {
    double square = 0, size = large ? 1 : 0.1, keep = large ? 0 : 1;
    double length = tacit_stream_unit(stream) < 0.7 ? INSIDE : tacit_stream_unit(stream);
    if (features == 1 && large) length = tacit_stream_unit(stream) < 0.5 ? 0 : INSIDE;
    for (size_t j = 0; j < features; j++) {
        x[j] = keep * x[j] + size * tacit_fast_normal(stream);
        square += x[j] * x[j];
    }
    bool scaled = large || square > INSIDE * INSIDE;
    for (size_t j = 0; scaled && square > 0 && j < features; j++)
        x[j] *= (large ? length : INSIDE) / sqrt(square);
}

static bool same_row(const tacit_audit_rows *rows, int kind, size_t i) {
    const double *a = rows->values[kind][0], *b = rows->values[kind][1];
    size_t at = i * rows->features;
    if (b == NULL) return false;
    bool labels = kind == 1 || rows->label[0][i] == rows->label[1][i];
    return labels && memcmp(a + at, b + at, rows->features * sizeof *a) == 0;
}

static void change_row(tacit_audit_rows *rows, int kind, size_t i, bool large, tacit_stream *stream) {
    size_t at = i * rows->features;
    bool same = same_row(rows, kind, i), turned = kind == 0 && tacit_stream_unit(stream) < 0.2;
    int side = tacit_stream_unit(stream) < 0.5;
    if (rows->values[kind][1] == NULL) side = 0;
    double *x = rows->values[kind][side] + at, *other = rows->values[kind][1 - side];
    if (turned) {
        int32_t *label = rows->label[side] + i;
        *label = *label == 0; /* of two classes, or of the first two */
    } else {
        move_row(x, rows->features, large, stream);
    }
    if (same) {
        memcpy(other + at, x, rows->features * sizeof *x);
        if (kind == 0) rows->label[1 - side][i] = rows->label[side][i];
    } else if (other != NULL &&
               tacit_stream_unit(stream) < 0.2) { /* neighbours that pull against each other */
        for (size_t j = 0; j < rows->features; j++) other[at + j] = -x[j];
    }
}

static void change(tacit_audit_rows *rows, bool large, tacit_stream *stream) {
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; rows->values[kind][0] != NULL && i < rows->rows[kind]; i++)
            if (rows->rows[kind] <= 2 || tacit_stream_unit(stream) < 2.0 / (double)rows->rows[kind])
                if (tacit_stream_unit(stream) < (large ? 0.8 : 0.5)) change_row(rows, kind, i, large, stream);
}

/* ---- judging ---- */

typedef struct tally {
    double sum, square, answered, aborted, runs;
} tally;

static double ended(const tally seen[2]) {
    return seen[0].runs > 0 ? fabs(seen[0].aborted - seen[1].aborted) / seen[0].runs : 0;
}

static double apart(const tally seen[2]) {
    double mean[2], variance = 0;
    if (seen[0].answered <= 2 || seen[1].answered <= 2) return 0;
    for (int side = 0; side < 2; side++) {
        mean[side] = seen[side].sum / seen[side].answered;
        variance += fmax(0, seen[side].square / seen[side].answered - mean[side] * mean[side]) / 2;
    }
    return fabs(mean[0] - mean[1]) / sqrt(variance + 1e-300);
}

/* Run the pair some times on each side. */
static tacit_status look(tally seen[2], tacit_audit_case *one, const tacit_auditable *subject,
                         const tacit_stream *stream, uint64_t runs, double *room, tacit_error *error) {
    double *at[2] = { room, room + one->length }, *release = room + 2 * one->length;
    for (int side = 0; side < 2; side++)
        TACIT_TRY(tacit_audit_draw(one, subject, side, NULL, at[side], error));
    for (uint64_t run = 0; run < runs; run++)
        for (int side = 0; side < 2; side++) {
            tacit_stream own = tacit_stream_fork(stream, "trial", run, (uint64_t)side);
            tacit_status status = tacit_audit_draw(one, subject, side, &own, release, error);
            if (status != TACIT_OK && !tacit_audit_is_output(status)) return status;
            seen[side].runs++;
            seen[side].aborted += status != TACIT_OK;
            if (status != TACIT_OK) continue;
            double score = (subject->score != NULL ? subject->score : tacit_score_projection)(
                one, release, (const double *const *)at);
            if (!isfinite(score)) continue;
            seen[side].answered++;
            seen[side].sum += score;
            seen[side].square += score * score;
        }
    return TACIT_OK;
}

/* Simulated noise, the same for all pairs, tells them apart with less luck; exact noise shows what a real
 * party would refuse. */
static tacit_status judge_as(double *out, const tacit_audit *audit, const tacit_audit_rows *rows,
                             const tacit_stream *stream, bool exactly, tacit_error *error) {
    tacit_audit_setup setup = audit->setup;
    tacit_audit_case one;
    tally seen[2] = { { .sum = 0 }, { .sum = 0 } };
    setup.rows = rows;
    setup.exactly = exactly;
    TACIT_TRY(tacit_audit_open(&one, audit->subject, &setup, error));
    double *room = TACIT_NEW(double, 3 * one.length);
    bool known = isfinite(one.reach);
    tacit_status status = room != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK)
        status = look(seen, &one, audit->subject, stream, exactly || known ? FEW_RUNS : RUNS, room, error);
    *out = ABORT_WORTH * ended(seen);
    if (!exactly) *out += known ? one.reach : fmin(apart(seen), ABORT_WORTH);
    free(room);
    tacit_audit_close(&one, audit->subject);
    return status;
}

static tacit_status judge(double *out, const tacit_audit *audit, const tacit_audit_rows *rows,
                          const tacit_stream *stream, tacit_error *error) {
    double more = 0;
    tacit_status status = judge_as(out, audit, rows, stream, false, error);
    if (status == TACIT_OK && audit->setup.exactly)
        status = judge_as(&more, audit, rows, stream, true, error);
    *out += more;
    if (status == TACIT_OK || !tacit_audit_is_output(status)) return status;
    *out = -1; /* nothing comes of it even without noise: no pair to audit */
    return TACIT_OK;
}

/* ---- the search ---- */

typedef struct searching {
    const tacit_audit *audit;
    tacit_audit_rows *best, *next;
    double worth;
} searching;

static void copy_rows(tacit_audit_rows *to, const tacit_audit_rows *from) {
    for (int side = 0; side < 2; side++) {
        for (int kind = 0; kind < 2; kind++)
            if (from->values[kind][side] != NULL)
                memcpy(to->values[kind][side], from->values[kind][side],
                       from->rows[kind] * from->features * sizeof(double));
        memcpy(to->label[side], from->label[side], from->rows[0] * sizeof(int32_t));
    }
}

static tacit_status try_some(searching *self, bool *moved, tacit_error *error) {
    const tacit_audit *audit = self->audit;
    tacit_stream root = tacit_stream_from_seed(audit->seed ^ 0x5eac4);
    TACIT_TRY(judge(&self->worth, audit, self->best, &root, error));
    for (size_t i = 1; i < audit->search; i++) {
        tacit_stream stream = tacit_stream_fork(&root, "change", i, 0);
        double reached;
        if (tacit_progress_cancelled(audit->progress))
            return tacit_fail(error, TACIT_CANCELLED, "interrupted");
        copy_rows(self->next, self->best);
        change(self->next, i % LARGE_EVERY == 0, &stream);
        TACIT_TRY(judge(&reached, audit, self->next, &root, error));
        if (!(reached > self->worth)) continue;
        self->worth = reached;
        copy_rows(self->best, self->next);
        *moved = true;
    }
    return TACIT_OK;
}

tacit_status tacit_audit_search(tacit_audit_rows **out, const tacit_audit *audit, tacit_error *error) {
    searching self = { .audit = audit };
    char text[TACIT_AUDIT_TEXT];
    tacit_pair pair = TACIT_PAIR_INIT;
    bool moved = false;
    tacit_status status;
    *out = NULL;
    TACIT_CHECK(audit->subject->pair(&pair, text, &audit->setup, error));
    TACIT_CHECK(tacit_audit_rows_of(&self.best, &pair, error));
    TACIT_CHECK(tacit_audit_rows_of(&self.next, &pair, error));
    TACIT_CHECK(try_some(&self, &moved, error));
    if (moved) {
        *out = self.best;
        self.best = NULL;
    }
cleanup:
    tacit_audit_rows_free(self.best);
    tacit_audit_rows_free(self.next);
    tacit_pair_clear(&pair);
    return status;
}
