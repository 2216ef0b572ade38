/* Linking files: from YAML. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/schema/yaml.h"
#include "data/source/linking.h"

typedef struct linking_reading {
    tacit_yaml *yaml;
    tacit_error *error;
} linking_reading;

static void source_clear(linking_source *source) {
    free(source->rows);
    free(source->key);
    free(source->time);
    free(source->since);
    free(source->times);
    tacit_levels_clear(&source->columns);
    tacit_levels_clear(&source->old_names);
    tacit_levels_clear(&source->new_names);
    tacit_levels_clear(&source->measures);
    tacit_levels_clear(&source->wide);
}

void linking_clear(linking *self) {
    for (size_t i = 0; i < self->count; i++) source_clear(&self->sources[i]);
    free(self->sources);
    char *texts[] = { self->origin, self->from, self->until,  self->event,
                      self->start,  self->stop, self->episode };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
    free(self->cuts);
    *self = (linking){ .count = 0 };
}

bool linking_is_named(const char *name) {
    static const char *const endings[] = { ".link.yaml", ".link.yml" };
    size_t length = strlen(name);
    for (size_t i = 0; i < 2; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0) return true;
    }
    return false;
}

/* ---- values ---- */

/* A text that is kept; one that is not there is `otherwise`, which may be NULL. */
static tacit_status take_text(const linking_reading *r, const yaml_node_t *node, const char *what,
                              const char *otherwise, char **out) {
    const char *text = otherwise;
    size_t length = 0;
    if (node != NULL) TACIT_TRY(tacit_yaml_text(r->yaml, node, what, &text, &length, r->error));
    if (text == NULL) return TACIT_OK;
    *out = tacit_copy_text(text);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(r->error);
}

static tacit_status add_text(const linking_reading *r, const yaml_node_t *node, const char *what,
                             tacit_levels *to) {
    const char *text = NULL;
    size_t length = 0, before = to->count;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, what, &text, &length, r->error));
    TACIT_TRY(tacit_levels_add(to, text, length, NULL, r->error));
    if (to->count > before) return TACIT_OK;
    return tacit_yaml_fail(r->yaml, node, r->error, "%s '%.60s' is here twice", what, text);
}

static tacit_status check_list(const linking_reading *r, const yaml_node_t *node, const char *what) {
    if (node->type == YAML_SEQUENCE_NODE && node->data.sequence.items.top > node->data.sequence.items.start)
        return TACIT_OK;
    return tacit_yaml_fail(r->yaml, node, r->error, "%s must be a list: [..., ...]", what);
}

static size_t list_length(const yaml_node_t *node) {
    return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
}

static const yaml_node_t *list_item(const linking_reading *r, const yaml_node_t *node, size_t i) {
    return yaml_document_get_node(&r->yaml->document, node->data.sequence.items.start[i]);
}

static tacit_status take_list(const linking_reading *r, const yaml_node_t *node, const char *what,
                              tacit_levels *to) {
    TACIT_TRY(check_list(r, node, what));
    for (size_t i = 0; i < list_length(node); i++) TACIT_TRY(add_text(r, list_item(r, node, i), what, to));
    return TACIT_OK;
}

static tacit_status take_times(const linking_reading *r, const yaml_node_t *node, const char *what,
                               double **out, size_t *count) {
    TACIT_TRY(check_list(r, node, what));
    double *times = TACIT_NEW(double, list_length(node));
    if (times == NULL) return tacit_fail_memory(r->error);
    *out = times;
    *count = list_length(node);
    for (size_t i = 0; i < *count; i++) {
        const yaml_node_t *item = list_item(r, node, i);
        TACIT_TRY(tacit_yaml_number(r->yaml, item, what, &times[i], r->error));
        if (i > 0 && times[i] <= times[i - 1])
            return tacit_yaml_fail(r->yaml, item, r->error,
                                   "%s must ascend: %g comes after %g. Sort them, and the columns with them",
                                   what, times[i], times[i - 1]);
    }
    return TACIT_OK;
}

/* ---- a source ---- */

static tacit_status take_renaming(const linking_reading *r, const yaml_node_t *node, linking_source *to) {
    if (node->type != YAML_MAPPING_NODE)
        return tacit_yaml_fail(r->yaml, node, r->error, "rename must be a mapping, {OLD: NEW}");
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *old = yaml_document_get_node(&r->yaml->document, pair->key);
        const yaml_node_t *renamed = yaml_document_get_node(&r->yaml->document, pair->value);
        TACIT_TRY(add_text(r, old, "the old name", &to->old_names));
        TACIT_TRY(add_text(r, renamed, "the new name", &to->new_names));
    }
    return TACIT_OK;
}

/* A measure: one column for each time. */
static tacit_status take_measure(const linking_reading *r, const yaml_node_t *name,
                                 const yaml_node_t *columns, linking_source *to) {
    TACIT_TRY(add_text(r, name, "the measure", &to->measures));
    TACIT_TRY(take_list(r, columns, "a column of long", &to->wide));
    if (list_length(columns) == to->time_count) return TACIT_OK;
    return tacit_yaml_fail(r->yaml, columns, r->error,
                           "'%.60s' has %zu columns for %zu times: name one for each",
                           (const char *)name->data.scalar.value, list_length(columns), to->time_count);
}

