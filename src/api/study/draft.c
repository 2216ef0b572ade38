#include "api/study/draft.h"

#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "study/study.h"

const tacit_option tacit_study_draft_options[] = {
    { .name = "name",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "NAME",
      .help = "what the study is called: 1 to 40 of a-z, 0-9 and -",
      .rules = TACIT_RULE_REQUIRED },
    { .name = "method",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "METHOD",
      .help = "one that `tacit methods` lists",
      .rules = TACIT_RULE_REQUIRED },
    { .name = "schema",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help = "the columns of the rows; it becomes part of the definition" },
    { .name = "formula",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "FORMULA",
      .help = "what the model is made of, as R writes it: 'y ~ age + log(dose)*sex'; each column of the "
              "schema by default" },
    { .name = "subset",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "CONDITION",
      .help = "which rows, as R writes it; all by default" },
    { .name = "parties",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .help = "how many parties are expected",
      .rules = TACIT_RULE_REQUIRED | TACIT_RULE_RANGE,
      .least = 1,
      .most = 1e6 },
    { .name = "minimum-parties",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .help = "how many must answer; all by default",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 1e6 },
    { .name = "minimum-rows",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .fallback = "10",
      .help = "a party with fewer rows refuses",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 1e9 },
    { .name = "expected-rows",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .help = "the rows of all parties together, as everybody expects them",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 1e12 },
    { .name = "epsilon",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "E",
      .help = "the price of the whole study; left out for a method without noise" },
    { .name = "delta", .kind = TACIT_OPTION_NUMBER, .placeholder = "D", .help = "0 by default" },
    { .name = "lambda",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "L",
      .help = "the strength of regularization; chosen by the method by default" },
    { .name = "set",
      .kind = TACIT_OPTION_SETTING,
      .placeholder = "NAME=VALUE",
      .help = "a setting of the method, see 'tacit methods'" },
    { .name = "sum",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "masked|paillier|clear",
      .help = "what the coordinator sees of contributions to a sum; masked by default" },
    { .name = "title", .kind = TACIT_OPTION_TEXT, .placeholder = "TEXT", .help = "what people read first" },
    { .name = "description",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "TEXT",
      .help = "what the study is for" },
    { .name = "approval",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "TEXT",
      .help = "who approved the study, such as an ethics board" },
    { .name = NULL },
};

/* A text between quotes, where nothing needs an escape but these two. */
static tacit_status put_text(tacit_buffer *out, const char *key, const char *text, tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "%s: \"", key));
    for (const char *at = text; *at != 0; at++) {
        const char *escaped = *at == '"' ? "\\\"" : *at == '\\' ? "\\\\" : *at == '\n' ? "\\n" : NULL;
        TACIT_TRY(escaped != NULL ? tacit_buffer_append(out, escaped, 2, error)
                                  : tacit_buffer_append(out, at, 1, error));
    }
    return tacit_buffer_print(out, error, "\"\n");
}

static tacit_status put_given(tacit_buffer *out, const char *key, const tacit_arguments *arguments,
                              const char *option, tacit_error *error) {
    const char *text = tacit_arguments_text(arguments, option);
    return text != NULL ? put_text(out, key, text, error) : TACIT_OK;
}

static tacit_status put_number(tacit_buffer *out, const char *key, const tacit_arguments *arguments,
                               tacit_error *error) {
    char text[TACIT_NUMBER_TEXT];
    if (!tacit_arguments_given(arguments, key)) return TACIT_OK;
    return tacit_buffer_print(out, error, "%s: %s\n", key,
                              tacit_number_to_text(tacit_arguments_number(arguments, key), text));
}

static tacit_status put_settings(tacit_buffer *out, const tacit_arguments *arguments, tacit_error *error) {
    size_t count;
    const tacit_setting *settings = tacit_arguments_settings(arguments, "set", &count);
    if (count > 0) TACIT_TRY(tacit_buffer_print(out, error, "set:\n"));
    for (size_t i = 0; i < count; i++) {
        TACIT_TRY(tacit_buffer_print(out, error, "  "));
        TACIT_TRY(put_text(out, settings[i].key, settings[i].value, error));
    }
    return TACIT_OK;
}

static tacit_status put_parties(tacit_buffer *out, const tacit_arguments *arguments, tacit_error *error) {
    long long expected = (long long)tacit_arguments_integer(arguments, "parties");
    TACIT_TRY(tacit_buffer_print(out, error, "parties: {expected: %lld, minimum: %lld}\nminimum_rows: %lld\n",
                                 expected,
                                 tacit_arguments_given(arguments, "minimum-parties")
                                     ? (long long)tacit_arguments_integer(arguments, "minimum-parties")
                                     : expected,
                                 (long long)tacit_arguments_integer(arguments, "minimum-rows")));
    if (!tacit_arguments_given(arguments, "expected-rows")) return TACIT_OK;
    return tacit_buffer_print(out, error, "expected_rows: %lld\n",
                              (long long)tacit_arguments_integer(arguments, "expected-rows"));
}

/* As a block of literal lines. */
static tacit_status put_schema(tacit_buffer *out, const tacit_arguments *arguments, tacit_error *error) {
    const char *path = tacit_arguments_text(arguments, "schema");
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_STUDY_BYTES_LIMIT);
    tacit_status status;
    if (path == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "which columns? Give the schema that all sites have agreed on with the option "
                          "'schema'");
    TACIT_CHECK(tacit_file_read(path, &text, error));
    TACIT_CHECK(tacit_buffer_print(out, error, "schema: |\n"));
    for (const char *line = tacit_buffer_text(&text); *line != 0;) {
        size_t length = strcspn(line, "\n");
        TACIT_CHECK(tacit_buffer_print(out, error, "  %.*s\n", (int)length, line));
        line += length + (line[length] == '\n');
    }
    if (memchr(text.bytes, '\n', text.length) == NULL) TACIT_CHECK(tacit_buffer_print(out, error, "\n"));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status put_all(tacit_buffer *out, const tacit_arguments *arguments, tacit_error *error) {
    const char *title = tacit_arguments_text(arguments, "title");
    TACIT_TRY(put_given(out, "name", arguments, "name", error));
    TACIT_TRY(put_text(out, "title", title != NULL ? title : tacit_arguments_text(arguments, "name"), error));
    TACIT_TRY(put_given(out, "description", arguments, "description", error));
    TACIT_TRY(put_given(out, "approval", arguments, "approval", error));
    TACIT_TRY(put_given(out, "method", arguments, "method", error));
    TACIT_TRY(put_settings(out, arguments, error));
    TACIT_TRY(put_number(out, "epsilon", arguments, error));
    TACIT_TRY(put_number(out, "delta", arguments, error));
    TACIT_TRY(put_number(out, "lambda", arguments, error));
    TACIT_TRY(put_parties(out, arguments, error));
    TACIT_TRY(put_given(out, "sum", arguments, "sum", error));
    TACIT_TRY(put_schema(out, arguments, error));
    TACIT_TRY(put_given(out, "terms", arguments, "formula", error));
    return put_given(out, "subset", arguments, "subset", error);
}

tacit_status tacit_draft_print(tacit_buffer *out, const tacit_arguments *arguments, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_study *study = NULL;
    tacit_status status;
    TACIT_CHECK(put_all(&text, arguments, error));
    TACIT_CHECK(tacit_study_compose(&study, tacit_buffer_text(&text), text.length, "the draft", error));
    TACIT_CHECK(tacit_buffer_append(out, text.bytes, text.length, error));
cleanup:
    tacit_study_free(study);
    tacit_buffer_clear(&text);
    return status;
}
