/* The engine of garbled circuits: shares become wires, the circuit runs, its wires become shares. A factor
 * stays as wires. */
#include "base/memory.h"
#include "crypto/linear/secure_parts.h"

/* `count` wires of numbers from shares; NULL with the error noted. */
static tacit_status to_wires(tacit_secure *self, tacit_wire **out, const tacit_share *shares, size_t count) {
    *out = tacit_scratch(self->builder, count * self->format.width);
    if (*out == NULL) return TACIT_NO_MEMORY;
    return tacit_shares_to_wires(*out, self->builder, self->converter.role, shares, count,
                                 self->format.width);
}

static tacit_status from_wires(tacit_secure *self, tacit_share *out, const tacit_wire *wires, size_t count) {
    return tacit_shares_from_wires(out, self->builder, self->converter.role, self->converter.stream, wires,
                                   count, self->format.width);
}

static tacit_status multiply_wires(tacit_secure *self, tacit_share *out, const tacit_share *a,
                                   const tacit_share *b, size_t rows, size_t inner, size_t columns) {
    tacit_scratch_mark mark = tacit_scratch_here(self->builder);
    tacit_wire *x = NULL, *y = NULL, *product = NULL;
    TACIT_TRY(to_wires(self, &x, a, rows * inner));
    TACIT_TRY(to_wires(self, &y, b, inner * columns));
    product = tacit_scratch(self->builder, rows * columns * self->format.width);
    if (product == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_fixed_product(self->builder, product, x, y, self->format, rows, inner, columns));
    TACIT_TRY(from_wires(self, out, product, rows * columns));
    tacit_scratch_release(self->builder, mark);
    return TACIT_OK;
}

static tacit_status yao_multiply(tacit_secure *self, tacit_share *out, const tacit_share *a,
                                 const tacit_share *b, size_t rows, size_t inner, size_t columns,
                                 tacit_error *error) {
    return tacit_secure_built(self, multiply_wires(self, out, a, b, rows, inner, columns), error);
}

static tacit_status scale_wires(tacit_secure *self, tacit_share *out, const tacit_share *factors,
                                const tacit_share *b, size_t rows, size_t columns) {
    tacit_scratch_mark mark = tacit_scratch_here(self->builder);
    size_t width = self->format.width, all = rows * columns;
    tacit_wire *x = NULL, *y = NULL, *spread = tacit_scratch(self->builder, all * width);
    if (spread == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(to_wires(self, &x, factors, rows));
    TACIT_TRY(to_wires(self, &y, b, all));
    for (size_t i = 0; i < width; i++)
        for (size_t e = 0; e < all; e++) spread[i * all + e] = x[i * rows + e / columns];
    TACIT_TRY(tacit_fixed_multiply(self->builder, y, spread, y, self->format, all));
    TACIT_TRY(from_wires(self, out, y, all));
    tacit_scratch_release(self->builder, mark);
    return TACIT_OK;
}

static tacit_status yao_scale_rows(tacit_secure *self, tacit_share *out, const tacit_share *factors,
                                   const tacit_share *b, size_t rows, size_t columns, tacit_error *error) {
    return tacit_secure_built(self, scale_wires(self, out, factors, b, rows, columns), error);
}

static tacit_status factor_wires(tacit_secure *self, tacit_factored *factor, const tacit_share *triangle) {
    tacit_scratch_mark mark = tacit_scratch_here(self->builder);
    tacit_wire *a = NULL;
    TACIT_TRY(to_wires(self, &a, triangle, tacit_triangle(factor->order, 0)));
    TACIT_TRY(
        tacit_fixed_factor(self->builder, factor->wires, a, self->format, self->factor_width, factor->order));
    tacit_scratch_release(self->builder, mark);
    return TACIT_OK;
}

static tacit_status yao_factor(tacit_secure *self, tacit_factored *factor, const tacit_share *triangle,
                               tacit_error *error) {
    factor->wire_count = tacit_triangle(factor->order, 0) * self->format.width;
    factor->wires = tacit_allocate_aligned(factor->wire_count, sizeof *factor->wires);
    if (factor->wires == NULL) return tacit_fail_memory(error);
    return tacit_secure_built(self, factor_wires(self, factor, triangle), error);
}

static tacit_status solve_wires(tacit_secure *self, tacit_share *out, const tacit_factored *factor,
                                const tacit_share *b) {
    tacit_scratch_mark mark = tacit_scratch_here(self->builder);
    tacit_wire *x = NULL;
    TACIT_TRY(to_wires(self, &x, b, factor->order));
    TACIT_TRY(tacit_fixed_solve(self->builder, x, factor->wires, x, self->format, self->solution_width,
                                factor->order));
    TACIT_TRY(from_wires(self, out, x, factor->order));
    tacit_scratch_release(self->builder, mark);
    return TACIT_OK;
}

static tacit_status yao_solve(tacit_secure *self, tacit_share *out, tacit_factored *factor,
                              const tacit_share *b, tacit_error *error) {
    return tacit_secure_built(self, solve_wires(self, out, factor, b), error);
}

static tacit_status inverse_wires(tacit_secure *self, tacit_share *out, const tacit_factored *factor) {
    tacit_scratch_mark mark = tacit_scratch_here(self->builder);
    size_t count = tacit_triangle(factor->order, 0);
    tacit_wire *inverse = tacit_scratch(self->builder, count * self->format.width);
    if (inverse == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_fixed_inverse(self->builder, inverse, factor->wires, self->format, self->factor_width,
                                  factor->order));
    TACIT_TRY(from_wires(self, out, inverse, count));
    tacit_scratch_release(self->builder, mark);
    return TACIT_OK;
}

static tacit_status yao_inverse(tacit_secure *self, tacit_share *out, tacit_factored *factor,
                                tacit_error *error) {
    return tacit_secure_built(self, inverse_wires(self, out, factor), error);
}

const tacit_secure_kind tacit_secure_yao = { yao_multiply, yao_scale_rows, yao_factor, yao_solve,
                                             yao_inverse };
