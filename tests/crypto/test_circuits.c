/* Circuits in the clear against exact integers: exhaustively over small widths, on edges and at random over
 * 64 bits. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/garble/circuits_fixed.h"
#include "crypto/garble/circuits_word.h"
#include "rand/stream.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

typedef enum operation {
    ADD,
    SUBTRACT,
    NEGATE_IF,
    LESS_UNSIGNED,
    LESS,
    EQUAL,
    SELECT,
    MULTIPLY_LOW,
    MULTIPLY_HIGH,
    FIXED_MULTIPLY,
    FIXED_DIVIDE,
    FIXED_ROOT,
    OPERATIONS
} operation;

static uint64_t low_bits(uint64_t value, size_t width) {
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static int64_t as_signed(uint64_t value, size_t width) {
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

static unsigned_wide root_of(unsigned_wide square) {
    unsigned_wide root = 0;
    for (int i = 63; i >= 0; i--) {
        unsigned_wide trial = root | (unsigned_wide)1 << i;
        if (trial * trial <= square) root = trial;
    }
    return root;
}

/* What must come out; false where the circuit promises nothing. */
static bool expected(uint64_t *out, operation what, uint64_t a, uint64_t b, tacit_fixed format) {
    size_t width = format.width;
    wide x = as_signed(a, width), y = as_signed(b, width);
    unsigned_wide product = (unsigned_wide)a * b;
    wide value = 0;
    switch (what) {
    case ADD: value = (wide)a + (wide)b; break;
    case SUBTRACT: value = (wide)a - (wide)b; break;
    case NEGATE_IF: value = (b & 1) != 0 ? -(wide)a : (wide)a; break;
    case LESS_UNSIGNED: value = a < b; break;
    case LESS: value = x < y; break;
    case EQUAL: value = a == b; break;
    case SELECT: value = (wide)((a & 1) != 0 ? a : b); break;
    case MULTIPLY_LOW: value = (wide)product; break;
    case MULTIPLY_HIGH: value = (wide)(product >> width); break;
    case FIXED_MULTIPLY: value = (x * y) >> format.fraction; break;
    case FIXED_DIVIDE:
        if (y == 0) return false;
        value = (x * ((wide)1 << format.fraction)) / y;
        if ((value < 0 ? -value : value) >= (wide)1 << (width - 1)) return false;
        break;
    case FIXED_ROOT:
        if (x < 0) return false;
        value = (wide)root_of((unsigned_wide)x << format.fraction);
        break;
    default: return false;
    }
    *out = low_bits((uint64_t)value, width);
    return true;
}

/* Results of one wire a lane are padded with zeros. */
static tacit_status one_wire(tacit_builder *b, operation what, tacit_wire *out, const tacit_wire *x,
                             const tacit_wire *y, size_t width, size_t lanes) {
    memset(out, 0, width * lanes * sizeof *out);
    if (what == LESS_UNSIGNED) return tacit_word_less_unsigned(b, out, x, y, width, lanes);
    if (what == LESS) return tacit_word_less(b, out, x, y, width, lanes);
    return tacit_word_equal(b, out, x, y, width, lanes);
}

static tacit_status apply(tacit_builder *b, operation what, tacit_wire *out, const tacit_wire *x,
                          const tacit_wire *y, tacit_fixed format, size_t lanes) {
    size_t width = format.width, all = width * lanes;
    switch (what) {
    case ADD: return tacit_word_add(b, out, x, y, width, lanes);
    case SUBTRACT: return tacit_word_subtract(b, out, x, y, width, lanes);
    case NEGATE_IF: return tacit_word_negate_if(b, out, y, x, width, lanes);
    case SELECT: return tacit_word_select(b, out, x, x, y, width, lanes);
    case FIXED_MULTIPLY: return tacit_fixed_multiply(b, out, x, y, format, lanes);
    case FIXED_DIVIDE: return tacit_fixed_divide(b, out, x, y, format, lanes);
    case FIXED_ROOT: return tacit_fixed_root(b, out, x, format, lanes);
    case MULTIPLY_LOW:
    case MULTIPLY_HIGH: break;
    default: return one_wire(b, what, out, x, y, width, lanes);
    }
    tacit_wire *product = tacit_scratch(b, 2 * all);
    if (product == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_word_multiply(b, product, x, y, width, lanes));
    memcpy(out, product + (what == MULTIPLY_HIGH ? all : 0), all * sizeof *out);
    return TACIT_OK;
}

