/* Rows of a collection, and rules about their use. */
#include <stdio.h>
#include <string.h>

#include "base/growing.h"
#include "person/personal.h"
#include "person/personal_parts.h"

static tacit_vault_place rows_of(const tacit_collection *collection) {
    return (tacit_vault_place){ RECORD_ROW, collection->id };
}

tacit_status tacit_row_add(tacit_vault *vault, const tacit_collection *collection,
                           const tacit_collection_row *row, int64_t *id, tacit_error *error) {
    const tacit_vault_place place = rows_of(collection);
    tacit_buffer record = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append_u64(&record, (uint64_t)row->origin, error));
    TACIT_CHECK(tacit_buffer_append_u32(&record, (uint32_t)row->day, error));
    TACIT_CHECK(tacit_buffer_append_u64(&record, (uint64_t)row->time_ms, error));
    for (uint32_t j = 0; j < collection->count; j++) {
        if (row->cells[j] == NULL) continue;
        if (strlen(row->cells[j]) > TACIT_PERSONAL_CELL_MOST)
            TACIT_CHECK(tacit_fail(error, TACIT_LIMIT, "a value of '%s' is longer than %d bytes",
                                   collection->columns[j].name, TACIT_PERSONAL_CELL_MOST));
        TACIT_CHECK(tacit_buffer_append_u32(&record, j, error));
        TACIT_CHECK(personal_put_text(&record, row->cells[j], strlen(row->cells[j]), error));
    }
    TACIT_CHECK(tacit_vault_add(vault, &place, &record, id, error));
cleanup:
    personal_wipe(&record);
    return status;
}

typedef struct row_visitor {
    const tacit_collection *collection;
    tacit_row_visit *visit;
    void *context;
    const char **cells; /* of the row at hand, in `texts` */
    tacit_buffer texts;
} row_visitor;

/* The cells with a NUL after each; they point into `texts` when all are there. */
static tacit_status unpack_cells(row_visitor *self, tacit_cursor *from, tacit_error *error) {
    const size_t count = self->collection->count;
    tacit_cursor again = *from;
    uint32_t column, next = 0;
    const char *text;
    size_t length;
    for (size_t j = 0; j < count; j++) self->cells[j] = NULL;
    self->texts.length = 0;
    while (from->left > 0) {
        if (!tacit_cursor_read_u32(from, &column) || column < next || column >= count ||
            !personal_get_text(from, &text, &length, TACIT_PERSONAL_CELL_MOST))
            return personal_corrupt("a row", error);
        next = column + 1;
        TACIT_TRY(tacit_buffer_append(&self->texts, text, length, error));
        TACIT_TRY(tacit_buffer_append(&self->texts, "", 1, error));
    }
    for (size_t at = 0; again.left > 0;) {
        if (!tacit_cursor_read_u32(&again, &column) ||
            !personal_get_text(&again, &text, &length, TACIT_PERSONAL_CELL_MOST))
            break;
        self->cells[column] = (const char *)self->texts.bytes + at;
        at += length + 1;
    }
    return TACIT_OK;
}

static tacit_status visit_row(void *context, int64_t id, const uint8_t *bytes, size_t length,
                              tacit_error *error) {
    row_visitor *self = context;
    tacit_cursor from = tacit_cursor_over(bytes, length);
    uint64_t origin, time_ms;
    uint32_t day;
    if (!tacit_cursor_read_u64(&from, &origin) || !tacit_cursor_read_u32(&from, &day) ||
        !tacit_cursor_read_u64(&from, &time_ms))
        return personal_corrupt("a row", error);
    TACIT_TRY(unpack_cells(self, &from, error));
    const tacit_collection_row row = { id, (int64_t)origin, (int32_t)day, (int64_t)time_ms, self->cells };
    return self->visit(self->context, &row, error);
}

