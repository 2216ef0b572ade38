#include "check.h"

#include "cli/help/option_spelling.h"
#include "commands_fixture.h"

#define WORDS(...)                                                                                           \
    (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)

static tacit_arguments *parse(const tacit_command *command, const char *const *words, size_t count) {
    tacit_arguments *arguments = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_arguments_parse(&arguments, command, words, count, &error), error);
    return arguments;
}

static void check_refused(const tacit_command *command, const char *const *words, size_t count,
                          const char *sentence) {
    tacit_arguments *arguments = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_arguments_parse(&arguments, command, words, count, &error), TACIT_USAGE);
    assert_null(arguments);
    assert_string_equal(tacit_spell_options(error.text), sentence);
}

static void every_kind_is_read(void **state) {
    (void)state;
    tacit_arguments *arguments =
        parse(&fixture_try,
              WORDS("--epsilon=0.1,1,inf", "--delta", "1e-6", "--offset", "-2.5", "--parties", "20000",
                    "--method", "avg,batch", "--train", "a.csv", "--title=", "--format", "onnx", "--refuse"));
    size_t count;
    const double *epsilon = tacit_arguments_numbers(arguments, "epsilon", &count);
    assert_int_equal(count, 3);
    CHECK_NEAR(epsilon[0], 0.1, 0);
    assert_true(isinf(epsilon[2]));
    CHECK_NEAR(tacit_arguments_number(arguments, "delta"), 1e-6, 0);
    CHECK_NEAR(tacit_arguments_number(arguments, "offset"), -2.5, 0);
    assert_int_equal(tacit_arguments_integer(arguments, "parties"), 20000);
    const char *const *methods = tacit_arguments_words(arguments, "method", &count);
    assert_int_equal(count, 2);
    assert_string_equal(methods[1], "batch");
    assert_string_equal(tacit_arguments_text(arguments, "train"), "a.csv");
    assert_string_equal(tacit_arguments_text(arguments, "title"), "");
    assert_string_equal(tacit_arguments_text(arguments, "format"), "onnx");
    assert_true(tacit_arguments_flag(arguments, "refuse"));
    assert_false(tacit_arguments_flag(arguments, "json"));
    tacit_arguments_free(arguments);
}

static void what_is_not_given_has_its_fallback_or_nothing(void **state) {
    (void)state;
    tacit_arguments *arguments = parse(&fixture_try, NULL, 0);
    size_t count = 99;
    assert_int_equal(tacit_arguments_integer(arguments, "parties"), 10);
    assert_false(tacit_arguments_given(arguments, "parties"));
    assert_string_equal(tacit_arguments_text(arguments, "format"), "json");
    assert_null(tacit_arguments_text(arguments, "train"));
    assert_null(tacit_arguments_numbers(arguments, "epsilon", &count));
    assert_int_equal(count, 0);
    assert_null(tacit_arguments_operand(arguments, "FIRST"));
    tacit_arguments_free(arguments);
}

static void settings_and_repeated_texts_add_up(void **state) {
    (void)state;
    tacit_arguments *arguments = parse(&fixture_try, WORDS("--set", "rounds=3", "--set=name=a=b", "--set",
                                                           "empty=", "--site", "x", "--site", "y"));
    size_t count;
    const tacit_setting *settings = tacit_arguments_settings(arguments, "set", &count);
    assert_int_equal(count, 3);
    assert_string_equal(settings[0].key, "rounds");
    assert_string_equal(settings[1].value, "a=b");
    assert_string_equal(settings[2].value, "");
    const char *const *sites = tacit_arguments_words(arguments, "site", &count);
    assert_int_equal(count, 2);
    assert_string_equal(sites[1], "y");
    tacit_arguments_free(arguments);
    check_refused(&fixture_try, WORDS("--set", "a=1", "--set", "a=2"), "--set gives a twice");
    check_refused(&fixture_try, WORDS("--set", "rounds"),
                  "--set takes a name, an equals sign and a value (KEY=VALUE), not 'rounds'");
    check_refused(&fixture_try, WORDS("--set", "=3"),
                  "--set takes a name, an equals sign and a value (KEY=VALUE), not '=3'");
}

