/* tacit store take, answer, import and rule: what goes into a person's own store. */
#include <sodium.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/passphrase.h"
#include "data/schema/date.h"
#include "person/instrument/diary.h"
#include "person/sensor/sensor.h"

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static tacit_status run_take(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "FILE");
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_INSTRUMENT_BYTES);
    tacit_instrument *made = NULL;
    tacit_vault *vault = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_file_read(path, &text, error));
    TACIT_CHECK(tacit_instrument_parse(&made, tacit_buffer_text(&text), text.length, path, error));
    if (!made->is_signed) tacit_console_warn(console, "%s is not signed: nobody says who wrote it", path);
    TACIT_CHECK(tacit_store_take(arguments, &vault, error));
    TACIT_CHECK(tacit_diary_take(vault, made, tacit_buffer_text(&text), text.length, now_ms(), error));
    tacit_console_print(console,
                        "Took up '%s', version %u. Answer it on your page (tacit page), or with: tacit "
                        "store answer %s ITEM=ANSWER ...\n",
                        made->name, made->version, made->name);
    TACIT_CHECK(tacit_console_document(
        console, json_pack("{s:s,s:i}", "instrument", made->name, "version", (int)made->version), error));
cleanup:
    tacit_vault_close(vault);
    tacit_instrument_free(made);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status take_day(const tacit_arguments *arguments, int64_t now, int32_t *out,
                             tacit_error *error) {
    const char *day = tacit_arguments_text(arguments, "day");
    *out = tacit_diary_today(now);
    if (day == NULL || tacit_text_to_day(day, strlen(day), out)) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "--day is a day such as 2026-03-01, not '%.40s'", day);
}

/* What was kept, with the scores. */
static tacit_status show_answers(tacit_console *console, const tacit_instrument *made,
                                 const tacit_filled *got, tacit_error *error) {
    json_t *cells = json_object();
    for (size_t k = 0; cells != NULL && k < got->count; k++) {
        const bool item = k < made->item_count;
        const char *name = item ? made->items[k].name : made->scores[k - made->item_count].name;
        json_object_set_new(cells, name, got->cells[k] != NULL ? json_string(got->cells[k]) : json_null());
        if (!item)
            tacit_console_print(console, "%s: %s\n", name,
                                got->cells[k] != NULL ? got->cells[k] : "too few answers for a score");
    }
    return tacit_console_document(console, json_pack("{s:s,s:o}", "instrument", made->name, "row", cells),
                                  error);
}

static tacit_status run_answer(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *name = tacit_arguments_operand(arguments, "NAME");
    size_t count = 0;
    const char *const *words = tacit_arguments_operands(arguments, "ITEM=ANSWER", &count);
    tacit_diary_answer answers[TACIT_INSTRUMENT_ITEMS];
    char *copies[TACIT_INSTRUMENT_ITEMS] = { NULL };
    tacit_filled got = { .count = 0 };
    tacit_instrument *made = NULL;
    tacit_vault *vault = NULL;
    const int64_t now = now_ms();
    int32_t day;
    tacit_status status;
    TACIT_CHECK(take_day(arguments, now, &day, error));
    if (count > TACIT_INSTRUMENT_ITEMS)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "no questionnaire has that many items"));
    for (size_t k = 0; k < count; k++) {
        char *sign = strchr(words[k], '=') != NULL ? (copies[k] = strdup(words[k])) : NULL;
        if (sign == NULL)
            TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "write ITEM=ANSWER, not '%.60s'", words[k]));
        sign = strchr(sign, '=');
        *sign = 0;
        answers[k] = (tacit_diary_answer){ copies[k], sign + 1 };
    }
    TACIT_CHECK(tacit_store_take(arguments, &vault, error));
    TACIT_CHECK(tacit_diary_load(&made, vault, name, error));
    TACIT_CHECK(tacit_diary_fill(&got, vault, name, answers, count, day, now, error));
    TACIT_CHECK(show_answers(console, made, &got, error));
cleanup:
    for (size_t k = 0; k < count && k < TACIT_INSTRUMENT_ITEMS; k++) free(copies[k]);
    tacit_filled_clear(&got);
    tacit_instrument_free(made);
    tacit_vault_close(vault);
    return status;
}

