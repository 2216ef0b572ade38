/*
 * Tables that another library hands over by the Arrow C data interface. Nothing is copied: the arrays are
 * kept until the frame is freed, and then released. A structure is believed no further than its lengths:
 * what can be checked without knowing how large its buffers are, is.
 */
#include <string.h>

#include "api/frame/frame.h"
#include "base/growing.h"
#include "base/memory.h"
#include "tacit/arrow.h"

enum { COLUMN_LIMIT = 100000, LARGEST = INT32_MAX };

/* What one column's schema says of its type. */
typedef struct arrow_type {
    tacit_array_kind kind;
    int64_t buffers; /* at least this many */
} arrow_type;

static const struct {
    const char *format;
    arrow_type type;
} types[] = {
    { "n", { TACIT_ARRAY_NOTHING, 0 } },        { "b", { TACIT_ARRAY_BITS, 2 } },
    { "c", { TACIT_ARRAY_INT8, 2 } },           { "C", { TACIT_ARRAY_UINT8, 2 } },
    { "s", { TACIT_ARRAY_INT16, 2 } },          { "S", { TACIT_ARRAY_UINT16, 2 } },
    { "i", { TACIT_ARRAY_INT32, 2 } },          { "I", { TACIT_ARRAY_UINT32, 2 } },
    { "l", { TACIT_ARRAY_INT64, 2 } },          { "L", { TACIT_ARRAY_UINT64, 2 } },
    { "f", { TACIT_ARRAY_FLOAT, 2 } },          { "g", { TACIT_ARRAY_DOUBLE, 2 } },
    { "u", { TACIT_ARRAY_UTF8, 3 } },           { "U", { TACIT_ARRAY_LARGE_UTF8, 3 } },
    { "vu", { TACIT_ARRAY_VIEWS, 3 } },         { "tdD", { TACIT_ARRAY_DAYS, 2 } },
    { "tdm", { TACIT_ARRAY_MILLISECONDS, 2 } },
};

static const struct {
    const char *prefix;
    tacit_array_kind kind;
} instants[] = { { "tss:", TACIT_ARRAY_SECONDS },
                 { "tsm:", TACIT_ARRAY_MILLISECONDS },
                 { "tsu:", TACIT_ARRAY_MICROSECONDS },
                 { "tsn:", TACIT_ARRAY_NANOSECONDS } };

/* An instant is a calendar day where it is written without a zone, or in that of the stored numbers. */
static tacit_status instant_of(arrow_type *out, const char *name, const char *format, tacit_error *error) {
    for (size_t k = 0; k < sizeof instants / sizeof *instants; k++) {
        if (strncmp(format, instants[k].prefix, 4) != 0) continue;
        const char *zone = format + 4;
        if (zone[0] != 0 && strcmp(zone, "UTC") != 0)
            return tacit_fail(error, TACIT_INPUT,
                              "column %.60s has times of the zone %.40s, in which a day is not known here: "
                              "convert it to dates first",
                              name, zone);
        *out = (arrow_type){ instants[k].kind, 2 };
        return TACIT_OK;
    }
    return tacit_fail(error, TACIT_INPUT,
                      "column %.60s has Arrow type '%.40s': convert it to numbers, texts, a dictionary of "
                      "texts, or dates, or leave it out",
                      name, format);
}

static tacit_status type_of(arrow_type *out, const char *name, const char *format, tacit_error *error) {
    if (format == NULL) return tacit_fail(error, TACIT_INPUT, "column %.60s has no Arrow type", name);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (strcmp(format, types[k].format) == 0) {
            *out = types[k].type;
            return TACIT_OK;
        }
    return instant_of(out, name, format, error);
}

static tacit_status malformed(const char *name, const char *what, tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT, "column %.60s: its Arrow array %s", name, what);
}

/* Texts in views bring their buffers along: validity, views, any number of those, and how large each is. */
static tacit_status set_views(tacit_array *out, const struct ArrowArray *array, const char *name,
                              tacit_error *error) {
    const int64_t count = array->n_buffers - 3;
    if (count > LARGEST) return malformed(name, "has too many buffers", error);
    out->buffers = count > 0 ? array->buffers + 2 : NULL;
    out->sizes = array->buffers[array->n_buffers - 1];
    out->buffer_count = (size_t)count;
    if (count > 0 && out->sizes == NULL)
        return malformed(name, "does not say how large its buffers are", error);
    return TACIT_OK;
}

