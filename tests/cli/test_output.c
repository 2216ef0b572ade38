#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/option/suggestion.h"
#include "cli/commands.h"
#include "cli/help/help.h"
#include "cli/output_file.h"
#include "cli/program.h"
#include "commands_fixture.h"

typedef struct outcome {
    int code;
    char *out, *err;
} outcome;

static outcome run(const char *const *words, size_t count) {
    outcome result = { 0, NULL, NULL };
    size_t size;
    FILE *out = open_memstream(&result.out, &size), *err = open_memstream(&result.err, &size);
    result.code = tacit_program_run(fixture_commands, words, count, out, err);
    fclose(out);
    fclose(err);
    return result;
}

#define RUN(...)                                                                                             \
    run((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void check_and_free(outcome result, int code, const char *out, const char *err) {
    assert_int_equal(result.code, code);
    assert_string_equal(result.out, out);
    assert_string_equal(result.err, err);
    free(result.out);
    free(result.err);
}

static void results_go_to_standard_output_and_messages_to_standard_error(void **state) {
    (void)state;
    check_and_free(RUN("try"), 0, "text for people\n", "a note\nwarning: a warning\n");
    check_and_free(RUN("try", "--quiet"), 0, "text for people\n", "warning: a warning\n");
    check_and_free(RUN("try", "--json", "--quiet"), 0, "{\n  \"answer\": 42\n}\n", "warning: a warning\n");
    check_and_free(RUN("--json", "--quiet", "study", "new"), 0, "{\n  \"answer\": 42\n}\n",
                   "warning: a warning\n");
}

static void a_failure_is_one_clean_line_and_one_document(void **state) {
    (void)state;
    check_and_free(RUN("try", "--refuse"), 3, "", "tacit: the budget of?site ??[31m is spent\n");
    outcome result = RUN("try", "--refuse", "--json");
    assert_int_equal(result.code, 3);
    json_t *document = json_loads(result.out, 0, NULL);
    assert_non_null(document);
    json_t *error = json_object_get(document, "error");
    assert_string_equal(json_string_value(json_object_get(error, "code")), "REFUSED");
    assert_string_equal(json_string_value(json_object_get(error, "message")),
                        "the budget of?site ??[31m is spent");
    json_decref(document);
    free(result.out);
    free(result.err);
}

static void a_mistake_on_the_command_line_exits_2_in_the_form_asked_for(void **state) {
    (void)state;
    check_and_free(RUN("try", "--detla", "1"), 2, "",
                   "tacit: unknown flag --detla; did you mean --delta? (tacit try --help lists them)\n");
    outcome result = RUN("tyr", "--json");
    assert_int_equal(result.code, 2);
    assert_non_null(strstr(result.out, "\"code\": \"USAGE\""));
    free(result.out);
    free(result.err);
}

static void a_full_disk_is_noticed(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = fopen("/dev/full", "w"), *err = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(
        tacit_program_run(fixture_commands, (const char *const[]){ "try", "--quiet" }, 2, out, err), 1);
    fclose(out);
    fclose(err);
    assert_non_null(strstr(text, "tacit: standard output could not be written"));
    free(text);
}

static void numbers_in_documents_say_inf_and_null(void **state) {
    (void)state;
    json_t *infinite = tacit_json_number(INFINITY), *missing = tacit_json_number(NAN),
           *half = tacit_json_number(0.5);
    assert_string_equal(json_string_value(infinite), "inf");
    assert_true(json_is_null(missing));
    CHECK_NEAR(json_real_value(half), 0.5, 0);
    json_decref(infinite);
    json_decref(missing);
    json_decref(half);
}

static char *print_grid(bool bold) {
    static const tacit_grid_column columns[] = { { "name", TACIT_LEFT },
                                                 { "rows", TACIT_RIGHT },
                                                 { "x", TACIT_LEFT } };
    tacit_grid *grid = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_grid_create(&grid, columns, 3, &error), error);
    static const char *const names[] = { "caf\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac", "a\tb\n" };
    for (int i = 0; i < 3; i++) {
        tacit_grid_cell(grid, "%s", names[i]);
        tacit_grid_cell(grid, "%d", i == 2 ? 12345 : i);
        if (i < 2) tacit_grid_cell(grid, "y");
    }
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CHECK_OK(tacit_grid_print(grid, out, bold, &error), error);
    fclose(out);
    tacit_grid_free(grid);
    return text;
}

static void a_grid_is_aligned_by_what_is_seen(void **state) {
    (void)state;
    char *text = print_grid(false);
    assert_string_equal(text, "name   rows  x\n"
                              "----  -----  -\n"
                              "caf\xc3\xa9      0  y\n"
                              "\xe6\x97\xa5\xe6\x9c\xac      1  y\n"
                              "a?b?  12345\n");
    free(text);
    text = print_grid(true);
    assert_int_equal(strncmp(text, "\033[1mname", 8), 0);
    free(text);
}

static void distances_count_single_edits(void **state) {
    (void)state;
    assert_int_equal(tacit_edit_distance("epsilon", 7, "epsilon", 7), 0);
    assert_int_equal(tacit_edit_distance("epsilno", 7, "epsilon", 7), 1);
    assert_int_equal(tacit_edit_distance("", 0, "abc", 3), 3);
    assert_int_equal(tacit_edit_distance("kitten", 6, "sitting", 7), 3);
    char long_text[65];
    memset(long_text, 'a', sizeof long_text);
    assert_true(tacit_edit_distance(long_text, 64, "a", 1) == SIZE_MAX);
}

static void help_fits_the_width_and_names_everything(void **state) {
    (void)state;
    for (unsigned width = 40; width <= 100; width += 20) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        tacit_help_command((tacit_page){ out, width, false }, &fixture_try);
        fclose(out);
        for (const tacit_option *option = fixture_options; option->name != NULL; option++)
            assert_non_null(strstr(text, option->name));
        assert_non_null(strstr(text, "    tacit try x\n"));
        for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
            assert_true(tacit_text_width(line) <= width);
        free(text);
    }
}

