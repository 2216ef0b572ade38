#include "method/row_sums.h"

#include <string.h>

#include "base/memory.h"

enum { PART_BLOCKS = 128 /* a part has at least this many rows, in blocks */, MOST_PARTS = 32 };

void tacit_row_class(const void *context, const tacit_view *rows, size_t i, double *y) {
    (void)context;
    *y = tacit_view_label(rows, i);
}

typedef struct parts {
    const tacit_row_sums *how;
    const tacit_view *rows;
    size_t blocks, count, length;
    double *sums; /* length of each part */
} parts;

/* The blocks of a part, by whichever sums the family has. */
typedef struct part_sums {
    tacit_sums one;
    tacit_several_sums several;
} part_sums;

static tacit_status begin_part(part_sums *out, const tacit_row_sums *how, tacit_error *error) {
    const tacit_loss *loss = &how->family->loss;
    if (how->several != NULL) {
        TACIT_TRY(tacit_several_create(&out->several, loss, how->several, how->weight, how->w, error));
        if (how->design == NULL) return TACIT_OK;
        out->several.weights = how->design->weights;
        out->several.weights_scale = how->design->weights_scale;
        return TACIT_OK;
    }
    TACIT_TRY(tacit_sums_create(&out->one, loss, how->weight, how->width, how->w, error));
    if (how->design == NULL) return TACIT_OK;
    out->one.fixed = how->design->offset;
    out->one.fixed_weight = how->design->offset_weight;
    out->one.weights = how->design->weights;
    out->one.weights_scale = how->design->weights_scale;
    return TACIT_OK;
}

static void end_part(part_sums *sums, const tacit_row_sums *how, double *out) {
    if (how->several != NULL) {
        tacit_several_pack(&sums->several, out);
        tacit_several_clear(&sums->several);
        return;
    }
    tacit_sums_pack(&sums->one, out);
    tacit_sums_clear(&sums->one);
}

static void add_block(part_sums *sums, const tacit_row_sums *how, const tacit_view *block) {
    double y[TACIT_SUMS_BLOCK * TACIT_RESPONSE_COLUMNS];
    for (size_t i = 0; i < block->rows.count; i++)
        how->response(how->context, block, i, y + i * how->family->loss.columns);
    if (how->several != NULL)
        tacit_several_add(&sums->several, &block->rows, how->kept, y);
    else
        tacit_sums_add(&sums->one, &block->rows, how->kept, y);
}

/* Blocks that are done with, of rows that lie in a file, need no memory until the next pass. */
static void pass_by(const tacit_view *all, size_t first_block, size_t last_block) {
    const tacit_rows *rows = &all->rows;
    const size_t first = first_block * TACIT_SUMS_BLOCK, end = last_block * TACIT_SUMS_BLOCK;
    if (!all->spilled || rows->dense == NULL || rows->index != NULL) return;
    tacit_spill_pass_by(rows->dense + (rows->first + first) * rows->stride,
                        ((end < rows->count ? end : rows->count) - first) * rows->stride *
                            sizeof *rows->dense);
}

static tacit_status sum_parts(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    const parts *all = context;
    const tacit_row_sums *how = all->how;
    (void)worker;
    for (size_t part = begin; part < end; part++) {
        part_sums sums;
        TACIT_TRY(begin_part(&sums, how, error));
        size_t last = (part + 1) * all->blocks / all->count;
        for (size_t b = part * all->blocks / all->count; b < last; b++) {
            size_t first = b * TACIT_SUMS_BLOCK, left = all->rows->rows.count - first;
            tacit_view block =
                tacit_view_slice(all->rows, first, left < TACIT_SUMS_BLOCK ? left : TACIT_SUMS_BLOCK);
            add_block(&sums, how, &block);
        }
        pass_by(all->rows, part * all->blocks / all->count, last);
        end_part(&sums, how, all->sums + part * all->length);
    }
    return TACIT_OK;
}

tacit_status tacit_row_sums_make(double *out, const tacit_row_sums *how, const tacit_view *rows,
                                 tacit_error *error) {
    parts all = { .how = how,
                  .rows = rows,
                  .blocks = (rows->rows.count + TACIT_SUMS_BLOCK - 1) / TACIT_SUMS_BLOCK,
                  .length = tacit_sums_length(how->weight, how->width) };
    size_t wanted = all.blocks / PART_BLOCKS;
    all.count = wanted < 1 ? 1 : wanted > MOST_PARTS ? MOST_PARTS : wanted;
    all.sums = TACIT_NEW(double, all.count *all.length);
    if (all.sums == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_pool_for(how->pool, all.count, 1, sum_parts, &all, error);
    memset(out, 0, all.length * sizeof *out);
    for (size_t part = 0; status == TACIT_OK && part < all.count; part++)
        for (size_t j = 0; j < all.length; j++) out[j] += all.sums[part * all.length + j];
    free(all.sums);
    return status;
}