/* Run on all lanes; `in_place`: the result goes where the first operand was. Returns the gates a lane. */
static double run(operation what, const uint64_t *a, const uint64_t *b, tacit_fixed format, size_t lanes,
                  bool in_place) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_builder *builder = NULL;
    size_t all = format.width * lanes;
    uint8_t *bits = malloc(all);
    uint64_t *result = calloc(lanes, sizeof *result);
    assert_non_null(bits);
    assert_non_null(result);
    if (bits == NULL || result == NULL)
        return 0; /* for those who do not know that an assertion does not return */
    CHECK_OK(tacit_plain_create(&builder, &error), error);
    tacit_wire *x = tacit_scratch(builder, all), *y = tacit_scratch(builder, all),
               *out = tacit_scratch(builder, all);
    assert_true(x != NULL && y != NULL && out != NULL);
    tacit_word_to_bits(bits, a, format.width, lanes);
    CHECK_OK(tacit_input_wires(builder, TACIT_GARBLER, x, bits, all), builder->error);
    tacit_word_to_bits(bits, b, format.width, lanes);
    CHECK_OK(tacit_input_wires(builder, TACIT_EVALUATOR, y, bits, all), builder->error);
    if (in_place) out = x;
    CHECK_OK(apply(builder, what, out, x, y, format, lanes), builder->error);
    CHECK_OK(tacit_reveal(builder, TACIT_BOTH, bits, out, all), builder->error);
    tacit_word_from_bits(result, bits, format.width, lanes);
    for (size_t l = 0; l < lanes; l++) {
        uint64_t right = 0;
        if (expected(&right, what, a[l], b[l], format) && result[l] != right)
            fail_msg("operation %d, width %zu, fraction %zu, on %#lx and %#lx: %#lx, expected %#lx",
                     (int)what, format.width, format.fraction, a[l], b[l], result[l], right);
    }
    double gates = (double)builder->and_count / (double)lanes;
    tacit_builder_free(builder);
    free(bits);
    free(result);
    return gates;
}

static void small_widths_are_right_for_every_pair(void **state) {
    (void)state;
    static uint64_t a[1 << 12], b[1 << 12];
    for (size_t width = 2; width <= 6; width++) {
        size_t values = (size_t)1 << width;
        for (size_t i = 0; i < values * values; i++) a[i] = i % values, b[i] = i / values;
        for (operation what = 0; what < OPERATIONS; what++)
            for (size_t fraction = 0; fraction < width; fraction++) {
                run(what, a, b, (tacit_fixed){ width, fraction }, values * values, false);
                if (what < FIXED_MULTIPLY) break; /* words have no fraction */
            }
    }
}

/* Widths at which Karatsuba splits, once and in odd parts. */
static void middle_widths_are_right_at_random(void **state) {
    (void)state;
    enum { LANES = 300 };
    static const size_t widths[] = { 1, 9, 16, 17, 18, 20, 22, 32, 36, 48 };
    uint64_t a[LANES], b[LANES];
    tacit_stream stream = tacit_stream_from_seed(11);
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        for (size_t l = 0; l < LANES; l++) {
            a[l] = l < 3 ? low_bits(UINT64_MAX, widths[k]) : low_bits(tacit_stream_u64(&stream), widths[k]);
            b[l] = l < 2 ? low_bits(UINT64_MAX, widths[k]) : low_bits(tacit_stream_u64(&stream), widths[k]);
        }
        for (operation what = MULTIPLY_LOW; what <= MULTIPLY_HIGH; what++)
            run(what, a, b, (tacit_fixed){ widths[k], 0 }, LANES, false);
    }
}

static const uint64_t edges[] = { 0,
                                  1,
                                  2,
                                  3,
                                  UINT64_MAX,
                                  UINT64_MAX - 1,
                                  UINT64_C(1) << 63,
                                  (UINT64_C(1) << 63) - 1,
                                  (UINT64_C(1) << 63) + 1,
                                  UINT64_C(1) << 32,
                                  (UINT64_C(1) << 32) - 1,
                                  (UINT64_C(1) << 32) + 1,
                                  0 - (UINT64_C(1) << 32),
                                  UINT64_C(1) << 31,
                                  UINT64_C(3) << 32,
                                  UINT64_C(0x5555555555555555),
                                  UINT64_C(0xaaaaaaaaaaaaaaaa) };