tacit_status tacit_rows_each(tacit_vault *vault, const tacit_collection *collection, tacit_row_visit *visit,
                             void *context, tacit_error *error) {
    const tacit_vault_place place = rows_of(collection);
    row_visitor self = { .collection = collection, .visit = visit, .context = context };
    self.cells = TACIT_NEW(const char *, collection->count + 1);
    if (self.cells == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_vault_each(vault, &place, visit_row, &self, error);
    personal_wipe(&self.texts);
    free(self.cells);
    return status;
}

static tacit_status count_row(void *context, const tacit_collection_row *row, tacit_error *error) {
    tacit_rows_span *span = context;
    (void)error;
    if (span->count == 0 || row->day < span->first) span->first = row->day;
    if (span->count == 0 || row->day > span->last) span->last = row->day;
    span->count++;
    return TACIT_OK;
}

tacit_status tacit_rows_measure(tacit_vault *vault, const tacit_collection *collection, tacit_rows_span *out,
                                tacit_error *error) {
    tacit_rows_span span = { .count = 0 };
    TACIT_TRY(tacit_rows_each(vault, collection, count_row, &span, error));
    *out = span;
    return TACIT_OK;
}

typedef struct id_list {
    int32_t from, until;
    int64_t *ids;
    size_t count, capacity;
} id_list;

static tacit_status note_row(void *context, const tacit_collection_row *row, tacit_error *error) {
    id_list *list = context;
    if (row->day < list->from || row->day > list->until) return TACIT_OK;
    int64_t *ids = tacit_grow_by_one(list->ids, list->count, &list->capacity, 64, sizeof *ids);
    if (ids == NULL) return tacit_fail_memory(error);
    list->ids = ids;
    ids[list->count++] = row->id;
    return TACIT_OK;
}

tacit_status tacit_rows_remove(tacit_vault *vault, const tacit_collection *collection, int32_t from,
                               int32_t until, tacit_error *error) {
    id_list list = { .from = from, .until = until };
    tacit_status status = tacit_rows_each(vault, collection, note_row, &list, error);
    for (size_t i = 0; status == TACIT_OK && i < list.count; i++)
        status = tacit_vault_remove(vault, list.ids[i], error);
    free(list.ids);
    return status;
}

/* ---- rules ---- */

static const tacit_vault_place rules_place = { RECORD_RULE, 0 };
static const char *const reuse_names[] = { "ask", "allow", "refuse" };

const char *tacit_reuse_name(tacit_reuse reuse) { return reuse_names[reuse]; }

bool tacit_reuse_parse(tacit_reuse *out, const char *text) {
    for (size_t i = 0; i < sizeof reuse_names / sizeof *reuse_names; i++)
        if (strcmp(text, reuse_names[i]) == 0) {
            *out = (tacit_reuse)i;
            return true;
        }
    return false;
}

typedef struct rule_visitor {
    tacit_reuse_visit *visit;
    void *context;
} rule_visitor;

static tacit_status visit_rule(void *context, int64_t id, const uint8_t *bytes, size_t length,
                               tacit_error *error) {
    const rule_visitor *visitor = context;
    tacit_cursor from = tacit_cursor_over(bytes, length);
    tacit_reuse_rule rule = { .id = id };
    uint32_t reuse;
    if (!personal_copy_text(&from, rule.who, sizeof rule.who) ||
        !personal_copy_text(&from, rule.collection, sizeof rule.collection) ||
        !personal_copy_text(&from, rule.purpose, sizeof rule.purpose) ||
        !tacit_cursor_read_u32(&from, &reuse) || reuse > TACIT_REUSE_REFUSE || from.left != 0)
        return personal_corrupt("a rule", error);
    rule.reuse = (tacit_reuse)reuse;
    return visitor->visit(visitor->context, &rule, error);
}

tacit_status tacit_reuse_each(tacit_vault *vault, tacit_reuse_visit *visit, void *context,
                              tacit_error *error) {
    rule_visitor visitor = { visit, context };
    return tacit_vault_each(vault, &rules_place, visit_rule, &visitor, error);
}

typedef struct same_rule {
    const tacit_reuse_rule *wanted;
    int64_t id;
} same_rule;

static tacit_status find_same(void *context, const tacit_reuse_rule *rule, tacit_error *error) {
    same_rule *self = context;
    (void)error;
    if (strcmp(rule->who, self->wanted->who) == 0 && strcmp(rule->collection, self->wanted->collection) == 0)
        self->id = rule->id;
    return TACIT_OK;
}

tacit_status tacit_reuse_set(tacit_vault *vault, const tacit_reuse_rule *rule, tacit_error *error) {
    same_rule same = { .wanted = rule };
    tacit_buffer record = TACIT_BUFFER_INIT;
    int64_t id;
    tacit_status status;
    if (strcmp(rule->collection, "*") != 0 && !tacit_collection_name_fits(rule->collection))
        return tacit_fail(error, TACIT_USAGE, "a rule is about a source by its name, or about all: *");
    if (rule->who[0] == 0)
        return tacit_fail(error, TACIT_USAGE, "a rule names a study, a coordinator, or all of them: *");
    TACIT_CHECK(personal_put_text(&record, rule->who, strlen(rule->who), error));
    TACIT_CHECK(personal_put_text(&record, rule->collection, strlen(rule->collection), error));
    TACIT_CHECK(personal_put_text(&record, rule->purpose, strlen(rule->purpose), error));
    TACIT_CHECK(tacit_buffer_append_u32(&record, rule->reuse, error));
    TACIT_CHECK(tacit_reuse_each(vault, find_same, &same, error));
    status = same.id != 0 ? tacit_vault_replace(vault, &rules_place, same.id, &record, error)
                          : tacit_vault_add(vault, &rules_place, &record, &id, error);
cleanup:
    tacit_buffer_clear(&record);
    return status;
}

typedef struct verdict {
    const char *collection, *study, *coordinator;
    int weight; /* of the rule that counts so far */
    tacit_reuse reuse;
} verdict;

static tacit_status weigh(void *context, const tacit_reuse_rule *rule, tacit_error *error) {
    verdict *self = context;
    (void)error;
    int who = strcmp(rule->who, self->study) == 0         ? 3
              : strcmp(rule->who, self->coordinator) == 0 ? 2
              : strcmp(rule->who, "*") == 0               ? 1
                                                          : 0;
    int what = strcmp(rule->collection, self->collection) == 0 ? 2
               : strcmp(rule->collection, "*") == 0            ? 1
                                                               : 0;
    if (who == 0 || what == 0 || 2 * who + what <= self->weight) return TACIT_OK;
    self->weight = 2 * who + what;
    self->reuse = rule->reuse;
    return TACIT_OK;
}

tacit_status tacit_reuse_of(tacit_reuse *out, tacit_vault *vault, const char *collection, const char *study,
                            const char *coordinator, tacit_error *error) {
    verdict self = {
        .collection = collection, .study = study, .coordinator = coordinator, .reuse = TACIT_REUSE_ASK
    };
    TACIT_TRY(tacit_reuse_each(vault, weigh, &self, error));
    *out = self.reuse;
    return TACIT_OK;
}