static void operands_go_left_to_right_and_later_ones_get_their_need(void **state) {
    (void)state;
    size_t count;
    tacit_arguments *arguments = parse(&fixture_try, WORDS("a", "--refuse", "b", "-", "--", "--delta"));
    assert_string_equal(tacit_arguments_operand(arguments, "FIRST"), "a");
    const char *const *rest = tacit_arguments_operands(arguments, "REST", &count);
    assert_int_equal(count, 3);
    assert_string_equal(rest[1], "-");
    assert_string_equal(rest[2], "--delta");
    tacit_arguments_free(arguments);
    arguments = parse(&fixture_export, WORDS("m", "f", "--out", "o"));
    assert_string_equal(tacit_arguments_operand(arguments, "MODEL"), "m");
    assert_string_equal(tacit_arguments_operand(arguments, "FILE"), "f");
    tacit_arguments_free(arguments);
}

static void missing_and_surplus_arguments_are_named(void **state) {
    (void)state;
    check_refused(&fixture_export, WORDS("--out", "o"),
                  "tacit export needs MODEL (tacit export --help explains it)");
    check_refused(&fixture_export, WORDS("m", "--out", "o"),
                  "tacit export needs FILE (tacit export --help explains it)");
    check_refused(&fixture_export, WORDS("m", "f"),
                  "tacit export needs --out FILE (tacit export --help explains it)");
    check_refused(&fixture_export, WORDS("m", "f", "g", "h", "--out", "o"),
                  "'h' is one argument too many (tacit export --help explains it)");
    check_refused(&fixture_study_new, WORDS("x"),
                  "'x' is one argument too many (tacit study new --help explains it)");
}

static void an_unknown_flag_gets_a_suggestion(void **state) {
    (void)state;
    check_refused(&fixture_try, WORDS("--epsilom", "1"),
                  "unknown flag --epsilom; did you mean --epsilon? (tacit try --help lists them)");
    check_refused(&fixture_try, WORDS("--eps=1"),
                  "unknown flag --eps; did you mean --epsilon? (tacit try --help lists them)");
    check_refused(&fixture_try, WORDS("--zzz"), "unknown flag --zzz (tacit try --help lists those it has)");
    check_refused(&fixture_try, WORDS("-delta"),
                  "unknown flag -delta; did you mean --delta? (tacit try --help lists them)");
    check_refused(&fixture_try, WORDS("-x"), "unknown flag -x (tacit try --help lists those it has)");
}

static void values_are_checked_strictly(void **state) {
    (void)state;
    static const char *const not_numbers[] = { "abc",  "1x",  " 1",   "1 ",  "nan",
                                               "0x10", "inf", "-inf", "1,2", "" };
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++) {
        char sentence[128];
        snprintf(sentence, sizeof sentence, "--offset takes a number, not '%s'", not_numbers[i]);
        check_refused(&fixture_try, WORDS("--offset", not_numbers[i]), sentence);
    }
    check_refused(&fixture_try, WORDS("--offset", "1e999"),
                  "--offset: 1e999 is beyond what a number can hold");
    check_refused(&fixture_try, WORDS("--delta", "1"), "--delta must be at least 0 and below 1, not 1");
    check_refused(&fixture_try, WORDS("--epsilon", "0"),
                  "--epsilon must be above 0 and at most 1000, or inf, not 0");
    check_refused(&fixture_try, WORDS("--epsilon", "1,-inf"), "--epsilon takes a number or inf, not '-inf'");
    check_refused(&fixture_try, WORDS("--epsilon", "1,,2"),
                  "--epsilon takes comma-separated numbers, not '1,,2'");
    check_refused(&fixture_try, WORDS("--parties", "1e3"), "--parties takes a whole number, not '1e3'");
    check_refused(&fixture_try, WORDS("--parties", "0"),
                  "--parties must be at least 1 and at most 1000000000, not 0");
    check_refused(&fixture_try, WORDS("--parties", "99999999999999999999"),
                  "--parties: 99999999999999999999 is beyond what a whole number can hold");
    check_refused(&fixture_try, WORDS("--method", "a,b,a"), "--method names a twice");
    check_refused(&fixture_try, WORDS("--method", "a,"), "--method takes comma-separated words, not 'a,'");
    check_refused(&fixture_try, WORDS("--format", "onxn"), "--format cannot be 'onxn'; did you mean onnx?");
    check_refused(&fixture_try, WORDS("--format", "csv"),
                  "--format must be one of json|onnx|pmml, not 'csv'");
    check_refused(&fixture_try, WORDS("--train="), "--train needs the name of a file, not an empty text");
}

