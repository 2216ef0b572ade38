/* Tables by the Arrow C data interface, from a producer made by hand. */
#include <math.h>
#include <stdio.h>

#include "arrow_producer.h"
#include "library.h"

/* Eight people, of whom the array's offset leaves two out. */
enum { ALL = 8, SKIPPED = 2, SHOWN = ALL - SKIPPED };

static const double ages[ALL] = { -1, -1, 30, 41.5, 55, 0, 62, 70 };
static const uint8_t ages_valid[1] = { 0xdf }; /* the sixth is missing */
static const char letters[] = "??Alongish ward nameCA";
static const int32_t starts[ALL + 1] = { 0, 1, 2, 3, 20, 20, 21, 22, 22 };
static const int64_t large_starts[ALL + 1] = { 0, 1, 2, 3, 20, 20, 21, 22, 22 };
static const int8_t places[ALL] = { 99, -99, 1, 0, 1, 0, 0, 1 };
static const uint8_t bits[1] = { 0x54 }; /* 0 0 1 0 1 0 1 0 */
static const int32_t days[ALL] = { 0, 0, 0, 365, -1, 11016, 19000, 20000 };

static int arrays_released, schemas_released;

/* Texts as views: short ones inside, long ones in a buffer. */
static void add_views(struct ArrowArray *array) {
    static const char buffer[] = "xxlongish ward name";
    uint8_t views[ALL][16] = { { 0 } };
    const int64_t sizes[1] = { sizeof buffer - 1 };
    for (int i = 0; i < ALL; i++) {
        int32_t part[4] = { starts[i + 1] - starts[i], 0, 0, 2 };
        memcpy(views[i], part, sizeof part);
        if (part[0] <= 12) memcpy(views[i] + 4, letters + starts[i], (size_t)part[0]);
    }
    arrow_add_buffer(array, NULL, 0);
    arrow_add_buffer(array, views, sizeof views);
    arrow_add_buffer(array, buffer, sizeof buffer - 1);
    arrow_add_buffer(array, sizes, sizeof sizes);
}

static struct ArrowArray column(const char *format) {
    /* some columns bring the offset themselves, others have it from the table */
    struct ArrowArray array = arrow_array(ALL, 0, &arrays_released);
    int64_t instants[ALL];
    const int64_t per_day = strncmp(format, "tss", 3) == 0   ? 86400
                            : strncmp(format, "tsu", 3) == 0 ? INT64_C(86400000000)
                            : strncmp(format, "tsn", 3) == 0 ? INT64_C(86400000000000)
                                                             : INT64_C(86400000);
    for (int i = 0; i < ALL; i++) instants[i] = days[i] * per_day + per_day / 2;
    if (strcmp(format, "vu") == 0) {
        add_views(&array);
        return array;
    }
    if (strcmp(format, "g") == 0) {
        array.null_count = 1;
        arrow_add_buffer(&array, ages_valid, sizeof ages_valid);
        arrow_add_buffer(&array, ages, sizeof ages);
        return array;
    }
    arrow_add_buffer(&array, NULL, 0);
    array.null_count = -1; /* not counted */
    if (strcmp(format, "u") == 0) arrow_add_buffer(&array, starts, sizeof starts);
    if (strcmp(format, "U") == 0) arrow_add_buffer(&array, large_starts, sizeof large_starts);
    if (format[0] == 'u' || format[0] == 'U') arrow_add_buffer(&array, letters, sizeof letters);
    if (strcmp(format, "b") == 0) arrow_add_buffer(&array, bits, sizeof bits);
    if (strcmp(format, "tdD") == 0)
        arrow_add_buffer(&array, days, sizeof days);
    else if (format[0] == 't')
        arrow_add_buffer(&array, instants, sizeof instants);
    return array;
}