static tacit_status set_buffers(tacit_array *out, const struct ArrowArray *array, arrow_type type,
                                const char *name, tacit_error *error) {
    if (type.kind == TACIT_ARRAY_NOTHING) return TACIT_OK;
    if (array->n_buffers < type.buffers || array->buffers == NULL)
        return malformed(name, "has too few buffers", error);
    if (array->null_count != 0) out->valid = array->buffers[0];
    if (array->null_count > 0 && out->valid == NULL)
        return malformed(name, "has missing values and does not say which", error);
    out->values = array->buffers[1];
    if (out->count > 0 && out->values == NULL) return malformed(name, "has no values", error);
    if (type.kind == TACIT_ARRAY_UTF8 || type.kind == TACIT_ARRAY_LARGE_UTF8) out->text = array->buffers[2];
    return type.kind == TACIT_ARRAY_VIEWS ? set_views(out, array, name, error) : TACIT_OK;
}

/* `count` rows of an array from row `skip` on. */
static tacit_status set_array(tacit_array *out, frame_table *table, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, const char *name, int64_t skip, int64_t count,
                              bool may_have_dictionary, tacit_error *error) {
    arrow_type type = { TACIT_ARRAY_NOTHING, 0 };
    if (array == NULL) return malformed(name, "is missing", error);
    TACIT_TRY(type_of(&type, name, schema->format, error));
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX / 32 ||
        array->offset > INT64_MAX / 32 || skip > array->length - count)
        return malformed(name, "has fewer values than the table has rows", error);
    *out = (tacit_array){ .kind = type.kind,
                          .step = (ptrdiff_t)tacit_array_width(type.kind),
                          .offset = (size_t)(array->offset + skip),
                          .count = (size_t)count };
    TACIT_TRY(set_buffers(out, array, type, name, error));
    if (schema->dictionary == NULL) return TACIT_OK;
    if (!may_have_dictionary)
        return malformed(name, "has a dictionary of a dictionary: leave the column out, or decode it", error);
    if (array->dictionary == NULL) return malformed(name, "lacks its dictionary", error);
    if (array->dictionary->length < 0 || array->dictionary->length > LARGEST)
        return malformed(name, "has a dictionary of an impossible length", error);
    tacit_array *dictionary = frame_table_own(table, 1, sizeof *dictionary);
    if (dictionary == NULL) return tacit_fail_memory(error);
    TACIT_TRY(set_array(dictionary, table, schema->dictionary, array->dictionary, name, 0,
                        array->dictionary->length, false, error));
    out->dictionary = dictionary;
    return TACIT_OK;
}

/* ---- batches ---- */

static tacit_status check_table(const struct ArrowSchema *schema, tacit_error *error) {
    if (schema->format == NULL || strcmp(schema->format, "+s") != 0)
        return tacit_fail(error, TACIT_INPUT,
                          "a table is wanted, a struct of columns in Arrow's words, not '%.40s'",
                          schema->format != NULL ? schema->format : "");
    if (schema->n_children <= 0 || schema->children == NULL)
        return tacit_fail(error, TACIT_INPUT, "the table has no columns");
    if (schema->n_children > COLUMN_LIMIT)
        return tacit_fail(error, TACIT_LIMIT, "the table has more than %d columns", COLUMN_LIMIT);
    return TACIT_OK;
}

static tacit_status take_names(frame_table *table, const struct ArrowSchema *schema, tacit_error *error) {
    TACIT_TRY(check_table(schema, error));
    for (int64_t j = 0; j < schema->n_children; j++) {
        int32_t code = 0;
        const struct ArrowSchema *column = schema->children[j];
        if (column == NULL || column->name == NULL || column->name[0] == 0)
            return tacit_fail(error, TACIT_INPUT, "column %lld has no name: name it", (long long)(j + 1));
        TACIT_TRY(tacit_levels_add(&table->names, column->name, strlen(column->name), &code, error));
        if (code != j)
            return tacit_fail(error, TACIT_INPUT, "two columns are called '%.60s': rename one", column->name);
    }
    return TACIT_OK;
}

static tacit_status check_batch(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                tacit_error *error) {
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX / 32 ||
        array->offset > INT64_MAX / 32 || array->n_children != schema->n_children || array->children == NULL)
        return tacit_fail(error, TACIT_INPUT, "the Arrow array is not what its schema says");
    const uint8_t *valid =
        array->n_buffers > 0 && array->buffers != NULL && array->null_count != 0 ? array->buffers[0] : NULL;
    for (int64_t i = 0; valid != NULL && i < array->length; i++)
        if ((valid[(array->offset + i) / 8] >> (array->offset + i) % 8 & 1) == 0)
            return tacit_fail(error, TACIT_INPUT, "row %lld of the Arrow array is missing as a whole",
                              (long long)(i + 1));
    return TACIT_OK;
}

/* A producer marks what it has released; this does not depend on it. */
static void release_array(struct ArrowArray *array) {
    if (array->release != NULL) array->release(array);
    array->release = NULL;
}