static void values_that_are_missing_surplus_or_doubled_are_refused(void **state) {
    (void)state;
    check_refused(&fixture_try, WORDS("--train"), "--train needs a value: --train FILE");
    check_refused(&fixture_try, WORDS("--train", "--delta", "0"), "--train needs a value: --train FILE");
    check_refused(&fixture_try, WORDS("--train", "--", "x"), "--train needs a value: --train FILE");
    check_refused(&fixture_try, WORDS("--refuse=yes"), "--refuse takes no value");
    check_refused(&fixture_try, WORDS("--delta", "0", "--delta=0"), "--delta is given twice");
    check_refused(&fixture_try, WORDS("--refuse", "--refuse"), "--refuse is given twice");
}

static void help_is_given_whatever_else_is_wrong(void **state) {
    (void)state;
    tacit_arguments *arguments = parse(&fixture_export, WORDS("--nonsense", "-h"));
    assert_true(tacit_arguments_flag(arguments, "help"));
    tacit_arguments_free(arguments);
}

static void check_find(const char *const *words, size_t count, const tacit_command *expected, size_t used,
                       const char *sentence) {
    const tacit_command *command = NULL;
    size_t taken = 0;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_command_find(&command, &taken, fixture_commands, words, count, &error);
    assert_int_equal(status, sentence == NULL ? TACIT_OK : TACIT_USAGE);
    assert_ptr_equal(command, expected);
    assert_int_equal(taken, used);
    if (sentence != NULL) assert_string_equal(error.text, sentence);
}

static void commands_are_found_or_suggested(void **state) {
    (void)state;
    check_find(WORDS("try", "study"), &fixture_try, 1, NULL);
    check_find(WORDS("study", "new", "--json"), &fixture_study_new, 2, NULL);
    check_find(WORDS("stduy"), NULL, 0, "unknown command stduy; did you mean study? (tacit help lists them)");
    check_find(WORDS("frobnicate"), NULL, 0, "unknown command frobnicate (tacit help lists the commands)");
    check_find(WORDS("exp"), NULL, 0, "unknown command exp; did you mean export? (tacit help lists them)");
    check_find(WORDS("--frob"), NULL, 0, "unknown flag --frob (tacit help lists the commands)");
    check_find(WORDS("study"), NULL, 0, "tacit study must be followed by one of new, close");
    check_find(WORDS("study", "--json"), NULL, 0, "tacit study must be followed by one of new, close");
    check_find(WORDS("study", "colse"), NULL, 0,
               "unknown command study colse; did you mean study close? (tacit study --help lists them)");
    check_find(WORDS("study", "frob"), NULL, 0,
               "tacit study must be followed by one of new, close, not 'frob'");
}

static void options_of_a_sentence_become_flags(void **state) {
    (void)state;
    static const struct {
        const char *said, *spelled;
    } cases[] = {
        { "the option 'rows' must be at least 1, not 0", "--rows must be at least 1, not 0" },
        { "give the option 'delta=1e-5', or delta: in the study",
          "give --delta 1e-5, or delta: in the study" },
        { "the option 'undersample=yes=SHARE' needs a number", "--undersample yes=SHARE needs a number" },
        { "neither the option 'test-fraction' nor the option 'test'", "neither --test-fraction nor --test" },
        { "the option 'split=by:' names no column", "--split by: names no column" },
        { "the option '' and the option 'Rows' and the option 'x",
          "the option '' and the option 'Rows' and the option 'x" },
        { "no option at all", "no option at all" },
        { "", "" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[128];
        snprintf(text, sizeof text, "%s", cases[k].said);
        assert_string_equal(tacit_spell_options(text), cases[k].spelled);
    }
    char help[TACIT_HELP_TEXT];
    assert_string_equal(tacit_help_text("rows of the option 'train', for {no-center}", help),
                        "rows of --train, for consensus, gossip, extra");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_a_sentence_become_flags),
        cmocka_unit_test(every_kind_is_read),
        cmocka_unit_test(what_is_not_given_has_its_fallback_or_nothing),
        cmocka_unit_test(settings_and_repeated_texts_add_up),
        cmocka_unit_test(operands_go_left_to_right_and_later_ones_get_their_need),
        cmocka_unit_test(missing_and_surplus_arguments_are_named),
        cmocka_unit_test(an_unknown_flag_gets_a_suggestion),
        cmocka_unit_test(values_are_checked_strictly),
        cmocka_unit_test(values_that_are_missing_surplus_or_doubled_are_refused),
        cmocka_unit_test(help_is_given_whatever_else_is_wrong),
        cmocka_unit_test(commands_are_found_or_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