static struct ArrowArray dictionary_column(void) {
    static const char both[] = "noyes";
    static const int32_t ends[] = { 0, 2, 5 };
    struct ArrowArray array = arrow_array(ALL, 0, &arrays_released),
                      levels = arrow_array(2, 0, &arrays_released);
    arrow_add_buffer(&array, NULL, 0);
    arrow_add_buffer(&array, places, sizeof places);
    arrow_add_buffer(&levels, NULL, 0);
    arrow_add_buffer(&levels, ends, sizeof ends);
    arrow_add_buffer(&levels, both, sizeof both);
    arrow_set_dictionary(&array, levels);
    return array;
}

typedef struct table {
    struct ArrowSchema schema;
    struct ArrowArray array;
} table;

/* The table with its texts and dates in these formats. */
static table make_table(const char *texts, const char *dates) {
    table made = { arrow_schema("+s", "", NULL, &schemas_released),
                   arrow_array(SHOWN, SKIPPED, &arrays_released) };
    arrow_schema_add(&made.schema, arrow_schema("g", "age", NULL, &schemas_released));
    arrow_schema_add(&made.schema, arrow_schema(texts, "ward", NULL, &schemas_released));
    arrow_schema_add(&made.schema, arrow_schema(dates, "seen", NULL, &schemas_released));
    arrow_schema_add(&made.schema, arrow_schema("b", "ill", NULL, &schemas_released));
    arrow_schema_add(&made.schema, arrow_schema("c", "outcome", "u", &schemas_released));
    arrow_add_buffer(&made.array, NULL, 0);
    arrow_add_child(&made.array, column("g"));
    arrow_add_child(&made.array, column(texts));
    arrow_add_child(&made.array, column(dates));
    arrow_add_child(&made.array, column("b"));
    arrow_add_child(&made.array, dictionary_column());
    return made;
}

static tacit_frame *described(tacit_frame *frame) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = OPTIONS(
        "schema-text", "{label: {name: outcome, classes: [\"no\", \"yes\"]}, columns: ["
                       "{name: age, kind: number, low: 0, high: 100},"
                       "{name: ward, kind: category, levels: [A, C, longish ward name], missing: level},"
                       "{name: seen, kind: number, date: days since 1970-01-01, low: -10, high: 30000},"
                       "{name: ill, kind: number, low: 0, high: 1}]}");
    CHECK_OK(tacit_frame_describe(frame, options, NULL, &error), error);
    tacit_options_free(options);
    return frame;
}

/* The same six people as the caller's own columns. */
static char *expected_model(void) {
    static const uint8_t missing[SHOWN] = { [3] = 1 }, ill[SHOWN] = { 1, 0, 1, 0, 1, 0 };
    static const char *const ward[SHOWN] = { "A", "longish ward name", "", "C", "A", "" };
    static const char *const levels[] = { "no", "yes" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    CHECK_OK(tacit_frame_table(&frame, SHOWN, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "age", ages + SKIPPED, TACIT_VALUE_DOUBLE, 0, missing, &error),
             error);
    CHECK_OK(tacit_frame_add_texts(frame, "ward", ward, &error), error);
    CHECK_OK(tacit_frame_add_dates(frame, "seen", days + SKIPPED, NULL, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "ill", ill, TACIT_VALUE_UINT8, 0, NULL, &error), error);
    CHECK_OK(tacit_frame_add_categories(frame, "outcome", places + SKIPPED, TACIT_VALUE_INT8, 0, 0, levels, 2,
                                        &error),
             error);
    tacit_model *model = fit_seeded(described(frame));
    char *text = model_text(model);
    tacit_model_free(model);
    tacit_frame_free(frame);
    return text;
}

static void every_layout_of_arrow_gives_the_same_model(void **state) {
    (void)state;
    static const char *const texts[] = { "u", "U", "vu" };
    static const char *const dates[] = { "tdD", "tdm", "tss:", "tsm:UTC", "tsu:", "tsn:UTC" };
    char *expected = expected_model();
    for (size_t t = 0; t < 3; t++)
        for (size_t d = 0; d < 6; d++) {
            tacit_error error = TACIT_ERROR_INIT;
            tacit_frame *frame = NULL;
            table made = make_table(texts[t], dates[d]);
            arrays_released = schemas_released = 0;
            CHECK_OK(tacit_frame_arrow(&frame, &made.schema, &made.array, &error), error);
            assert_null(made.schema.release);
            assert_null(made.array.release);
            assert_int_equal(arrays_released, 0); /* nothing is copied: the arrays are still needed */
            assert_int_equal(tacit_frame_rows(frame), SHOWN);
            assert_int_equal(tacit_frame_columns(frame), 5);
            check_same_model(described(frame), expected);
            assert_int_equal(arrays_released, 7); /* the table, five columns and a dictionary */
            assert_int_equal(schemas_released, 7);
        }
    tacit_string_free(expected);
}

/* ---- streams ---- */

typedef struct streaming {
    int left, fails_at, released;
} streaming;

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    (void)stream;
    table made = make_table("u", "tdD");
    made.array.release(&made.array);
    *out = made.schema;
    return 0;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    streaming *self = stream->private_data;
    if (self->left == self->fails_at) return 5;
    *out = (struct ArrowArray){ .release = NULL };
    if (self->left-- == 0) return 0;
    table made = make_table("u", "tdD");
    made.schema.release(&made.schema);
    made.array.length = self->left == 1 ? 2 : 4; /* two rows, then the other four */
    made.array.offset = self->left == 1 ? SKIPPED : SKIPPED + 2;
    *out = made.array;
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "the disk is on fire";
}