enum { EDGES = sizeof edges / sizeof *edges, RANDOM = 2000, ALL = EDGES * EDGES + RANDOM };

/* Edges with each other, then numbers of random length, so that small and large meet. */
static void long_operands(uint64_t *a, uint64_t *b) {
    tacit_stream stream = tacit_stream_from_seed(12);
    for (size_t i = 0; i < ALL; i++) {
        if (i < EDGES * EDGES) {
            a[i] = edges[i % EDGES];
            b[i] = edges[i / EDGES];
        } else {
            a[i] = (uint64_t)((int64_t)tacit_stream_u64(&stream) >> tacit_stream_below(&stream, 64));
            b[i] = (uint64_t)((int64_t)tacit_stream_u64(&stream) >> tacit_stream_below(&stream, 64));
        }
    }
}

static void sixty_four_bits_are_right_on_edges_and_at_random(void **state) {
    (void)state;
    static uint64_t a[ALL], b[ALL];
    long_operands(a, b);
    for (operation what = 0; what < OPERATIONS; what++) run(what, a, b, tacit_fixed_center, ALL, false);
}

static void the_result_may_replace_an_operand(void **state) {
    (void)state;
    static uint64_t a[ALL], b[ALL];
    long_operands(a, b);
    for (operation what = 0; what < OPERATIONS; what++)
        if (what != LESS_UNSIGNED && what != LESS && what != EQUAL)
            run(what, a, b, tacit_fixed_center, 200, true);
}

static void gates_are_as_few_as_promised(void **state) {
    (void)state;
    static const struct {
        operation what;
        size_t width, fraction;
        double gates;
    } promises[] = {
        { ADD, 64, 0, 63 },
        { SUBTRACT, 64, 0, 63 },
        { NEGATE_IF, 64, 0, 63 },
        { LESS_UNSIGNED, 64, 0, 64 },
        { LESS, 64, 0, 64 },
        { EQUAL, 64, 0, 63 },
        { SELECT, 64, 0, 64 },
        { MULTIPLY_LOW, 8, 0, 120 },
        { MULTIPLY_LOW, 16, 0, 464 },
        { MULTIPLY_LOW, 32, 0, 1600 },
        { MULTIPLY_LOW, 64, 0, 5216 },
        { FIXED_MULTIPLY, 64, 32, 5342 },
        { FIXED_DIVIDE, 64, 32, 4158 },
        { FIXED_ROOT, 64, 32, 1159 },
    };
    for (size_t k = 0; k < sizeof promises / sizeof *promises; k++)
        for (size_t lanes = 1; lanes <= 3; lanes++) {
            uint64_t a[3] = { 7, 200, 3 }, b[3] = { 9, 1, 2 };
            tacit_fixed format = { promises[k].width, promises[k].fraction };
            CHECK_NEAR(run(promises[k].what, a, b, format, lanes, false), promises[k].gates, 0);
        }
}

static void scratch_is_used_again(void **state) {
    (void)state;
    tacit_builder *builder = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plain_create(&builder, &error), error);
    tacit_scratch_mark bottom = tacit_scratch_here(builder);
    tacit_wire *first = tacit_scratch(builder, 10);
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *large = tacit_scratch(builder, 100000), *small = tacit_scratch(builder, 5);
    assert_true(first != NULL && large != NULL && small != NULL);
    memset(large, 1, 100000 * sizeof *large);
    tacit_scratch_release(builder, mark);
    assert_ptr_equal(tacit_scratch(builder, 100000), large);
    tacit_scratch_release(builder, mark);
    tacit_wire *between = tacit_scratch(builder, 20);
    assert_true(between >= first && between < first + 100);
    assert_non_null(tacit_scratch(builder, 200000));
    tacit_scratch_release(builder, bottom);
    assert_ptr_equal(tacit_scratch(builder, 10), first);
    assert_null(tacit_scratch(builder, SIZE_MAX / 2));
    assert_int_equal(builder->error.status, TACIT_NO_MEMORY);
    tacit_builder_free(builder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_widths_are_right_for_every_pair),
        cmocka_unit_test(middle_widths_are_right_at_random),
        cmocka_unit_test(sixty_four_bits_are_right_on_edges_and_at_random),
        cmocka_unit_test(the_result_may_replace_an_operand),
        cmocka_unit_test(gates_are_as_few_as_promised),
        cmocka_unit_test(scratch_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
