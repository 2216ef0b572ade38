/* Questionnaires from YAML. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/formula/condition.h"
#include "data/schema/date.h"
#include "data/schema/text.h"
#include "person/instrument/instrument_parts.h"
#include "person/personal.h"

typedef struct reading {
    tacit_yaml yaml;
    tacit_instrument *made;
    tacit_error *error;
} reading;

static const char *const kind_names[] = { "scale", "choice", "number", "date", "text" };
enum { KINDS = sizeof kind_names / sizeof *kind_names };

const char *tacit_item_kind_name(tacit_item_kind kind) { return kind_names[kind]; }

/* ---- values ---- */

static tacit_status require(const reading *r, const yaml_node_t *within, const yaml_node_t *node,
                            const char *key, const char *what) {
    if (node != NULL) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, within, r->error, "%s has no '%s': add it", what, key);
}

static tacit_status take_text(const reading *r, const yaml_node_t *node, const char *what, char **out) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, what, &text, &length, r->error));
    if (length > TACIT_INSTRUMENT_TEXT)
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s has %zu bytes: shorten it to at most %d", what,
                               length, TACIT_INSTRUMENT_TEXT);
    *out = tacit_copy_text(text);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(r->error);
}

static tacit_status take_name(const reading *r, const yaml_node_t *node, const char *what,
                              char out[TACIT_INSTRUMENT_NAME]) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, what, &text, &length, r->error));
    if (!tacit_collection_name_fits(text))
        return tacit_yaml_fail(
            &r->yaml, node, r->error,
            "%s must be letters, digits, _ and -, beginning with a letter, at most %d of them", what,
            TACIT_INSTRUMENT_NAME - 1);
    memcpy(out, text, length + 1);
    return TACIT_OK;
}

static tacit_status take_whole(const reading *r, const yaml_node_t *node, const char *what, double low,
                               double high, double *out) {
    TACIT_TRY(tacit_yaml_number(&r->yaml, node, what, out, r->error));
    if (*out == floor(*out) && *out >= low && *out <= high) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, node, r->error, "%s must be a whole number from %g to %g", what, low,
                           high);
}

static tacit_status take_switch(const reading *r, const yaml_node_t *node, const char *what, bool *out) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, what, &text, &length, r->error));
    *out = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
    if (*out || strcmp(text, "no") == 0 || strcmp(text, "false") == 0) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, node, r->error, "%s is yes or no", what);
}

/* The elements of a list: how many, at least one and at most `most`. */
static tacit_status take_list(const reading *r, const yaml_node_t *node, const char *what, size_t most,
                              size_t *count) {
    if (node->type != YAML_SEQUENCE_NODE)
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s must be a list", what);
    *count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (*count >= 1 && *count <= most) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, node, r->error, "%s must have 1 to %zu entries, not %zu", what, most,
                           *count);
}

static const yaml_node_t *list_at(reading *r, const yaml_node_t *node, size_t i) {
    return yaml_document_get_node(&r->yaml.document, node->data.sequence.items.start[i]);
}

/* A text for each language; by itself where there is one language. */
static tacit_status take_said(reading *r, const yaml_node_t *node, const char *what, tacit_said *out) {
    const tacit_levels *languages = &r->made->languages;
    const yaml_node_t *values[TACIT_INSTRUMENT_LANGUAGES];
    if (node->type == YAML_SCALAR_NODE && languages->count == 1) return take_text(r, node, what, &out->in[0]);
    if (node->type != YAML_MAPPING_NODE)
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s needs a text for each language, e.g. {%s: ...}",
                               what, languages->text[0]);
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, what, (const char *const *)languages->text, languages->count,
                                 values, r->error));
    for (size_t k = 0; k < languages->count; k++) {
        if (values[k] == NULL)
            return tacit_yaml_fail(&r->yaml, node, r->error, "%s has no text in '%s': add it", what,
                                   languages->text[k]);
        TACIT_TRY(take_text(r, values[k], what, &out->in[k]));
    }
    return TACIT_OK;
}

/* ---- items ---- */

