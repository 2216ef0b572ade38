/* tacit instrument check, sign and show: questionnaires. */
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/key_file.h"
#include "person/instrument/instrument.h"

static tacit_status load(tacit_instrument **out, tacit_buffer *text, const char *path, tacit_error *error) {
    text->limit = TACIT_INSTRUMENT_BYTES;
    TACIT_TRY(tacit_file_read(path, text, error));
    return tacit_instrument_parse(out, tacit_buffer_text(text), text->length, path, error);
}

static json_t *summary(const tacit_instrument *made) {
    char hash[2 * sizeof made->hash + 1], key[2 * sizeof made->key + 1];
    return json_pack("{s:s,s:i,s:s,s:I,s:I,s:i,s:s,s:o}", "instrument", made->name, "version",
                     (int)made->version, "licence", made->licence, "items", (json_int_t)made->item_count,
                     "scores", (json_int_t)made->score_count, "prompt_days", made->prompt_days, "hash",
                     sodium_bin2hex(hash, sizeof hash, made->hash, sizeof made->hash), "signed_by",
                     made->is_signed
                         ? json_string(sodium_bin2hex(key, sizeof key, made->key, sizeof made->key))
                         : json_null());
}

static void print_summary(tacit_console *console, const tacit_instrument *made) {
    char hash[2 * sizeof made->hash + 1], key[2 * sizeof made->key + 1];
    tacit_console_print(console, "%s, version %u, %s: %zu items, %zu scores, %zu languages\n", made->name,
                        made->version, made->licence, made->item_count, made->score_count,
                        made->languages.count);
    tacit_console_print(console, "hash       %s\n",
                        sodium_bin2hex(hash, sizeof hash, made->hash, sizeof made->hash));
    tacit_console_print(console, "signed by  %s\n",
                        made->is_signed ? sodium_bin2hex(key, sizeof key, made->key, sizeof made->key)
                                        : "nobody");
}

static tacit_status run_check(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_instrument *made = NULL;
    tacit_status status = load(&made, &text, tacit_arguments_operand(arguments, "FILE"), error);
    if (status == TACIT_OK) {
        print_summary(console, made);
        status = tacit_console_document(console, summary(made), error);
    }
    tacit_instrument_free(made);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status run_sign(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "FILE"),
               *out = tacit_arguments_text(arguments, "out");
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_INSTRUMENT_BYTES), made_text = TACIT_BUFFER_INIT;
    uint8_t seed[TACIT_INSTRUMENT_KEY];
    tacit_instrument *made = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_file_read(path, &text, error));
    TACIT_CHECK(tacit_key_file_seed(tacit_arguments_text(arguments, "key"), "signing key of a questionnaire",
                                    seed, console, error));
    TACIT_CHECK(tacit_instrument_sign(&made_text, tacit_buffer_text(&text), text.length, seed, error));
    TACIT_CHECK(tacit_instrument_parse(&made, tacit_buffer_text(&made_text), made_text.length, path, error));
    TACIT_CHECK(tacit_file_write(out != NULL ? out : path, made_text.bytes, made_text.length, 0644, error));
    print_summary(console, made);
    TACIT_CHECK(tacit_console_document(console, summary(made), error));
cleanup:
    sodium_memzero(seed, sizeof seed);
    tacit_instrument_free(made);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&made_text);
    return status;
}

static void print_item(tacit_console *console, const tacit_instrument *made, const tacit_item *item,
                       const char *language) {
    tacit_console_print(console, "%-16s %s\n", item->name, tacit_said_in(made, &item->ask, language));
    tacit_console_print(console, "%-16s %s", "", tacit_item_kind_name(item->kind));
    if (item->kind == TACIT_ITEM_SCALE || item->kind == TACIT_ITEM_NUMBER)
        tacit_console_print(console, " from %g to %g", item->low, item->high);
    for (size_t k = 0; item->kind == TACIT_ITEM_CHOICE && k < item->values.count; k++)
        tacit_console_print(console, "%s %s", k > 0 ? "," : "", item->values.text[k]);
    if (item->show_if != NULL) tacit_console_print(console, "; shown if %s", item->show_if);
    tacit_console_print(console, "%s\n", item->required ? "; required" : "");
}