static bool is_times(const yaml_node_t *key) {
    return key->type == YAML_SCALAR_NODE && strcmp((const char *)key->data.scalar.value, "times") == 0;
}

static tacit_status take_long(const linking_reading *r, const yaml_node_t *node, linking_source *to) {
    if (node->type != YAML_MAPPING_NODE)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "long must be a mapping, {times: [8, 10], distance: [at8, at10]}");
    yaml_node_pair_t *begin = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
    for (yaml_node_pair_t *pair = begin; pair < end; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&r->yaml->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(&r->yaml->document, pair->value);
        if (!is_times(key)) continue;
        if (to->times != NULL) return tacit_yaml_fail(r->yaml, key, r->error, "times are here twice");
        TACIT_TRY(take_times(r, value, "times", &to->times, &to->time_count));
    }
    for (yaml_node_pair_t *pair = begin; pair < end; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&r->yaml->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(&r->yaml->document, pair->value);
        if (!is_times(key)) TACIT_TRY(take_measure(r, key, value, to));
    }
    if (to->time_count > 0 && to->measures.count > 0 && to->time != NULL) return TACIT_OK;
    return tacit_yaml_fail(r->yaml, node, r->error,
                           "long needs times and at least one measure, and its source a time: what the "
                           "column with the times is to be called");
}

/* Beside the linking file, unless it is a query or a full path. */
static tacit_status resolve(const linking_reading *r, const yaml_node_t *node, char **out) {
    const char *text = NULL;
    size_t length = 0;
    char path[PATH_MAX], folder[PATH_MAX];
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "rows", &text, &length, r->error));
    if (linking_is_named(text))
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "'%.200s' is a linking file: name the sources of its rows here", text);
    const char *slash = strrchr(r->yaml->name, '/');
    if (slash == NULL || text[0] == '/' || tacit_source_is_query(text))
        return take_text(r, node, "rows", NULL, out);
    size_t around = (size_t)(slash - r->yaml->name) + (slash == r->yaml->name);
    if (around >= sizeof folder) return tacit_fail(r->error, TACIT_LIMIT, "a path is too long");
    memcpy(folder, r->yaml->name, around);
    folder[around] = 0;
    TACIT_TRY(tacit_path_join(path, sizeof path, folder, text, r->error));
    *out = tacit_copy_text(path);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(r->error);
}

static tacit_status take_carry(const linking_reading *r, const yaml_node_t *node, linking_source *to) {
    to->carry = INFINITY;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_number(r->yaml, node, "carry", &to->carry, r->error));
    if (to->carry >= 0) return TACIT_OK;
    return tacit_yaml_fail(r->yaml, node, r->error, "carry must be at least 0");
}

static tacit_status take_source(const linking_reading *r, const yaml_node_t *node, const char *key,
                                linking_source *to) {
    enum { ROWS, KEY, TIME, CARRY, SINCE, COLUMNS, RENAME, LONG, KEYS };
    static const char *const keys[] = {
        "rows", "key", "time", "carry", "since", "columns", "rename", "long"
    };
    const yaml_node_t *values[KEYS];
    TACIT_TRY(tacit_yaml_mapping(r->yaml, node, "a source", keys, KEYS, values, r->error));
    if (values[ROWS] == NULL)
        return tacit_yaml_fail(r->yaml, node, r->error, "a source needs rows: a file, a folder or a query");
    if (values[KEY] == NULL && key == NULL)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "which column says whom a row is about? Name it, key: COLUMN");
    TACIT_TRY(resolve(r, values[ROWS], &to->rows));
    TACIT_TRY(take_text(r, values[KEY], "key", key, &to->key));
    TACIT_TRY(take_text(r, values[TIME], "time", NULL, &to->time));
    TACIT_TRY(take_carry(r, values[CARRY], to));
    TACIT_TRY(take_text(r, values[SINCE], "since", NULL, &to->since));
    to->chosen = values[COLUMNS] != NULL || to->since != NULL;
    if (values[COLUMNS] != NULL) TACIT_TRY(take_list(r, values[COLUMNS], "columns", &to->columns));
    if (values[RENAME] != NULL) TACIT_TRY(take_renaming(r, values[RENAME], to));
    if (values[LONG] != NULL) TACIT_TRY(take_long(r, values[LONG], to));
    if (to->time == NULL && (values[CARRY] != NULL || to->since != NULL))
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "carry and since are for a source with a time: COLUMN");
    return TACIT_OK;
}

/* ---- the file ---- */

