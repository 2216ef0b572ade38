/* Every setting of every method: its line in the table, its default, and all that is made of them. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "api/document/json_text.h"
#include "api/document/methods_list.h"
#include "cli/commands.h"
#include "cli/program.h"
#include "method/methods.h"
#include "setting.h"

typedef void check_setting(const tacit_method *method, const tacit_parameter *one);

static void each_setting(check_setting *check) {
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        for (const tacit_parameter *one = tacit_methods[i]->parameters; one != NULL && one->name != NULL;
             one++)
            check(tacit_methods[i], one);
}

static size_t size_of(const tacit_parameter *one) {
    return one->type == TACIT_SETTING_TEXT     ? TACIT_SETTING_SIZE
           : one->type == TACIT_SETTING_CHOICE ? sizeof(int)
                                               : sizeof(double);
}

static void check_place(const tacit_method *method, const tacit_parameter *one) {
    assert_non_null(method->defaults);
    assert_true(method->settings_size <= TACIT_SETTINGS_BYTES);
    assert_true(one->offset + size_of(one) <= method->settings_size);
    assert_true(one->help != NULL && one->help[0] != 0);
    assert_true((one->type == TACIT_SETTING_CHOICE) == (one->choices != NULL));
    assert_ptr_equal(tacit_setting_find(method->parameters, one->name), one); /* no name twice */
    for (const tacit_parameter *other = method->parameters; other != one; other++)
        if (other->offset < one->offset + size_of(one) && one->offset < other->offset + size_of(other))
            fail_msg("settings %s and %s of method %s share bytes", other->name, one->name, method->name);
}

static void every_setting_has_a_member_of_its_own(void **state) {
    (void)state;
    each_setting(check_place);
}

/* Set to the text of its default, a plan says and is the same as one that nobody touched. */
static void check_default(const tacit_method *method, const tacit_parameter *one) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan untouched = { .method = method }, plan = { .method = method };
    char usual[TACIT_SETTING_SIZE], text[TACIT_SETTING_SIZE];
    tacit_setting_print(method->defaults, one, usual);
    CHECK_OK(tacit_plan_set(&plan, one->name, usual, &error), error);
    assert_true(tacit_plan_equal(&plan, &untouched));
    assert_string_equal(tacit_plan_print(&plan, one, text), usual);
    assert_string_equal(tacit_plan_print(&untouched, one, text), usual);
    assert_true(one->zero == NULL || tacit_plan_leaves_open(&plan, one));
}

static void every_default_parses_to_itself(void **state) {
    (void)state;
    each_setting(check_default);
}

static void refuse(const tacit_method *method, const tacit_parameter *one, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = { .method = method }, before = plan;
    char name[128];
    snprintf(name, sizeof name, "setting %s", one->name);
    if (tacit_plan_set(&plan, one->name, value, &error) != TACIT_USAGE || strstr(error.text, name) == NULL)
        fail_msg("method %s, %s=%s: %s", method->name, one->name, value, error.text);
    assert_true(tacit_plan_equal(&plan, &before)); /* what is refused changes nothing */
}

static void check_refusals(const tacit_method *method, const tacit_parameter *one) {
    char long_text[TACIT_SETTING_SIZE + 1], below[64], above[64];
    memset(long_text, 'a', TACIT_SETTING_SIZE);
    long_text[TACIT_SETTING_SIZE] = 0;
    refuse(method, one, "");
    refuse(method, one, long_text);
    if (one->type == TACIT_SETTING_CHOICE) refuse(method, one, one->choices);
    if (one->type == TACIT_SETTING_CHOICE || one->type == TACIT_SETTING_TEXT) return;
    snprintf(below, sizeof below, "%.17g", one->least - 1e-6 * (1 + one->most - one->least));
    snprintf(above, sizeof above, "%.17g", one->most * 1.01 + 1);
    refuse(method, one, below);
    refuse(method, one, above);
    refuse(method, one, "nan");
    refuse(method, one, "0x10");
    if (one->type == TACIT_SETTING_COUNT) {
        snprintf(below, sizeof below, "%.17g", one->least + 0.5);
        refuse(method, one, below);
    }
}

