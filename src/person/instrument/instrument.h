/*
 * A questionnaire, written as YAML by those who ask, shown as a form on a person's own page, and scored
 * there:
 *
 *   instrument: week
 *   version: 2
 *   licence: CC0-1.0
 *   languages: [en, de]
 *   title: {en: Your week, de: Ihre Woche}
 *   prompt: weekly                       # once (the default), daily, weekly, or every 14 days
 *   items:
 *     - name: tired
 *       kind: scale
 *       ask: {en: On how many days were you tired?, de: An wie vielen Tagen waren Sie müde?}
 *       from: 0
 *       to: 7
 *     - {name: smokes, kind: choice, ask: {...}, choices: [{value: "yes", says: {...}}, {value: "no", says:
 *       {...}}]}
 *     - {name: cigarettes, kind: number, ask: {...}, low: 0, high: 100, show_if: smokes == "yes"}
 *   scores:
 *     - {name: load, how: sum, of: [tired, calm], reversed: [calm], least_answered: 2}
 *
 * Where there is one language a text stands by itself. `show_if` is a condition as R writes it
 * (data/formula/condition.h) about earlier items; one that is not known to hold hides the item.
 * docs/personal.md has every key.
 *
 * A last line "# signed KEY SIGNATURE" (Ed25519, hexadecimal) is by whoever wrote it. What goes by the name
 * of a questionnaire is its hash, of the text before that line. All limits are refused with the line and the
 * remedy.
 */
#pragma once

#include "base/buffer.h"
#include "data/schema/levels.h"

enum {
    TACIT_INSTRUMENT_BYTES = 256 << 10,
    TACIT_INSTRUMENT_ITEMS = 200,
    TACIT_INSTRUMENT_SCORES = 50,
    TACIT_INSTRUMENT_LANGUAGES = 20,
    TACIT_INSTRUMENT_CHOICES = 100, /* or points of a scale */
    TACIT_INSTRUMENT_TEXT = 2000,   /* bytes of one text */
    TACIT_INSTRUMENT_NAME = 64,
    TACIT_INSTRUMENT_HASH = 32,
    TACIT_INSTRUMENT_KEY = 32,
    TACIT_INSTRUMENT_DAYS = 3660, /* between two prompts, at most */
};

typedef enum tacit_item_kind {
    TACIT_ITEM_SCALE,
    TACIT_ITEM_CHOICE,
    TACIT_ITEM_NUMBER,
    TACIT_ITEM_DATE,
    TACIT_ITEM_TEXT
} tacit_item_kind;
const char *tacit_item_kind_name(tacit_item_kind kind);

/* A text in each language of the questionnaire, owned. */
typedef struct tacit_said {
    char *in[TACIT_INSTRUMENT_LANGUAGES];
} tacit_said;

struct tacit_condition;

typedef struct tacit_item {
    char name[TACIT_INSTRUMENT_NAME];
    tacit_item_kind kind;
    bool required;
    tacit_said ask;
    double low, high;    /* of a scale, a number, and a date in days since 1970 */
    tacit_levels values; /* of a choice */
    tacit_said *says;    /* of a choice's values, or a scale's points; NULL: a scale shows its numbers */
    size_t says_count;
    char *show_if; /* NULL: always shown */
    struct tacit_condition *condition;
} tacit_item;

typedef struct tacit_score {
    char name[TACIT_INSTRUMENT_NAME];
    bool mean; /* else the sum: the mean of what was answered times the number of items */
    size_t count, least_answered;
    size_t items[TACIT_INSTRUMENT_ITEMS];
    bool reversed[TACIT_INSTRUMENT_ITEMS]; /* of each: low + high - answer */
    double low, high;
} tacit_score;

struct tacit_schema;

typedef struct tacit_instrument {
    char name[TACIT_INSTRUMENT_NAME];
    unsigned version;
    char *licence;
    char *source; /* who wrote it, or after what; NULL: not said */
    tacit_levels languages;
    tacit_said title, about; /* `about` may be all NULL */
    int prompt_days;         /* days from one answer to the next prompt; 0: it is asked once */
    size_t item_count, score_count;
    tacit_item *items;
    tacit_score *scores;
    uint8_t hash[TACIT_INSTRUMENT_HASH];
    bool is_signed;
    uint8_t key[TACIT_INSTRUMENT_KEY]; /* whose signature is right; only where it is signed */
    struct tacit_schema *schema;       /* of the items, for conditions */
} tacit_instrument;

/* Read a questionnaire; `name` stands for the file in errors. TACIT_INPUT with file, line, key and remedy;
 * TACIT_REFUSED for a signature that is not right. */
tacit_status tacit_instrument_parse(tacit_instrument **out, const char *text, size_t length, const char *name,
                                    tacit_error *error);
tacit_instrument *tacit_instrument_free(tacit_instrument *instrument);

/* A text in a language, or in the first where it has none of that; NULL where nothing was said. */
const char *tacit_said_in(const tacit_instrument *instrument, const tacit_said *said, const char *language);

/* ---- answering ---- */

/* What became of one filled-in form: a cell for each item, then for each score. */
typedef struct tacit_filled {
    size_t count;
    char **cells; /* NULL: hidden, or not answered; a score that too few answers speak for */
    bool *shown;  /* of each item */
} tacit_filled;

/* Check the answers, one text an item or NULL, hide what the conditions hide, and score the rest. The answer
 * to an item that is hidden is dropped. TACIT_USAGE names the item and what may stand there. */
tacit_status tacit_instrument_answer(tacit_filled *out, const tacit_instrument *instrument,
                                     const char *const *answers, tacit_error *error);
void tacit_filled_clear(tacit_filled *answers);

/* Which items are shown, given what is answered so far; answers that do not fit count as none. */
void tacit_instrument_shown(bool *shown, const tacit_instrument *instrument, const char *const *answers);

/* ---- signing ---- */

/* The text with a line that says who signed it, in place of an earlier one. `seed` is the secret key's. */
tacit_status tacit_instrument_sign(tacit_buffer *out, const char *text, size_t length,
                                   const uint8_t seed[TACIT_INSTRUMENT_KEY], tacit_error *error);

/* ---- what a study may name ---- */

/* The schema of the columns that it yields, as YAML, with `label` (an item or a score) as the label: bounds
 * are the questionnaire's own, so they are public. Texts are skipped. TACIT_USAGE. */
tacit_status tacit_instrument_schema(tacit_buffer *out, const tacit_instrument *instrument, const char *label,
                                     tacit_error *error);