static tacit_status take_labels(reading *r, const yaml_node_t *node, tacit_item *item) {
    const char *const *keys = (const char *const *)r->made->languages.text;
    const size_t languages = r->made->languages.count;
    const yaml_node_t *values[TACIT_INSTRUMENT_LANGUAGES];
    size_t count;
    if (node == NULL) return TACIT_OK;
    item->says_count = (size_t)(item->high - item->low) + 1;
    item->says = TACIT_NEW(tacit_said, item->says_count);
    if (item->says == NULL) return tacit_fail_memory(r->error);
    if (node->type == YAML_SEQUENCE_NODE && languages == 1)
        values[0] = node;
    else
        TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "'labels'", keys, languages, values, r->error));
    for (size_t k = 0; k < languages; k++) {
        TACIT_TRY(require(r, node, values[k], keys[k], "'labels'"));
        TACIT_TRY(take_list(r, values[k], "'labels'", TACIT_INSTRUMENT_CHOICES, &count));
        if (count != item->says_count)
            return tacit_yaml_fail(&r->yaml, values[k], r->error,
                                   "the scale has %zu points and 'labels' %zu texts: give one each",
                                   item->says_count, count);
        for (size_t i = 0; i < count; i++)
            TACIT_TRY(take_text(r, list_at(r, values[k], i), "a label", &item->says[i].in[k]));
    }
    return TACIT_OK;
}

static tacit_status take_choices(reading *r, const yaml_node_t *node, tacit_item *item) {
    static const char *const keys[] = { "value", "says" };
    size_t count;
    TACIT_TRY(take_list(r, node, "'choices'", TACIT_INSTRUMENT_CHOICES, &count));
    if (count < 2) return tacit_yaml_fail(&r->yaml, node, r->error, "'choices' needs at least two entries");
    item->says = TACIT_NEW(tacit_said, count);
    if (item->says == NULL) return tacit_fail_memory(r->error);
    item->says_count = count;
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *one = list_at(r, node, i), *values[2];
        const char *value;
        size_t length;
        int32_t code;
        TACIT_TRY(tacit_yaml_mapping(&r->yaml, one, "a choice", keys, 2, values, r->error));
        TACIT_TRY(require(r, one, values[0], "value", "a choice"));
        TACIT_TRY(require(r, one, values[1], "says", "a choice"));
        TACIT_TRY(tacit_yaml_text(&r->yaml, values[0], "'value'", &value, &length, r->error));
        if (length >= TACIT_INSTRUMENT_NAME || tacit_text_is_missing(value, length))
            return tacit_yaml_fail(
                &r->yaml, values[0], r->error,
                "a choice's value has at most %d bytes and is not a word for nothing (NA, ?)",
                TACIT_INSTRUMENT_NAME - 1);
        TACIT_TRY(tacit_levels_add(&item->values, value, length, &code, r->error));
        if ((size_t)code != i)
            return tacit_yaml_fail(&r->yaml, values[0], r->error, "value '%s' is there twice: rename one",
                                   value);
        TACIT_TRY(take_said(r, values[1], "'says'", &item->says[i]));
    }
    return TACIT_OK;
}

static tacit_status take_day(const reading *r, const yaml_node_t *node, const char *what, double *out) {
    const char *text;
    size_t length;
    int32_t day;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, what, &text, &length, r->error));
    if (!tacit_text_to_day(text, length, &day))
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s must be a day, e.g. 1990-01-31", what);
    *out = day;
    return TACIT_OK;
}

enum { NAME, KIND, ASK, REQUIRED, SHOW_IF, FROM, TO, LABELS, CHOICES, LOW, HIGH, ITEM_KEYS };
static const char *const item_keys[ITEM_KEYS] = { "name", "kind",   "ask",     "required", "show_if", "from",
                                                  "to",   "labels", "choices", "low",      "high" };