static void what_is_out_of_bounds_is_refused_by_name(void **state) {
    (void)state;
    each_setting(check_refusals);
}

/* Bounds and choices themselves are allowed, read back as they were written, and make another plan. */
static void check_values(const tacit_method *method, const tacit_parameter *one) {
    tacit_error error = TACIT_ERROR_INIT;
    for (unsigned k = 0;; k++) {
        tacit_plan plan = { .method = method }, again = plan;
        char text[TACIT_SETTING_SIZE], shown[TACIT_SETTING_SIZE];
        if (one->type == TACIT_SETTING_TEXT) return;
        if (one->type == TACIT_SETTING_CHOICE) {
            if (tacit_setting_word(one->choices, k, text)[0] == 0) return;
        } else {
            if (k > 1) return;
            snprintf(text, sizeof text, "%.17g", k == 0 ? one->least : one->most);
        }
        CHECK_OK(tacit_plan_set(&plan, one->name, text, &error), error);
        assert_string_equal(tacit_plan_print(&plan, one, shown), text);
        CHECK_OK(
            tacit_plan_set(&again, one->name, tacit_setting_print(plan.settings.values, one, shown), &error),
            error);
        assert_true(tacit_plan_equal(&plan, &again));
        const tacit_plan untouched = { .method = method };
        const bool usual =
            tacit_setting_number(plan.settings.values, one) == tacit_setting_number(method->defaults, one);
        assert_true(tacit_plan_equal(&plan, &untouched) == usual);
    }
}

static void what_is_in_bounds_is_read_back(void **state) {
    (void)state;
    each_setting(check_values);
}

/* ---- spelling ---- */

/* Definitions of studies are hashed with these texts. */
static void numbers_stay_as_they_were_spelt(void **state) {
    (void)state;
    static const char *const spellings[] = { "20", "2e1", "20.0", "+20", " 20", "0020", "20" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = { .method = tacit_method_find("dpgd") }, first = { .method = plan.method };
    const tacit_parameter *rounds = tacit_setting_find(plan.method->parameters, "rounds");
    char text[TACIT_SETTING_SIZE];
    CHECK_OK(tacit_plan_set(&first, "rounds", "20", &error), error);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        if (tacit_plan_set(&plan, "rounds", spellings[i], &error) != TACIT_OK)
            continue; /* not a number here */
        assert_string_equal(tacit_plan_print(&plan, rounds, text), spellings[i]);
        assert_true(tacit_plan_equal(&plan, &first));
    }
    assert_int_equal(plan.settings.spelling[0], 0); /* the last one is the shortest */
    plan.method = tacit_method_find("psgd");        /* a table of its own: its defaults count */
    assert_true(setting_is(&plan, "rounds", "100"));
}

static void spellings_of_many_numbers_are_kept_until_there_is_no_room(void **state) {
    (void)state;
    tacit_plan plan = { .method = tacit_method_find("dpsgd") };
    tacit_error error = TACIT_ERROR_INIT;
    char text[TACIT_SETTING_SIZE], shown[TACIT_SETTING_SIZE];
    size_t kept = 0;
    for (const tacit_parameter *one = plan.method->parameters; one->name != NULL; one++) {
        if (one->type != TACIT_SETTING_NUMBER) continue;
        snprintf(text, sizeof text, "%.150f", 0.5);
        if (one->most < 0.5 || one->least > 0.5) continue;
        tacit_status status = tacit_plan_set(&plan, one->name, text, &error);
        if (status == TACIT_OK) {
            assert_string_equal(tacit_plan_print(&plan, one, shown), text);
            kept++;
            continue;
        }
        assert_int_equal(status, TACIT_USAGE);
        assert_non_null(strstr(error.text, "write 0.5"));
        CHECK_OK(tacit_plan_set(&plan, one->name, "0.5", &error), error);
    }
    assert_int_equal(kept, 3);
    assert_string_equal(tacit_plan_print(&plan, tacit_setting_find(plan.method->parameters, "epochs"), shown),
                        text);
}

/* ---- what is made of the table ---- */