static tacit_status run_show(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *label = tacit_arguments_text(arguments, "schema"),
               *language = tacit_arguments_text(arguments, "language");
    tacit_buffer text = TACIT_BUFFER_INIT, schema = TACIT_BUFFER_INIT;
    tacit_instrument *made = NULL;
    tacit_status status;
    TACIT_CHECK(load(&made, &text, tacit_arguments_operand(arguments, "FILE"), error));
    if (label != NULL) {
        TACIT_CHECK(tacit_instrument_schema(&schema, made, label, error));
        tacit_console_print(console, "%s", tacit_buffer_text(&schema));
    } else {
        tacit_console_print(console, "%s\n\n", tacit_said_in(made, &made->title, language));
        for (size_t i = 0; i < made->item_count; i++) print_item(console, made, &made->items[i], language);
        for (size_t k = 0; k < made->score_count; k++)
            tacit_console_print(console, "%-16s %s of %zu items, from %g to %g; at least %zu answered\n",
                                made->scores[k].name, made->scores[k].mean ? "mean" : "sum",
                                made->scores[k].count, made->scores[k].low, made->scores[k].high,
                                made->scores[k].least_answered);
    }
    json_t *document = summary(made);
    if (label != NULL && document != NULL)
        json_object_set_new(document, "schema", json_string(tacit_buffer_text(&schema)));
    TACIT_CHECK(tacit_console_document(console, document, error));
cleanup:
    tacit_instrument_free(made);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&schema);
    return status;
}

static const tacit_operand one_file[] = {
    { "FILE", 1, 1, "a questionnaire, as docs/personal.md describes it" }, { .name = NULL }
};

const tacit_command tacit_command_instrument_check = {
    .name = "instrument check",
    .section = "Taking part",
    .summary = "look for mistakes in a questionnaire",
    .description =
        "Reads a questionnaire and says what it is, its hash, and whose key signed it. A mistake is "
        "named with its line and what to do; a file that was changed after it was signed is refused.",
    .operands = one_file,
    .examples = (const tacit_example[]){ { "Before it is given to anybody.",
                                           "tacit instrument check wellbeing.instrument.yaml" },
                                         { .text = NULL } },
    .run = run_check,
};

const tacit_command tacit_command_instrument_sign = {
    .name = "instrument sign",
    .section = "Taking part",
    .summary = "sign a questionnaire",
    .description =
        "Checks a questionnaire and writes a last line with the key's signature (Ed25519) of the text "
        "before it, in place of an earlier one. The key is made where there is none; people who know "
        "whose it is can tell who wrote the questionnaire.",
    .operands = one_file,
    .options = (const tacit_option[]){ { .name = "key",
                                         .kind = TACIT_OPTION_FILE,
                                         .placeholder = "FILE",
                                         .help = "the signing key; a new one is made if the file is missing",
                                         .rules = TACIT_RULE_REQUIRED },
                                       { .name = "out",
                                         .kind = TACIT_OPTION_FILE,
                                         .placeholder = "FILE",
                                         .help = "where to write it; in place by default" },
                                       { .name = NULL } },
    .examples =
        (const tacit_example[]){ { "Sign it as the institute.",
                                   "tacit instrument sign wellbeing.instrument.yaml --key institute.key" },
                                 { .text = NULL } },
    .run = run_sign,
};

const tacit_command tacit_command_instrument_show = {
    .name = "instrument show",
    .section = "Taking part",
    .summary = "the items of a questionnaire, or its schema",
    .description =
        "Shows items, conditions and scores; or, with --schema, the schema of the columns that answers "
        "become, for a study to name. Its bounds are the questionnaire's own, and so public.",
    .operands = one_file,
    .options =
        (const tacit_option[]){ { .name = "language",
                                  .kind = TACIT_OPTION_TEXT,
                                  .placeholder = "LANGUAGE",
                                  .help = "in which texts are shown; the questionnaire's first by default" },
                                { .name = "schema",
                                  .kind = TACIT_OPTION_TEXT,
                                  .placeholder = "LABEL",
                                  .help = "print the schema with this item or score as the label" },
                                { .name = NULL } },
    .examples =
        (const tacit_example[]){
            { "The schema of a study about a score.",
              "tacit instrument show wellbeing.instrument.yaml --schema burden > wellbeing.schema.yaml" },
            { .text = NULL } },
    .run = run_show,
};