/* Which keys go with which kind, besides those of all. */
static const bool item_takes[KINDS][ITEM_KEYS] = {
    [TACIT_ITEM_SCALE] = { [FROM] = true, [TO] = true, [LABELS] = true },
    [TACIT_ITEM_CHOICE] = { [CHOICES] = true },
    [TACIT_ITEM_NUMBER] = { [LOW] = true, [HIGH] = true },
    [TACIT_ITEM_DATE] = { [LOW] = true, [HIGH] = true },
};

static tacit_status take_kind(const reading *r, const yaml_node_t *const values[], tacit_item *item) {
    const char *text;
    size_t length, kind = 0;
    TACIT_TRY(tacit_yaml_text(&r->yaml, values[KIND], "'kind'", &text, &length, r->error));
    while (kind < KINDS && strcmp(text, kind_names[kind]) != 0) kind++;
    if (kind == KINDS)
        return tacit_yaml_fail(&r->yaml, values[KIND], r->error,
                               "'kind' is one of scale, choice, number, date and text");
    item->kind = (tacit_item_kind)kind;
    for (size_t k = FROM; k < ITEM_KEYS; k++)
        if (values[k] != NULL && !item_takes[kind][k])
            return tacit_yaml_fail(&r->yaml, values[k], r->error,
                                   "'%s' does not go with kind %s: leave it out", item_keys[k],
                                   kind_names[kind]);
    return TACIT_OK;
}

/* What an answer may be. */
static tacit_status take_range(reading *r, const yaml_node_t *within, const yaml_node_t *const values[],
                               tacit_item *item) {
    if (item->kind == TACIT_ITEM_SCALE) {
        TACIT_TRY(require(r, within, values[FROM], "from", "a scale"));
        TACIT_TRY(require(r, within, values[TO], "to", "a scale"));
        TACIT_TRY(take_whole(r, values[FROM], "'from'", -1000, 1000, &item->low));
        TACIT_TRY(take_whole(r, values[TO], "'to'", item->low + 1, item->low + TACIT_INSTRUMENT_CHOICES - 1,
                             &item->high));
        return take_labels(r, values[LABELS], item);
    }
    if (item->kind == TACIT_ITEM_CHOICE) {
        TACIT_TRY(require(r, within, values[CHOICES], "choices", "a choice"));
        return take_choices(r, values[CHOICES], item);
    }
    if (item->kind == TACIT_ITEM_NUMBER) {
        TACIT_TRY(require(r, within, values[LOW], "low", "a number"));
        TACIT_TRY(require(r, within, values[HIGH], "high", "a number"));
        TACIT_TRY(tacit_yaml_number(&r->yaml, values[LOW], "'low'", &item->low, r->error));
        TACIT_TRY(tacit_yaml_number(&r->yaml, values[HIGH], "'high'", &item->high, r->error));
    } else if (item->kind == TACIT_ITEM_DATE) {
        item->low = -25567; /* 1900-01-01 */
        item->high = 47482; /* 2100-01-01 */
        TACIT_TRY(take_day(r, values[LOW], "'low'", &item->low));
        TACIT_TRY(take_day(r, values[HIGH], "'high'", &item->high));
    } else {
        return TACIT_OK;
    }
    if (item->low < item->high && fabs(item->low) <= 1e12 && fabs(item->high) <= 1e12) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, values[HIGH] != NULL ? values[HIGH] : within, r->error,
                           "'low' must be below 'high', both within 1e12");
}

static tacit_status take_item(reading *r, const yaml_node_t *node, size_t place) {
    const yaml_node_t *values[ITEM_KEYS];
    tacit_item *item = &r->made->items[place];
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "an item", item_keys, ITEM_KEYS, values, r->error));
    for (size_t k = NAME; k <= ASK; k++) TACIT_TRY(require(r, node, values[k], item_keys[k], "an item"));
    TACIT_TRY(take_name(r, values[NAME], "'name'", item->name));
    for (size_t i = 0; i < place; i++)
        if (strcmp(r->made->items[i].name, item->name) == 0)
            return tacit_yaml_fail(&r->yaml, values[NAME], r->error, "there are two items '%s': rename one",
                                   item->name);
    TACIT_TRY(take_kind(r, values, item));
    TACIT_TRY(take_said(r, values[ASK], "'ask'", &item->ask));
    TACIT_TRY(take_switch(r, values[REQUIRED], "'required'", &item->required));
    TACIT_TRY(take_range(r, node, values, item));
    if (values[SHOW_IF] != NULL) TACIT_TRY(take_text(r, values[SHOW_IF], "'show_if'", &item->show_if));
    return TACIT_OK;
}

