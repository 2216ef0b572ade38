/*
 * A table by the Arrow C data interface from a producer that is wrong about what it hands over: types,
 * offsets, places in dictionaries, validity, views and how many buffers there are. Only that buffers are as
 * large as their lengths say is kept, because nobody could check it.
 */
#include <stdlib.h>
#include <string.h>

#include "../tests/api/arrow_producer.h"
#include "tacit/tacit.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

typedef struct script {
    const uint8_t *at;
    size_t left;
} script;

static uint8_t next(script *from) {
    if (from->left == 0) return 0;
    from->left--;
    return *from->at++;
}

enum { MOST = 24 }; /* values of an array, with its offset */

/* A buffer of `size` bytes from the script, zeros where that ends. */
static void add_buffer(struct ArrowArray *array, script *from, size_t size) {
    uint8_t content[16 * (MOST + 1)] = { 0 };
    for (size_t k = 0; k < size; k++) content[k] = next(from);
    arrow_add_buffer(array, content, size);
}

static const char *const formats[] = { "n",    "b",       "c",    "C",       "s", "S",  "i",   "I",   "l",
                                       "L",    "f",       "g",    "u",       "U", "vu", "tdD", "tdm", "tss:",
                                       "tsm:", "tsu:UTC", "tsn:", "tss:CET", "z", "+s", "",    "e" };

/* Texts: offsets are the script's, made small; the bytes are as many as the largest. */
static void add_texts(struct ArrowArray *array, script *from, bool large, int64_t values) {
    int64_t offsets[MOST + 2];
    int32_t narrow[MOST + 2];
    uint8_t text[256];
    for (int64_t k = 0; k <= values; k++) {
        offsets[k] = (int8_t)next(from);
        narrow[k] = (int32_t)offsets[k];
    }
    memset(text, 'a', sizeof text);
    if (large)
        arrow_add_buffer(array, offsets, (size_t)(values + 1) * sizeof *offsets);
    else
        arrow_add_buffer(array, narrow, (size_t)(values + 1) * sizeof *narrow);
    arrow_add_buffer(array, next(from) % 8 == 0 ? NULL : text, sizeof text);
}

static struct ArrowArray make_array(script *from, const char *format, int *released) {
    const int64_t values = next(from) % MOST, offset = values > 0 ? next(from) % values : 0;
    struct ArrowArray array = arrow_array(values - offset, offset, released);
    const uint8_t nulls = next(from);
    array.null_count = nulls % 3 == 0 ? 0 : nulls % 3 == 1 ? -1 : 1;
    if (format[0] == 'n') return array;
    if (nulls & 4)
        add_buffer(&array, from, (size_t)values / 8 + 1);
    else
        arrow_add_buffer(&array, NULL, 0);
    if (strcmp(format, "u") == 0 || strcmp(format, "U") == 0) {
        add_texts(&array, from, format[0] == 'U', values);
    } else {
        add_buffer(&array, from, (size_t)values * 16);
        if (format[0] == 'v') {
            const int64_t size = 40;
            add_buffer(&array, from, (size_t)size);
            arrow_add_buffer(&array, &size, sizeof size);
        }
    }
    if (nulls & 8 && array.n_buffers > 0) array.n_buffers--;
    if (nulls & 16) array.offset = -array.offset;
    return array;
}

static void add_column(struct ArrowSchema *schema, struct ArrowArray *array, script *from, int *released) {
    static const char *const names[] = { "a", "b", "c", "d" };
    const char *format = formats[next(from) % (sizeof formats / sizeof *formats)];
    const uint8_t kind = next(from);
    const char *levels = kind & 4 ? formats[next(from) % (sizeof formats / sizeof *formats)] : NULL;
    arrow_schema_add(schema, arrow_schema(format, kind & 8 ? NULL : names[kind % 4], levels, released));
    struct ArrowArray column = make_array(from, format, released);
    if (levels != NULL && !(kind & 16)) arrow_set_dictionary(&column, make_array(from, levels, released));
    arrow_add_child(array, column);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    script from = { bytes, length };
    int released = 0;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    const uint8_t columns = next(&from) % 4, rows = next(&from) % MOST, odd = next(&from);
    struct ArrowSchema schema = arrow_schema(odd % 16 == 1 ? "g" : "+s", "", NULL, &released);
    struct ArrowArray array = arrow_array(rows, odd % 16 == 2 ? 3 : 0, &released);
    arrow_add_buffer(&array, NULL, 0);
    for (uint8_t j = 0; j < columns; j++) add_column(&schema, &array, &from, &released);
    if (odd % 16 == 3) array.n_children++;
    const tacit_status status = tacit_frame_arrow(&frame, &schema, &array, &error);
    if ((status != TACIT_OK) != (error.text[0] != 0)) abort(); /* every failure has its sentence */
    if (schema.release != NULL || array.release != NULL) abort();
    if (status == TACIT_OK) {
        tacit_error why = TACIT_ERROR_INIT;
        if (tacit_frame_describe(frame, NULL, NULL, &why) != TACIT_OK && why.text[0] == 0) abort();
    }
    tacit_frame_free(frame);
    return 0;
}