static void every_command_of_the_program_is_whole(void **state) {
    (void)state;
    for (size_t i = 0; tacit_commands[i] != NULL; i++) {
        const tacit_command *command = tacit_commands[i];
        assert_non_null(command->run);
        assert_non_null(command->section);
        assert_non_null(command->examples[0].command);
        json_t *document = tacit_help_document(command);
        assert_non_null(document);
        json_decref(document);
        for (const tacit_option *option = command->options; option != NULL && option->name != NULL;
             option++) {
            assert_non_null(option->help);
            assert_int_equal(option->placeholder == NULL, option->kind == TACIT_OPTION_FLAG);
            assert_false(option->fallback != NULL && option->rules & TACIT_RULE_REQUIRED);
            for (const tacit_option *common = tacit_common_options; common->name != NULL; common++)
                assert_string_not_equal(option->name, common->name);
        }
    }
}

/* A fallback that its own rules refuse would make a command unusable. */
static void every_fallback_is_valid(void **state) {
    (void)state;
    for (size_t i = 0; tacit_commands[i] != NULL; i++) {
        const tacit_option *option = tacit_commands[i]->options;
        for (; option != NULL && option->name != NULL; option++) {
            if (option->fallback == NULL) continue;
            const tacit_option alone[] = { *option, { .name = NULL } };
            const tacit_command command = { .name = "x", .options = alone };
            tacit_arguments *arguments = NULL;
            tacit_error error = TACIT_ERROR_INIT;
            CHECK_OK(tacit_arguments_parse(&arguments, &command, NULL, 0, &error), error);
            tacit_arguments_free(arguments);
        }
    }
}

static char *read_text(const char *path) {
    static char text[64];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void a_written_file_appears_whole_or_not_at_all(void **state) {
    (void)state;
    char folder[] = "/tmp/tacit_output_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    static const tacit_status ends[] = { TACIT_OK, TACIT_CANCELLED };
    for (int i = 0; i < 2; i++) {
        tacit_output output;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_output_open(&output, path, NULL, 0600, &error), error);
        fprintf(output.stream, "version %d", i);
        assert_int_equal(tacit_output_close(&output, ends[i], &error), ends[i]);
        assert_string_equal(read_text(path), "version 0");
    }
    /* Nothing else is left in the folder, so it can be removed. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void a_device_is_written_in_place(void **state) {
    (void)state;
    tacit_output output;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_output_open(&output, "/dev/null", NULL, 0600, &error), error);
    CHECK_OK(tacit_output_close(&output, TACIT_OK, &error), error);
    struct stat about;
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    assert_int_equal(tacit_output_open(&output, "/no/such/folder/x", NULL, 0600, &error), TACIT_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_go_to_standard_output_and_messages_to_standard_error),
        cmocka_unit_test(a_failure_is_one_clean_line_and_one_document),
        cmocka_unit_test(a_mistake_on_the_command_line_exits_2_in_the_form_asked_for),
        cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(numbers_in_documents_say_inf_and_null),
        cmocka_unit_test(a_grid_is_aligned_by_what_is_seen),
        cmocka_unit_test(distances_count_single_edits),
        cmocka_unit_test(help_fits_the_width_and_names_everything),
        cmocka_unit_test(every_command_of_the_program_is_whole),
        cmocka_unit_test(every_fallback_is_valid),
        cmocka_unit_test(a_written_file_appears_whole_or_not_at_all),
        cmocka_unit_test(a_device_is_written_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