/* Conditions are read when all items are known; each looks at items before its own. */
static tacit_status take_conditions(reading *r, const yaml_node_t *list) {
    tacit_instrument *made = r->made;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_print(&text, r->error, "label: {name: ' ', classes: [a, b]}\ncolumns:\n"));
    for (size_t i = 0; i < made->item_count; i++)
        TACIT_CHECK(instrument_print_item(&text, &made->items[i], r->error));
    /* not all are texts */
    TACIT_CHECK(tacit_buffer_print(&text, r->error, "  - {name: '-', kind: number, low: 0, high: 1}\n"));
    TACIT_CHECK(
        tacit_schema_parse(&made->schema, tacit_buffer_text(&text), text.length, r->yaml.name, r->error));
    for (size_t i = 0; i < made->item_count; i++) {
        tacit_item *item = &made->items[i];
        tacit_error why = TACIT_ERROR_INIT;
        const size_t *columns;
        if (item->show_if == NULL) continue;
        status = tacit_condition_create(&item->condition, item->show_if, made->schema, "show_if", &why);
        if (status == TACIT_NO_MEMORY) TACIT_CHECK(tacit_fail_memory(r->error));
        if (status != TACIT_OK)
            TACIT_CHECK(tacit_yaml_fail(&r->yaml, list_at(r, list, i), r->error, "'show_if' of '%s': %s",
                                        item->name, why.text));
        for (size_t k = tacit_condition_columns(item->condition, &columns); k > 0; k--)
            if (columns[k - 1] >= i)
                TACIT_CHECK(tacit_yaml_fail(
                    &r->yaml, list_at(r, list, i), r->error,
                    "'show_if' of '%s' asks about '%s', which comes later: put that item first", item->name,
                    made->items[columns[k - 1]].name));
    }
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

/* ---- scores ---- */

static bool is_numeric(const tacit_item *item) {
    return item->kind == TACIT_ITEM_SCALE || item->kind == TACIT_ITEM_NUMBER;
}

static tacit_status find_item(reading *r, const yaml_node_t *node, size_t *out) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "an item of a score", &text, &length, r->error));
    for (*out = 0; *out < r->made->item_count; (*out)++)
        if (strcmp(r->made->items[*out].name, text) == 0) break;
    if (*out == r->made->item_count)
        return tacit_yaml_fail(&r->yaml, node, r->error, "there is no item '%.60s': name one of 'items'",
                               text);
    if (is_numeric(&r->made->items[*out])) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, node, r->error, "item '%s' is a %s: only scales and numbers are scored",
                           text, kind_names[r->made->items[*out].kind]);
}

static tacit_status take_score_items(reading *r, const yaml_node_t *of, const yaml_node_t *reversed,
                                     tacit_score *score) {
    size_t count, item;
    TACIT_TRY(take_list(r, of, "'of'", TACIT_INSTRUMENT_ITEMS, &score->count));
    for (size_t i = 0; i < score->count; i++) {
        TACIT_TRY(find_item(r, list_at(r, of, i), &score->items[i]));
        for (size_t k = 0; k < i; k++)
            if (score->items[k] == score->items[i])
                return tacit_yaml_fail(&r->yaml, list_at(r, of, i), r->error,
                                       "item '%s' is in the score twice: take one out",
                                       r->made->items[score->items[i]].name);
        const tacit_item *one = &r->made->items[score->items[i]];
        score->low = i == 0 ? one->low : fmin(score->low, one->low);
        score->high = i == 0 ? one->high : fmax(score->high, one->high);
    }
    if (reversed == NULL) return TACIT_OK;
    TACIT_TRY(take_list(r, reversed, "'reversed'", score->count, &count));
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        TACIT_TRY(find_item(r, list_at(r, reversed, i), &item));
        while (k < score->count && score->items[k] != item) k++;
        if (k == score->count)
            return tacit_yaml_fail(&r->yaml, list_at(r, reversed, i), r->error,
                                   "'%s' is reversed and not in 'of': add it there",
                                   r->made->items[item].name);
        score->reversed[k] = true;
    }
    return TACIT_OK;
}