/* One batch more, which the table has taken: it is released with it. */
static tacit_status add_batch(tacit_frame *frame, const struct ArrowSchema *schema, struct ArrowArray *array,
                              tacit_error *error) {
    frame_table *table = frame->table;
    size_t capacity = table->capacity;
    tacit_batch *batches =
        tacit_grow_by_one(table->batches, table->count, &capacity, 4, sizeof *table->batches);
    if (batches != NULL) table->batches = batches;
    struct ArrowArray *arrow =
        batches != NULL ? tacit_grow(table->arrow, capacity, sizeof *table->arrow) : NULL;
    if (arrow == NULL) {
        release_array(array);
        return tacit_fail_memory(error);
    }
    table->arrow = arrow;
    table->capacity = capacity;
    table->arrow[table->count] = *array;
    array->release = NULL;
    tacit_batch *batch = &table->batches[table->count];
    array = &table->arrow[table->count];
    *batch = (tacit_batch){ .rows = 0 };
    table->count++;
    TACIT_TRY(check_batch(schema, array, error));
    if ((uint64_t)array->length > UINT32_MAX - frame->rows)
        return tacit_fail(error, TACIT_LIMIT, "a frame has at most 2^32 - 1 rows");
    batch->columns = TACIT_NEW(tacit_array, table->names.count);
    if (batch->columns == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < table->names.count; j++) {
        const char *name = table->names.text[j];
        TACIT_TRY(set_array(&batch->columns[j], table, schema->children[j], array->children[j], name,
                            array->offset, array->length, true, error));
        TACIT_TRY(tacit_array_check(&batch->columns[j], name, frame->rows, error));
    }
    batch->rows = (size_t)array->length;
    frame->rows += batch->rows;
    frame->columns = table->names.count;
    return TACIT_OK;
}

static tacit_status finish(tacit_frame **out, tacit_frame *frame, tacit_status status, tacit_error *error) {
    if (status == TACIT_OK && frame->rows == 0)
        status = tacit_fail(error, TACIT_USAGE, "a frame needs rows, and the table has none");
    if (status == TACIT_OK)
        *out = frame;
    else
        tacit_frame_free(frame);
    return status;
}

tacit_status tacit_frame_arrow(tacit_frame **out, struct ArrowSchema *schema, struct ArrowArray *array,
                               tacit_error *error) {
    tacit_frame *frame = NULL;
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    TACIT_TRY(tacit_require(schema, "the Arrow schema", error));
    TACIT_TRY(tacit_require(array, "the Arrow array", error));
    if (schema->release == NULL || array->release == NULL)
        return tacit_fail(error, TACIT_USAGE, "the Arrow structure was released, or handed over, before");
    tacit_status status = frame_table_create(&frame, error);
    if (status == TACIT_OK) status = take_names(frame->table, schema, error);
    if (status == TACIT_OK) status = add_batch(frame, schema, array, error);
    schema->release(schema);
    schema->release = NULL;
    release_array(array); /* where it was not taken */
    return finish(out, frame, status, error);
}

/* ---- streams ---- */

static tacit_status stream_failed(struct ArrowArrayStream *stream, int code, tacit_error *error) {
    const char *said = stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;
    return tacit_fail(error, TACIT_INPUT, "the Arrow stream failed with error %d: %.300s", code,
                      said != NULL ? said : "nothing more is known");
}

static tacit_status read_batches(tacit_frame *frame, struct ArrowArrayStream *stream,
                                 const struct ArrowSchema *schema, tacit_error *error) {
    TACIT_TRY(take_names(frame->table, schema, error));
    for (;;) {
        struct ArrowArray array = { .release = NULL };
        const int code = stream->get_next(stream, &array);
        if (code != 0) return stream_failed(stream, code, error);
        if (array.release == NULL) return TACIT_OK; /* the end */
        TACIT_TRY(add_batch(frame, schema, &array, error));
    }
}

tacit_status tacit_frame_arrow_stream(tacit_frame **out, struct ArrowArrayStream *stream,
                                      tacit_error *error) {
    tacit_frame *frame = NULL;
    struct ArrowSchema schema = { .release = NULL };
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    TACIT_TRY(tacit_require(stream, "the Arrow stream", error));
    if (stream->release == NULL || stream->get_schema == NULL || stream->get_next == NULL)
        return tacit_fail(error, TACIT_USAGE, "the Arrow stream was released, or handed over, before");
    tacit_status status = frame_table_create(&frame, error);
    const int code = status == TACIT_OK ? stream->get_schema(stream, &schema) : 0;
    if (code != 0) status = stream_failed(stream, code, error);
    if (status == TACIT_OK && schema.release == NULL)
        status = tacit_fail(error, TACIT_INPUT, "the Arrow stream has no schema");
    if (status == TACIT_OK) status = read_batches(frame, stream, &schema, error);
    if (schema.release != NULL) schema.release(&schema);
    stream->release(stream);
    stream->release = NULL;
    return finish(out, frame, status, error);
}