static void stream_release(struct ArrowArrayStream *stream) {
    ((streaming *)stream->private_data)->released++;
    stream->release = NULL;
}

static void a_stream_of_batches_is_one_table(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    char *expected = expected_model();
    streaming self = { .left = 2, .fails_at = -9 };
    struct ArrowArrayStream stream = { stream_schema, stream_next, stream_error, stream_release, &self };
    CHECK_OK(tacit_frame_arrow_stream(&frame, &stream, &error), error);
    assert_int_equal(self.released, 1);
    assert_int_equal(tacit_frame_rows(frame), SHOWN);
    check_same_model(described(frame), expected);
    tacit_string_free(expected);
    CHECK_FAILS(tacit_frame_arrow_stream(&frame, &stream, failed), TACIT_USAGE, "released");
    self = (streaming){ .left = 2, .fails_at = 1 };
    stream = (struct ArrowArrayStream){ stream_schema, stream_next, stream_error, stream_release, &self };
    frame = NULL;
    CHECK_FAILS(tacit_frame_arrow_stream(&frame, &stream, failed), TACIT_INPUT,
                "error 5: the disk is on fire");
    assert_int_equal(self.released, 1);
    assert_null(frame);
}

/* ---- what is refused ---- */

/* Change the table, and have it refused with these words, everything released. */
#define CHECK_REFUSED(words, ...)                                                                            \
    do {                                                                                                     \
        tacit_frame *none_ = NULL;                                                                           \
        table made = make_table("u", "tdD");                                                                 \
        arrays_released = schemas_released = 0;                                                              \
        __VA_ARGS__;                                                                                         \
        CHECK_FAILS(tacit_frame_arrow(&none_, &made.schema, &made.array, failed), TACIT_INPUT, words);       \
        assert_null(none_);                                                                                  \
        assert_int_equal(arrays_released, 7);                                                                \
        assert_int_equal(schemas_released, 7);                                                               \
    } while (0)

static void other_types_are_refused_with_column_and_remedy(void **state) {
    (void)state;
    static const char *const others[] = { "d:10,2", "z",       "Z",   "vz", "e",   "w:16",
                                          "ttm",    "tDs",     "tiM", "+l", "+vl", "+w:2",
                                          "+m",     "+us:0,1", "+r",  "",   "x",   "gg" };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        CHECK_REFUSED("column age has Arrow type", made.schema.children[0]->format = others[k]);
    CHECK_REFUSED("convert it to numbers, texts, a dictionary", made.schema.children[0]->format = "d:10,2");
    CHECK_REFUSED("column seen has times of the zone Europe/Vienna",
                  made.schema.children[2]->format = "tss:Europe/Vienna");
    CHECK_REFUSED("a table is wanted", made.schema.format = "g");
    CHECK_REFUSED("column age has no Arrow type", made.schema.children[0]->format = NULL);
}