static tacit_status take_score(reading *r, const yaml_node_t *node, size_t place) {
    enum { S_NAME, S_HOW, S_OF, S_REVERSED, S_LEAST, S_KEYS };
    static const char *const keys[S_KEYS] = { "name", "how", "of", "reversed", "least_answered" };
    const yaml_node_t *values[S_KEYS];
    tacit_score *score = &r->made->scores[place];
    const char *how;
    size_t length;
    double least;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "a score", keys, S_KEYS, values, r->error));
    for (size_t k = S_NAME; k <= S_OF; k++) TACIT_TRY(require(r, node, values[k], keys[k], "a score"));
    TACIT_TRY(take_name(r, values[S_NAME], "'name'", score->name));
    for (size_t i = 0; i < r->made->item_count + place; i++)
        if (strcmp(i < place ? r->made->scores[i].name : r->made->items[i - place].name, score->name) == 0)
            return tacit_yaml_fail(&r->yaml, values[S_NAME], r->error,
                                   "'%s' is an item or a score already: rename one", score->name);
    TACIT_TRY(tacit_yaml_text(&r->yaml, values[S_HOW], "'how'", &how, &length, r->error));
    score->mean = strcmp(how, "mean") == 0;
    if (!score->mean && strcmp(how, "sum") != 0)
        return tacit_yaml_fail(&r->yaml, values[S_HOW], r->error, "'how' is sum or mean");
    TACIT_TRY(take_score_items(r, values[S_OF], values[S_REVERSED], score));
    score->least_answered = score->count;
    if (values[S_LEAST] != NULL) {
        TACIT_TRY(take_whole(r, values[S_LEAST], "'least_answered'", 1, (double)score->count, &least));
        score->least_answered = (size_t)least;
    }
    if (!score->mean) score->low *= (double)score->count;
    if (!score->mean) score->high *= (double)score->count;
    return TACIT_OK;
}

/* ---- the whole ---- */

enum {
    R_NAME,
    R_VERSION,
    R_LICENCE,
    R_LANGUAGES,
    R_TITLE,
    R_ITEMS,
    R_ABOUT,
    R_SOURCE,
    R_PROMPT,
    R_SCORES,
    R_KEYS
};
static const char *const root_keys[R_KEYS] = { "instrument", "version", "licence", "languages", "title",
                                               "items",      "about",   "source",  "prompt",    "scores" };

static tacit_status take_languages(reading *r, const yaml_node_t *node) {
    size_t count;
    TACIT_TRY(take_list(r, node, "'languages'", TACIT_INSTRUMENT_LANGUAGES, &count));
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *one = list_at(r, node, i);
        const char *text;
        size_t length;
        int32_t code;
        TACIT_TRY(tacit_yaml_text(&r->yaml, one, "a language", &text, &length, r->error));
        if (length < 2 || length > 11 || !tacit_collection_name_fits(text))
            return tacit_yaml_fail(&r->yaml, one, r->error, "a language is written as en, de or pt-BR");
        TACIT_TRY(tacit_levels_add(&r->made->languages, text, length, &code, r->error));
        if ((size_t)code != i)
            return tacit_yaml_fail(&r->yaml, one, r->error, "language '%s' is there twice: take one out",
                                   text);
    }
    return TACIT_OK;
}

