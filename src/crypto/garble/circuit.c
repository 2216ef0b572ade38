#include "crypto/garble/circuit.h"

#include <sodium.h>
#include <string.h>

#include "base/memory.h"

tacit_status tacit_and(tacit_builder *builder, tacit_wire *out, const tacit_wire *a, const tacit_wire *b,
                       size_t count) {
    if (count == 0) return TACIT_OK;
    builder->and_count += count;
    builder->call_count++;
    return builder->kind->and_gates(builder, out, a, b, count);
}

tacit_status tacit_input_wires(tacit_builder *builder, tacit_role owner, tacit_wire *out, const uint8_t *bits,
                               size_t count) {
    return builder->kind->input(builder, owner, out, bits, count);
}

tacit_status tacit_reveal(tacit_builder *builder, tacit_role to, uint8_t *bits, const tacit_wire *wires,
                          size_t count) {
    return builder->kind->reveal(builder, to, bits, wires, count);
}

tacit_status tacit_finish(tacit_builder *builder) { return builder->kind->finish(builder); }

/* ---- scratch ---- */

enum { SCRATCH_WIRES = 1 << 14 };

/* A stack of blocks. An emptied block is kept for the next time, at the end of the chain. */
typedef struct tacit_scratch_block {
    struct tacit_scratch_block *below, *above;
    size_t capacity;
    tacit_wire *wires;
} tacit_scratch_block;

tacit_scratch_mark tacit_scratch_here(const tacit_builder *builder) { return builder->scratch; }

static void free_block(tacit_scratch_block *block) {
    if (block == NULL) return;
    if (block->wires != NULL) sodium_memzero(block->wires, block->capacity * sizeof *block->wires);
    free(block->wires);
    free(block);
}

static tacit_scratch_block *new_block(size_t capacity) {
    tacit_scratch_block *block = TACIT_NEW(tacit_scratch_block, 1);
    if (block == NULL) return NULL;
    block->wires = tacit_allocate_aligned(capacity, sizeof *block->wires);
    if (block->wires == NULL) {
        free(block);
        return NULL;
    }
    block->capacity = capacity;
    return block;
}

/* The block above `top` that holds `count` wires: the kept one, or a new one in its place. */
static tacit_scratch_block *block_above(tacit_scratch_block *top, size_t count) {
    tacit_scratch_block *kept = top == NULL ? NULL : top->above;
    if (kept != NULL && kept->capacity >= count) return kept;
    tacit_scratch_block *block = new_block(count > SCRATCH_WIRES ? count : SCRATCH_WIRES);
    if (block == NULL) return NULL;
    block->below = top;
    block->above = kept;
    if (kept != NULL) kept->below = block;
    if (top != NULL) top->above = block;
    return block;
}

tacit_wire *tacit_scratch(tacit_builder *builder, size_t count) {
    tacit_scratch_mark *at = &builder->scratch;
    /* keeps vectors in one cache line */
    size_t rounded = count > SIZE_MAX / 32 ? count : (count + 3) / 4 * 4;
    if (at->block == NULL || rounded > at->block->capacity - at->used) {
        tacit_scratch_block *block = block_above(at->block, rounded);
        if (block == NULL) {
            tacit_fail_memory(&builder->error);
            return NULL;
        }
        *at = (tacit_scratch_mark){ block, 0 };
    }
    tacit_wire *wires = at->block->wires + at->used;
    at->used += rounded;
    return wires;
}

void tacit_scratch_release(tacit_builder *builder, tacit_scratch_mark mark) {
    /* A mark from before the first block is its bottom. */
    if (mark.block == NULL && builder->scratch.block != NULL) {
        mark = (tacit_scratch_mark){ builder->scratch.block, 0 };
        while (mark.block->below != NULL) mark.block = mark.block->below;
    }
    builder->scratch = mark;
}

tacit_builder *tacit_builder_free(tacit_builder *builder) {
    if (builder == NULL) return NULL;
    tacit_scratch_block *block = builder->scratch.block;
    while (block != NULL && block->above != NULL) block = block->above;
    while (block != NULL) {
        tacit_scratch_block *below = block->below;
        free_block(block);
        block = below;
    }
    builder->kind->free(builder);
    return NULL;
}

/* ---- in the clear ---- */

static tacit_status plain_and(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                              const tacit_wire *b, size_t count) {
    (void)builder;
    for (size_t k = 0; k < count; k++) out[k] = (tacit_wire){ { a[k].half[0] & b[k].half[0], 0 } };
    return TACIT_OK;
}

static tacit_status plain_input(tacit_builder *builder, tacit_role owner, tacit_wire *out,
                                const uint8_t *bits, size_t count) {
    (void)builder, (void)owner;
    for (size_t k = 0; k < count; k++) out[k] = (tacit_wire){ { bits == NULL ? 0 : bits[k] & 1, 0 } };
    return TACIT_OK;
}

static tacit_status plain_reveal(tacit_builder *builder, tacit_role to, uint8_t *bits,
                                 const tacit_wire *wires, size_t count) {
    (void)builder, (void)to;
    for (size_t k = 0; k < count && bits != NULL; k++) bits[k] = tacit_wire_colour(wires[k]);
    return TACIT_OK;
}

static tacit_status plain_finish(tacit_builder *builder) {
    (void)builder;
    return TACIT_OK;
}

static void plain_free(tacit_builder *builder) { free(builder); }

static const tacit_builder_kind plain_kind = { plain_and, plain_input, plain_reveal, plain_finish,
                                               plain_free };

tacit_status tacit_plain_create(tacit_builder **out, tacit_error *error) {
    tacit_builder *builder = TACIT_NEW(tacit_builder, 1);
    if (builder == NULL) return tacit_fail_memory(error);
    builder->kind = &plain_kind;
    builder->one = (tacit_wire){ { 1, 0 } };
    *out = builder;
    return TACIT_OK;
}