/* Whose signature the file must have; *given false: nothing was said. */
static tacit_status take_signer(const tacit_arguments *arguments, uint8_t key[TACIT_SIGNED_KEY], bool *given,
                                tacit_error *error) {
    const char *text = tacit_arguments_text(arguments, "signed-by");
    size_t length = 0;
    *given = text != NULL;
    if (text == NULL ||
        (sodium_hex2bin(key, TACIT_SIGNED_KEY, text, strlen(text), NULL, &length, NULL) == 0 &&
         length == TACIT_SIGNED_KEY))
        return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "--signed-by is a key of %d hexadecimal digits",
                      2 * TACIT_SIGNED_KEY);
}

static tacit_status run_import(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *mapping = tacit_arguments_text(arguments, "mapping"),
               *path = tacit_arguments_operand(arguments, "FILE");
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_SENSOR_BYTES);
    tacit_sensor sensor = { .count = 0 };
    tacit_imported got;
    tacit_vault *vault = NULL;
    char first[TACIT_DAY_TEXT], last[TACIT_DAY_TEXT];
    uint8_t key[TACIT_SIGNED_KEY];
    bool signer_given;
    tacit_status status;
    TACIT_CHECK(take_signer(arguments, key, &signer_given, error));
    TACIT_CHECK(tacit_file_read(mapping, &text, error));
    TACIT_CHECK(tacit_sensor_parse(&sensor, tacit_buffer_text(&text), text.length, mapping, error));
    TACIT_CHECK(tacit_store_take(arguments, &vault, error));
    TACIT_CHECK(tacit_sensor_import(&got, vault, &sensor, path, signer_given ? key : NULL, now_ms(), error));
    tacit_day_text(got.first, first);
    tacit_day_text(got.last, last);
    tacit_console_print(console, "%s: %zu rows from %llu records, %s to %s\n", sensor.name, got.rows,
                        (unsigned long long)got.records, first, last);
    if (got.signer.is_signed)
        tacit_console_print(console, "signed by %s, whose signature is right\n", got.signer.name);
    if (got.beyond > 0)
        tacit_console_warn(console, "%llu values were beyond the mapping's bounds, and left out",
                           (unsigned long long)got.beyond);
    TACIT_CHECK(tacit_console_document(
        console,
        json_pack("{s:s,s:I,s:I,s:I,s:s,s:s,s:s*}", "source", sensor.name, "rows", (json_int_t)got.rows,
                  "records", (json_int_t)got.records, "beyond", (json_int_t)got.beyond, "first", first,
                  "last", last, "signed_by", got.signer.is_signed ? got.signer.name : NULL),
        error));
cleanup:
    tacit_vault_close(vault);
    tacit_sensor_clear(&sensor);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status copy_part(char *out, size_t size, const char *text, const char *what,
                              tacit_error *error) {
    if (strlen(text) >= size)
        return tacit_fail(error, TACIT_USAGE, "%s has at most %zu bytes", what, size - 1);
    memcpy(out, text, strlen(text) + 1);
    return TACIT_OK;
}

static tacit_status run_rule(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *purpose = tacit_arguments_text(arguments, "purpose"),
               *reuse = tacit_arguments_operand(arguments, "allow|ask|refuse");
    tacit_reuse_rule rule = { .id = 0 };
    tacit_vault *vault = NULL;
    if (!tacit_reuse_parse(&rule.reuse, reuse))
        return tacit_fail(error, TACIT_USAGE, "a rule is allow, ask or refuse, not '%.40s'", reuse);
    TACIT_TRY(copy_part(rule.collection, sizeof rule.collection, tacit_arguments_text(arguments, "source"),
                        "the source's name", error));
    TACIT_TRY(copy_part(rule.who, sizeof rule.who, tacit_arguments_text(arguments, "who"), "--who", error));
    if (purpose != NULL)
        TACIT_TRY(copy_part(rule.purpose, sizeof rule.purpose, purpose, "the purpose", error));
    TACIT_TRY(tacit_store_take(arguments, &vault, error));
    tacit_status status = tacit_reuse_set(vault, &rule, error);
    tacit_vault_close(vault);
    TACIT_TRY(status);
    tacit_console_print(console, "%s: %s may be used by %s\n", reuse,
                        strcmp(rule.collection, "*") == 0 ? "everything" : rule.collection,
                        strcmp(rule.who, "*") == 0 ? "every study" : rule.who);
    return tacit_console_document(console,
                                  json_pack("{s:s,s:s,s:o}", "reuse", reuse, "source", rule.collection, "who",
                                            tacit_json_text(rule.who)),
                                  error);
}