static tacit_status take_prompt(const reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    int days = 0, used = 0;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "'prompt'", &text, &length, r->error));
    if (strcmp(text, "once") == 0) return TACIT_OK;
    if (strcmp(text, "daily") == 0) days = 1;
    if (strcmp(text, "weekly") == 0) days = 7;
    if (days == 0 && (sscanf(text, "every %4d days%n", &days, &used) != 1 || text[used] != 0 || used == 0))
        days = 0;
    if (days < 1 || days > TACIT_INSTRUMENT_DAYS)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "'prompt' is once, daily, weekly, or e.g. every 14 days (at most %d)",
                               TACIT_INSTRUMENT_DAYS);
    r->made->prompt_days = days;
    return TACIT_OK;
}

static tacit_status take_root(reading *r, const yaml_node_t *root) {
    const yaml_node_t *values[R_KEYS];
    tacit_instrument *made = r->made;
    double version;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, root, "the questionnaire", root_keys, R_KEYS, values, r->error));
    for (size_t k = R_NAME; k <= R_ITEMS; k++)
        TACIT_TRY(require(r, root, values[k], root_keys[k], "the questionnaire"));
    TACIT_TRY(take_name(r, values[R_NAME], "'instrument'", made->name));
    TACIT_TRY(take_whole(r, values[R_VERSION], "'version'", 1, 1000000, &version));
    made->version = (unsigned)version;
    TACIT_TRY(take_text(r, values[R_LICENCE], "'licence'", &made->licence));
    TACIT_TRY(take_languages(r, values[R_LANGUAGES]));
    TACIT_TRY(take_said(r, values[R_TITLE], "'title'", &made->title));
    if (values[R_ABOUT] != NULL) TACIT_TRY(take_said(r, values[R_ABOUT], "'about'", &made->about));
    if (values[R_SOURCE] != NULL) TACIT_TRY(take_text(r, values[R_SOURCE], "'source'", &made->source));
    TACIT_TRY(take_prompt(r, values[R_PROMPT]));
    size_t count;
    TACIT_TRY(take_list(r, values[R_ITEMS], "'items'", TACIT_INSTRUMENT_ITEMS, &count));
    made->items = TACIT_NEW(tacit_item, count);
    if (made->items == NULL) return tacit_fail_memory(r->error);
    made->item_count = count;
    for (size_t i = 0; i < count; i++) TACIT_TRY(take_item(r, list_at(r, values[R_ITEMS], i), i));
    TACIT_TRY(take_conditions(r, values[R_ITEMS]));
    if (values[R_SCORES] == NULL) return TACIT_OK;
    TACIT_TRY(take_list(r, values[R_SCORES], "'scores'", TACIT_INSTRUMENT_SCORES, &count));
    made->scores = TACIT_NEW(tacit_score, count);
    if (made->scores == NULL) return tacit_fail_memory(r->error);
    for (; made->score_count < count; made->score_count++)
        TACIT_TRY(take_score(r, list_at(r, values[R_SCORES], made->score_count), made->score_count));
    return TACIT_OK;
}

tacit_status tacit_instrument_parse(tacit_instrument **out, const char *text, size_t length, const char *name,
                                    tacit_error *error) {
    reading r = { .error = error };
    if (length > TACIT_INSTRUMENT_BYTES)
        return tacit_fail(error, TACIT_INPUT, "%s: a questionnaire has at most %d bytes, not %zu", name,
                          TACIT_INSTRUMENT_BYTES, length);
    TACIT_TRY(tacit_yaml_open(&r.yaml, text, length, name, error));
    tacit_status status = TACIT_OK;
    const yaml_node_t *root = tacit_yaml_root(&r.yaml);
    r.made = TACIT_NEW(tacit_instrument, 1);
    if (r.made == NULL)
        status = tacit_fail_memory(error);
    else if (root == NULL)
        status = tacit_fail(error, TACIT_INPUT, "%s is empty: it has no questionnaire in it", name);
    if (status == TACIT_OK) status = take_root(&r, root);
    if (status == TACIT_OK) status = instrument_check_signature(r.made, text, length, name, error);
    tacit_yaml_close(&r.yaml);
    if (status == TACIT_OK)
        *out = r.made;
    else
        tacit_instrument_free(r.made);
    return status;
}