static void malformed_structures_are_refused(void **state) {
    (void)state;
    struct ArrowArray *child;
    CHECK_REFUSED("column 2 has no name", made.schema.children[1]->name = NULL);
    CHECK_REFUSED("two columns are called 'age'", made.schema.children[1]->name = "age");
    CHECK_REFUSED("no columns", made.schema.n_children = 0);
    CHECK_REFUSED("not what its schema says", made.array.n_children = 4);
    CHECK_REFUSED("not what its schema says", made.array.length = -1);
    CHECK_REFUSED("not what its schema says", made.array.offset = INT64_MIN);
    CHECK_REFUSED("column age: its Arrow array has fewer values", made.array.length = SHOWN + 1);
    CHECK_REFUSED("not what its schema says", made.array.length = made.array.offset = INT64_MAX);
    CHECK_REFUSED("column age: its Arrow array has fewer", made.array.children[0]->length = SHOWN);
    CHECK_REFUSED("column age: its Arrow array has fewer", made.array.children[0]->offset = -1);
    CHECK_REFUSED("column age: its Arrow array has too few buffers", made.array.children[0]->n_buffers = 1);
    CHECK_REFUSED("column age: its Arrow array has too few buffers", made.array.children[0]->n_buffers = -1);
    CHECK_REFUSED("has no values", child = made.array.children[0]; child->buffers[1] = NULL);
    CHECK_REFUSED("does not say which", child = made.array.children[0]; child->buffers[0] = NULL);
    CHECK_REFUSED("no buffer with its texts", child = made.array.children[1]; child->buffers[2] = NULL);
    CHECK_REFUSED("column ward, row 2: the offsets",
                  ((int32_t *)(uintptr_t)made.array.children[1]->buffers[1])[SKIPPED + 2] = 1);
    CHECK_REFUSED("column outcome, row 1: level 2",
                  ((int8_t *)(uintptr_t)made.array.children[4]->buffers[1])[SKIPPED] = 2);
    CHECK_REFUSED("impossible length", made.array.children[4]->dictionary->length = -1);
    CHECK_REFUSED("fewer values", made.array.children[4]->dictionary->offset = -7);
}

static void what_is_missing_as_a_whole_or_was_released_is_refused(void **state) {
    (void)state;
    static const uint8_t first_missing[1] = { (uint8_t) ~(1U << SKIPPED) };
    tacit_frame *frame = NULL;
    arrow_made *mine;
    CHECK_REFUSED("row 1 of the Arrow array is missing", made.array.null_count = 1;
                  mine = made.array.private_data; mine->given[0] = first_missing);
    table made = make_table("u", "tdD");
    struct ArrowArray kept = made.array;
    made.array.release = NULL;
    CHECK_FAILS(tacit_frame_arrow(&frame, &made.schema, &made.array, failed), TACIT_USAGE, "released");
    made.array = kept;
    made.array.release(&made.array);
    made.schema.release(&made.schema);
    /* Views outside their buffer. */
    for (int k = 0; k < 4; k++) {
        made = make_table("vu", "tdD");
        int32_t *view = (int32_t *)(uintptr_t)made.array.children[1]->buffers[1] + (SKIPPED + 1) * 4;
        if (k == 0) view[0] = -1;
        if (k == 1) view[0] = 18;
        if (k == 2) view[2] = 1;
        if (k == 3) view[3] = -1;
        CHECK_FAILS(tacit_frame_arrow(&frame, &made.schema, &made.array, failed), TACIT_INPUT,
                    "column ward, row 2");
    }
    assert_null(frame);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_of_arrow_gives_the_same_model),
        cmocka_unit_test(a_stream_of_batches_is_one_table),
        cmocka_unit_test(other_types_are_refused_with_column_and_remedy),
        cmocka_unit_test(malformed_structures_are_refused),
        cmocka_unit_test(what_is_missing_as_a_whole_or_was_released_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