/* ---- the table ---- */

const tacit_command tacit_command_store_take = {
    .name = "store take",
    .section = "Taking part",
    .summary = "take up a questionnaire",
    .description =
        "Keeps a questionnaire, or a new version of one, in the store; its answers become rows there.",
    .operands = (const tacit_operand[]){ { "FILE", 1, 1, "a questionnaire" }, { .name = NULL } },
    .options = (const tacit_option[]){ TACIT_OPTION_PASSPHRASE, { .name = NULL } },
    .examples = (const tacit_example[]){ { "Begin to answer.", "tacit store take wellbeing.instrument.yaml" },
                                         { .text = NULL } },
    .run = run_take,
};

const tacit_command tacit_command_store_answer = {
    .name = "store answer",
    .section = "Taking part",
    .summary = "answer a questionnaire",
    .description =
        "Checks and scores the answers as the page does, and keeps them as a row. Items that conditions "
        "hide are dropped.",
    .operands =
        (const tacit_operand[]){ { "NAME", 1, 1, "the questionnaire, by its name in the store" },
                                 { "ITEM=ANSWER", 0, TACIT_INSTRUMENT_ITEMS, "answers, each to an item" },
                                 { .name = NULL } },
    .options = (const tacit_option[]){ TACIT_OPTION_PASSPHRASE,
                                       { .name = "day",
                                         .kind = TACIT_OPTION_TEXT,
                                         .placeholder = "DAY",
                                         .help = "the day that it is about; today by default" },
                                       { .name = NULL } },
    .examples = (const tacit_example[]){ { "Two answers.", "tacit store answer wellbeing flat=1 joyless=0" },
                                         { .text = NULL } },
    .run = run_answer,
};

const tacit_command tacit_command_store_import = {
    .name = "store import",
    .section = "Taking part",
    .summary = "bring an export of a device into one's store",
    .description = "Reads the file as the mapping says (docs/personal.md), aggregates it per day or week, "
                   "and keeps the rows. A new export of the same days takes the place of the earlier one. "
                   "Where a laboratory has signed the file (tacit data sign), the signature in FILE.sig is "
                   "checked, and the rows' origin says who vouches for them.",
    .operands =
        (const tacit_operand[]){ { "FILE", 1, 1, "the export: CSV or JSON lines" }, { .name = NULL } },
    .options =
        (const tacit_option[]){ TACIT_OPTION_PASSPHRASE,
                                { .name = "mapping",
                                  .kind = TACIT_OPTION_FILE,
                                  .placeholder = "FILE",
                                  .help = "what is what in it",
                                  .rules = TACIT_RULE_REQUIRED },
                                { .name = "signed-by",
                                  .kind = TACIT_OPTION_TEXT,
                                  .placeholder = "KEY",
                                  .help = "take the file only with a signature of this key beside it" },
                                { .name = NULL } },
    .examples = (const tacit_example[]){ { "Steps of a phone.",
                                           "tacit store import steps.csv --mapping steps.import.yaml" },
                                         { .text = NULL } },
    .run = run_import,
};

const tacit_command tacit_command_store_rule = {
    .name = "store rule",
    .section = "Taking part",
    .summary = "say which studies may use what is in one's store",
    .description = "The most particular rule counts: one that names the study before one that names its "
                   "coordinator, then one that names the source. Without a rule you are asked.",
    .operands =
        (const tacit_operand[]){ { "allow|ask|refuse", 1, 1, "what the rule says" }, { .name = NULL } },
    .options = (const tacit_option[]){ TACIT_OPTION_PASSPHRASE,
                                       { .name = "source",
                                         .kind = TACIT_OPTION_TEXT,
                                         .placeholder = "NAME",
                                         .fallback = "*",
                                         .help = "the source in the store; * for all" },
                                       { .name = "who",
                                         .kind = TACIT_OPTION_TEXT,
                                         .placeholder = "NAME",
                                         .fallback = "*",
                                         .help = "a study or a coordinator, by its name; * for all" },
                                       { .name = "purpose",
                                         .kind = TACIT_OPTION_TEXT,
                                         .placeholder = "TEXT",
                                         .help = "why, in your own words" },
                                       { .name = NULL } },
    .examples = (const tacit_example[]){ { "The sleep study may use the steps.",
                                           "tacit store rule allow --source steps --who sleep-study" },
                                         { .text = NULL } },
    .run = run_rule,
};