static char *run(const char *const *words, size_t count) {
    char *out = NULL, *err = NULL;
    size_t size;
    FILE *streams[] = { open_memstream(&out, &size), open_memstream(&err, &size) };
    assert_int_equal(tacit_program_run(tacit_commands, words, count, streams[0], streams[1]), 0);
    fclose(streams[0]);
    fclose(streams[1]);
    free(err);
    return out;
}

static char *help; /* of `tacit methods` */

static void check_help(const tacit_method *method, const tacit_parameter *one) {
    char flag[80];
    snprintf(flag, sizeof flag, "--set %s=", one->name);
    if (strstr(help, flag) == NULL) fail_msg("help has no %s of method %s", flag, method->name);
}

static void help_has_every_setting(void **state) {
    (void)state;
    help = run((const char *const[]){ "methods" }, 1);
    each_setting(check_help);
    free(help);
}

static const json_t *find_named(const json_t *list, const char *name) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(list, i), "name")), name) == 0)
            return json_array_get(list, i);
    return NULL;
}

/* What programs read: a default that the parser takes back, and the bounds or choices. */
static void check_document(const tacit_method *method, const tacit_parameter *one) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = { .method = method }, untouched = plan;
    json_t *all = tacit_methods_list();
    const json_t *about = find_named(json_object_get(find_named(all, method->name), "parameters"), one->name);
    assert_non_null(about);
    const json_t *usual = json_object_get(about, "default");
    char text[TACIT_SETTING_SIZE];
    if (json_is_string(usual))
        snprintf(text, sizeof text, "%s", json_string_value(usual));
    else
        snprintf(text, sizeof text, "%.17g", json_number_value(usual));
    CHECK_OK(tacit_plan_set(&plan, one->name, text, &error), error);
    assert_true(tacit_plan_equal(&plan, &untouched));
    assert_string_equal(json_string_value(json_object_get(about, "help")), one->help);
    static const char *const types[] = { [TACIT_SETTING_NUMBER] = "number",
                                         [TACIT_SETTING_COUNT] = "count",
                                         [TACIT_SETTING_CHOICE] = "choice",
                                         [TACIT_SETTING_TEXT] = "text" };
    assert_string_equal(json_string_value(json_object_get(about, "type")), types[one->type]);
    assert_true((json_object_get(about, "choices") != NULL) == (one->type == TACIT_SETTING_CHOICE));
    assert_true((json_object_get(about, "range") != NULL) ==
                (one->type == TACIT_SETTING_NUMBER || one->type == TACIT_SETTING_COUNT));
    json_decref(all);
}

static void the_document_of_a_setting_can_be_set_again(void **state) {
    (void)state;
    each_setting(check_document);
}

static void texts_of_help_list_the_methods_with_a_trait(void **state) {
    (void)state;
    char out[TACIT_HELP_TEXT];
    const char plain[] = "no list here";
    assert_ptr_equal(tacit_methods_help(plain, out), plain);
    assert_string_equal(tacit_methods_help("For {two-servers and}.", out),
                        "For newton, privlogit-hessian, privlogit-local and cox-servers.");
    assert_string_equal(tacit_methods_help("{no-center}", out), "consensus, gossip, extra");
    assert_string_equal(tacit_methods_help("{roles or}", out), "pst-h");
    assert_string_equal(tacit_methods_help("a {\"b\": 1} c {", out), "a {\"b\": 1} c {");
    assert_null(tacit_methods_with("taller", NULL, out));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_has_a_member_of_its_own),
        cmocka_unit_test(every_default_parses_to_itself),
        cmocka_unit_test(what_is_out_of_bounds_is_refused_by_name),
        cmocka_unit_test(what_is_in_bounds_is_read_back),
        cmocka_unit_test(numbers_stay_as_they_were_spelt),
        cmocka_unit_test(spellings_of_many_numbers_are_kept_until_there_is_no_room),
        cmocka_unit_test(help_has_every_setting),
        cmocka_unit_test(the_document_of_a_setting_can_be_set_again),
        cmocka_unit_test(texts_of_help_list_the_methods_with_a_trait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
