/* Which parts of a schema were read off rows, and the refusal to publish those. */
#include <stdio.h>
#include <string.h>

#include "data/schema/schema.h"
#include "data/schema/text.h"

enum { COLUMNS_NAMED = 3 };

static size_t columns_from_rows(const tacit_schema *schema) {
    size_t count = 0;
    for (size_t i = 0; i < schema->cols; i++) count += schema->columns[i].from_rows;
    return count;
}

bool tacit_schema_is_from_rows(const tacit_schema *schema) {
    return schema->label_from_rows || schema->sparse_from_rows || schema->clip_from_rows ||
           columns_from_rows(schema) > 0;
}

/* A text that grows in place and is cut where it is full. */
typedef struct sentence {
    char *text;
    size_t length, parts;
} sentence;

static void say(sentence *to, const char *words) {
    size_t room = TACIT_FROM_ROWS_TEXT - 1 - to->length, length = strlen(words);
    if (length > room) length = room;
    memcpy(to->text + to->length, words, length);
    to->text[to->length += length] = 0;
}

static void begin_part(sentence *to, const char *words) {
    if (to->parts++ > 0) say(to, "; ");
    say(to, words);
}

static void say_name(sentence *to, const char *name) {
    char shown[TACIT_CELL_TEXT];
    say(to, " '");
    say(to, tacit_text_shown(name, strlen(name), shown));
    say(to, "'");
}

static void say_columns(sentence *to, const tacit_schema *schema, size_t count) {
    char more[48];
    size_t named = 0;
    if (count == 0) return;
    begin_part(to, count == 1 ? "the column" : "the columns");
    for (size_t i = 0; i < schema->cols && named < COLUMNS_NAMED; i++) {
        if (!schema->columns[i].from_rows) continue;
        if (named++ > 0) say(to, ",");
        say_name(to, schema->columns[i].name);
    }
    snprintf(more, sizeof more, " and %zu more", count - named);
    if (count > named) say(to, more);
}

const char *tacit_schema_from_rows_text(const tacit_schema *schema, char out[TACIT_FROM_ROWS_TEXT]) {
    sentence to = { .text = out };
    out[0] = 0;
    if (schema->label_from_rows) {
        begin_part(&to, schema->response == TACIT_RESPONSE_CLASS ? "the classes of"
                                                                 : "the bounds of the response");
        say_name(&to, schema->label);
    }
    say_columns(&to, schema, columns_from_rows(schema));
    if (schema->sparse_from_rows) begin_part(&to, "the number of features (sparse)");
    if (schema->clip_from_rows) begin_part(&to, "the longest row (clip)");
    return out;
}

tacit_status tacit_schema_check_public(const tacit_schema *schema, tacit_error *error) {
    char parts[TACIT_FROM_ROWS_TEXT];
    if (!tacit_schema_is_from_rows(schema)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "read off the rows, so not private: %s. Give what is publicly known without looking at "
                      "the rows; in a schema file, edit these values and remove 'from: rows' beside them",
                      tacit_schema_from_rows_text(schema, parts));
}