static tacit_status take_intervals(const linking_reading *r, const yaml_node_t *node, linking *to) {
    enum { ORIGIN, FROM, UNTIL, EVENT, START, STOP, CUT, EPISODE, GRID, KEYS };
    static const char *const keys[] = { "origin", "from", "until",   "event", "start",
                                        "stop",   "cut",  "episode", "grid" };
    const yaml_node_t *values[KEYS];
    TACIT_TRY(tacit_yaml_mapping(r->yaml, node, "intervals", keys, KEYS, values, r->error));
    if (values[UNTIL] == NULL || values[EVENT] == NULL)
        return tacit_yaml_fail(
            r->yaml, node, r->error,
            "intervals need two columns of the first source: until, when a person was last "
            "seen, and event, what happened then");
    if (values[EPISODE] != NULL && values[CUT] == NULL)
        return tacit_yaml_fail(r->yaml, node, r->error, "an episode needs times to cut at, cut: [365, 730]");
    to->has_intervals = true;
    TACIT_TRY(take_text(r, values[ORIGIN], "origin", NULL, &to->origin));
    TACIT_TRY(take_text(r, values[FROM], "from", NULL, &to->from));
    TACIT_TRY(take_text(r, values[UNTIL], "until", NULL, &to->until));
    TACIT_TRY(take_text(r, values[EVENT], "event", NULL, &to->event));
    TACIT_TRY(take_text(r, values[START], "start", "start", &to->start));
    TACIT_TRY(take_text(r, values[STOP], "stop", "stop", &to->stop));
    TACIT_TRY(take_text(r, values[EPISODE], "episode", NULL, &to->episode));
    if (values[GRID] != NULL) {
        TACIT_TRY(tacit_yaml_number(r->yaml, values[GRID], "grid", &to->grid, r->error));
        if (!(to->grid > 0)) return tacit_yaml_fail(r->yaml, values[GRID], r->error, "grid must be above 0");
    }
    if (values[CUT] == NULL) return TACIT_OK;
    return take_times(r, values[CUT], "cut", &to->cuts, &to->cut_count);
}

/* What a source can only be beside others. */
static tacit_status check_source(const linking_reading *r, const yaml_node_t *node, const linking *to,
                                 size_t i) {
    const linking_source *source = &to->sources[i];
    if (i == 0 && to->has_intervals && source->time != NULL)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "with intervals the first source has no time: its times are from and until");
    if (i == 0 && (source->since != NULL || isfinite(source->carry)))
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "the first source has the rows: carry and since are for sources after it");
    if (i > 0 && source->time != NULL && !to->has_intervals && to->sources[0].time == NULL)
        return tacit_yaml_fail(
            r->yaml, node, r->error,
            "values with times need rows with times: name the first source's time, or intervals");
    if (to->has_intervals && !(source->carry > 0))
        return tacit_yaml_fail(r->yaml, node, r->error, "with intervals carry must be above 0");
    return TACIT_OK;
}

static tacit_status take_sources(const linking_reading *r, const yaml_node_t *node, const char *key,
                                 linking *to) {
    TACIT_TRY(check_list(r, node, "sources"));
    if (list_length(node) > LINKING_SOURCES_MOST)
        return tacit_yaml_fail(r->yaml, node, r->error, "more than %d sources", LINKING_SOURCES_MOST);
    to->sources = TACIT_NEW(linking_source, list_length(node));
    if (to->sources == NULL) return tacit_fail_memory(r->error);
    to->count = list_length(node);
    for (size_t i = 0; i < to->count; i++) {
        const yaml_node_t *item = list_item(r, node, i);
        TACIT_TRY(take_source(r, item, key, &to->sources[i]));
        TACIT_TRY(check_source(r, item, to, i));
    }
    return TACIT_OK;
}

static tacit_status take_file(const linking_reading *r, linking *to) {
    enum { KEY, SOURCES, INTERVALS, KEYS };
    static const char *const keys[] = { "key", "sources", "intervals" };
    const yaml_node_t *values[KEYS], *root = tacit_yaml_root(r->yaml);
    const char *key = NULL;
    size_t length = 0;
    if (root == NULL) return tacit_fail(r->error, TACIT_INPUT, "%s is empty", r->yaml->name);
    TACIT_TRY(tacit_yaml_mapping(r->yaml, root, "a linking file", keys, KEYS, values, r->error));
    if (values[SOURCES] == NULL)
        return tacit_yaml_fail(r->yaml, root, r->error, "a linking file needs sources: a list of rows: FILE");
    if (values[KEY] != NULL) TACIT_TRY(tacit_yaml_text(r->yaml, values[KEY], "key", &key, &length, r->error));
    if (values[INTERVALS] != NULL) TACIT_TRY(take_intervals(r, values[INTERVALS], to));
    return take_sources(r, values[SOURCES], key, to);
}

tacit_status linking_parse(linking *out, const char *text, size_t length, const char *name,
                           tacit_error *error) {
    tacit_yaml yaml;
    linking made = { .count = 0 };
    TACIT_TRY(tacit_yaml_open(&yaml, text, length, name, error));
    const linking_reading reading = { &yaml, error };
    tacit_status status = take_file(&reading, &made);
    tacit_yaml_close(&yaml);
    if (status == TACIT_OK)
        *out = made;
    else
        linking_clear(&made);
    return status;
}

tacit_status linking_load(linking *out, const char *path, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(LINKING_BYTES_MOST);
    tacit_status status = tacit_file_read(path, &text, error);
    if (status == TACIT_OK) status = linking_parse(out, tacit_buffer_text(&text), text.length, path, error);
    tacit_buffer_clear(&text);
    return status;
}
