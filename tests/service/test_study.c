/* What a study's definition may say, and that its canonical text is one and the same for everybody. */
#include <stdlib.h>
#include <unistd.h>

#include "../store/folder.h"
#include "base/file.h"
#include "definition_read.h"

static void every_member_is_read(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    tacit_study *study = parse(definition_with(text, NULL, NULL));
    const tacit_plan *plan = &study->plan;
    assert_string_equal(study->name, "two-sites");
    assert_string_equal(plan->study, "two-sites");
    assert_string_equal(study->title, "Two sites");
    assert_string_equal(plan->method->name, "avg");
    assert_true(setting_is(plan, "noise", "party"));
    assert_true(setting_is(plan, "unit", "record"));
    assert_true(plan->epsilon == 2 && plan->delta == 0 && plan->lambda == 0.05);
    assert_int_equal(plan->parties, 3);
    assert_int_equal(plan->minimum_parties, 2);
    assert_int_equal(plan->minimum_rows, 5);
    assert_true(study->patience == 1.5);
    assert_int_equal(plan->sums, TACIT_SUMS_MASKED);
    assert_int_equal(plan->features, 2);
    assert_int_equal(plan->classes, 2);
    tacit_study_free(study);
    tacit_study_free(NULL);
}

static void what_is_optional_has_a_default(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    tacit_study *study = parse(definition_with(text, "patience", NULL));
    assert_true(study->patience == 30);
    tacit_study_free(study);
    study = parse(definition_with(text, "sum", NULL));
    assert_int_equal(study->plan.sums, TACIT_SUMS_MASKED);
    tacit_study_free(study);
    study = parse(definition_with(text, "sum", "clear"));
    assert_int_equal(study->plan.sums, TACIT_SUMS_CLEAR);
    tacit_study_free(study);
    study = parse(definition_with(text, "set", NULL));
    assert_true(setting_is(&study->plan, "noise", "coordinator"));
    tacit_study_free(study);
    study = parse(definition_with(text, "parties", "{expected: 4}"));
    assert_int_equal(study->plan.minimum_parties, 4);
    tacit_study_free(study);
    tacit_study_free(parse(definition_with(text, "delta", NULL)));
}

static void a_missing_member_is_named(void **state) {
    (void)state;
    static const char *const needed[] = { "name",   "title",   "method",       "epsilon",
                                          "lambda", "parties", "minimum_rows", "schema" };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        char text[DEFINITION_SIZE], says[64];
        snprintf(says, sizeof says, "s.yaml: the study has no '%s'", needed[i]);
        fails(definition_with(text, needed[i], NULL), TACIT_INPUT, says);
    }
}

static void a_wrong_member_is_told_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *key, *value, *says;
        tacit_status status;
    } wrong[] = {
        { "schema",
          "|\n  label: {name: y, classes: [n, p], from: rows}\n  columns: [{name: a, kind: number, low: 0, "
          "high: 1}]",
          "schema: read off the rows, so not private: the classes of 'y'. Give", TACIT_REFUSED },
        { "name", "Two Sites", "s.yaml:1: name must", TACIT_INPUT },
        { "name", "../../etc", "s.yaml:1: name must", TACIT_INPUT },
        { "name", "-a", "s.yaml:1: name must", TACIT_INPUT },
        { "name", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "s.yaml:1: name must", TACIT_INPUT },
        { "name", "\"\"", "s.yaml:1", TACIT_INPUT },
        { "name", "[a]", "s.yaml:1", TACIT_INPUT },
        { "title", "'a \"quoted\" word'", "s.yaml:2: title must be one line", TACIT_INPUT },
        { "title", "\"two\\nlines\"", "s.yaml:2: title must", TACIT_INPUT },
        { "title", "\"a\\\\b\"", "s.yaml:2: title must", TACIT_INPUT },
        { "title", "\"\\e[2J\"", "s.yaml:2: title must", TACIT_INPUT },
        { "title", "\"\\x9b\"", "s.yaml:2: title must", TACIT_INPUT },
        { "title", "\"\\N\"", "s.yaml:2: title must", TACIT_INPUT },
        { "title", "\"a\\Lb\"", "s.yaml:2: title must", TACIT_INPUT },
        { "title", "\"a\\Pb\"", "s.yaml:2: title must", TACIT_INPUT },
        { "title", "\"\\uFEFF\"", "s.yaml:2: title must", TACIT_INPUT },
        { "title", "\"\\uFFFE\"", "s.yaml:2: title must", TACIT_INPUT },
        { "method", "magic", "s.yaml:3: ", TACIT_USAGE },
        { "set", "{noise: loud}", "s.yaml:4: ", TACIT_USAGE },
        { "set", "{colour: red}", "s.yaml:4: ", TACIT_USAGE },
        { "set", "loud", "s.yaml:4: set must be a mapping", TACIT_INPUT },
        { "epsilon", "two", "s.yaml:5: ", TACIT_INPUT },
        { "epsilon", "0", "s.yaml:5: epsilon must be from", TACIT_INPUT },
        { "epsilon", "-1", "s.yaml:5: epsilon must be from", TACIT_INPUT },
        { "epsilon", ".nan", "s.yaml:5: ", TACIT_INPUT },
        { "epsilon", "inf", "s.yaml:5: ", TACIT_INPUT },
        { "delta", "0.7", "s.yaml:6: delta must be from", TACIT_INPUT },
        { "lambda", "0", "s.yaml:7: lambda must be from", TACIT_INPUT },
        { "parties", "5", "s.yaml:8: ", TACIT_INPUT },
        { "parties", "{minimum: 2}", "s.yaml:8: parties needs 'expected'", TACIT_INPUT },
        { "parties", "{expected: 2, minimum: 3}", "s.yaml:8: minimum must not", TACIT_INPUT },
        { "parties", "{expected: 2.5}", "s.yaml:8: expected must be a whole number", TACIT_INPUT },
        { "parties", "{expected: 2, most: 3}", "s.yaml:8: ", TACIT_INPUT },
        { "minimum_rows", "0", "s.yaml:9: minimum_rows must be from", TACIT_INPUT },
        { "minimum_rows", "1e12", "s.yaml:9: minimum_rows must be from", TACIT_INPUT },
        { "patience", "0", "s.yaml:10: patience must be from", TACIT_INPUT },
        { "patience", "[1]", "s.yaml:10: ", TACIT_INPUT },
        { "sum", "sometimes", "sum must be masked, paillier or clear, not 'sometimes'", TACIT_INPUT },
        { "sum", "[masked]", "s.yaml:", TACIT_INPUT },
        { "key_bits", "3072", "s.yaml:15: key_bits belongs to sum: paillier", TACIT_INPUT },
        { "dropouts", "1", "s.yaml:15: dropouts must be from 0 to 0.9", TACIT_INPUT },
        { "dropouts", "some", "s.yaml:15: ", TACIT_INPUT },
        { "colluders", "-0.1", "s.yaml:15: colluders must be from 0 to 0.9", TACIT_INPUT },
        { "colluders", "0.7", "s.yaml:15: 3 parties are too few", TACIT_USAGE },
        { "schema", "|\n  label: y\n  columns: 1", "the study's schema:", TACIT_INPUT },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[DEFINITION_SIZE];
        fails(definition_with(text, wrong[i].key, wrong[i].value), wrong[i].status, wrong[i].says);
    }
}

/* How sums are made, and how many parties they allow to vanish and to collude. */
static void sums_are_as_the_study_says(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    tacit_study *study = parse(definition_with(text, "sum", "paillier\ndropouts: 0.1\ncolluders: 0"));
    assert_int_equal(study->plan.sums, TACIT_SUMS_PAILLIER);
    assert_int_equal(study->plan.key_bits, 2048);
    assert_true(study->plan.colluders == 0);
    assert_non_null(strstr(tacit_buffer_text(&study->canonical),
                           "sum: paillier\nkey_bits: 2048\ndropouts: 0.1\ncolluders: 0\n"));
    tacit_study_free(study);
    study = parse(definition_with(text, "sum", "paillier\nkey_bits: 3072"));
    assert_int_equal(study->plan.key_bits, 3072);
    assert_true(study->plan.dropouts == 0.1 && study->plan.colluders == 0.1);
    tacit_study_free(study);
    study = parse(definition_with(text, "sum", "clear"));
    assert_null(strstr(tacit_buffer_text(&study->canonical), "dropouts"));
    tacit_study_free(study);
    fails(definition_with(text, "sum", "paillier\nkey_bits: 1024"), TACIT_INPUT,
          "key_bits must be 2048 or 3072");
    fails(definition_with(text, "sum", "clear\ndropouts: 0.1"), TACIT_INPUT,
          "dropouts belongs to secure sums");
    fails(definition_with(text, "sum", "masked\ndropouts: 0.34"), TACIT_USAGE, "3 parties are too few");
}

/* Only a study that says so is another one for it: the texts that were consented to before keep their
 * hash. */
static void complete_is_told_where_it_is_set(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    tacit_study *study = parse(definition_with(text, "sum", "masked\ncomplete: yes"));
    assert_true(study->plan.complete);
    assert_non_null(strstr(tacit_buffer_text(&study->canonical), "colluders: 0.1\ncomplete: yes\n"));
    tacit_study *again = parse(tacit_buffer_text(&study->canonical));
    assert_memory_equal(again->hash, study->hash, sizeof study->hash);
    tacit_study_free(again);
    tacit_study_free(study);
    study = parse(definition_with(text, "sum", "masked\ncomplete: no"));
    assert_false(study->plan.complete);
    assert_null(strstr(tacit_buffer_text(&study->canonical), "complete"));
    tacit_study_free(study);
    fails(definition_with(text, "sum", "masked\ncomplete: perhaps"), TACIT_INPUT,
          "complete must be yes or no");
    fails(definition_with(text, "sum", "paillier\ncomplete: yes"), TACIT_INPUT,
          "complete belongs to sum: masked");
}

static void what_is_not_a_study_is_refused(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    fails("", TACIT_INPUT, "s.yaml");
    fails("just a text\n", TACIT_INPUT, "s.yaml:1");
    fails("- a\n- b\n", TACIT_INPUT, "s.yaml:1");
    fails("name: [unclosed\n", TACIT_INPUT, "s.yaml:");
    definition_with(text, NULL, NULL);
    strcat(text, "colour: red\n");
    fails(text, TACIT_INPUT, "colour");
    definition_with(text, NULL, NULL);
    strcat(text, "name: again\n");
    fails(text, TACIT_INPUT, "name");
    definition_with(text, NULL, NULL);
    strcat(text, "---\nname: second\n");
    fails(text, TACIT_INPUT, "s.yaml");
}

static void what_people_read_becomes_part_of_the_definition(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    definition_with(text, "schedule", "{from: 2027-01-01, until: 2027-03-31T18:00:00Z}");
    strcat(
        text,
        "description: \"One\\n  two\"\napproval: Board 7\nconsent: |2\n    Indented\n  \n  last\t.  \n  \n");
    tacit_study *study = parse(text);
    assert_string_equal(tacit_buffer_text(&study->description), "One\n  two\n");
    assert_string_equal(tacit_buffer_text(&study->document), "  Indented\n\nlast .\n");
    assert_string_equal(study->approval, "Board 7");
    assert_true(study->from == 1798761600 && study->until == 1806516000);
    tacit_study *again = parse(tacit_buffer_text(&study->canonical));
    assert_string_equal(tacit_buffer_text(&again->canonical), tacit_buffer_text(&study->canonical));
    assert_string_equal(tacit_buffer_text(&again->document), tacit_buffer_text(&study->document));
    assert_memory_equal(again->document_hash, study->document_hash, TACIT_HASH_BYTES);
    assert_memory_equal(again->hash, study->hash, TACIT_HASH_BYTES);
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_study_check_time(study, study->from, &error), TACIT_OK);
    assert_int_equal(tacit_study_check_time(study, study->from - 1, &error), TACIT_REFUSED);
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_study_check_time(study, study->until, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "2027-03-31T18:00:00Z"));
    tacit_study_free(study);
    tacit_study_free(again);
}

static void what_people_could_not_read_is_refused_with_its_line(void **state) {
    (void)state;
    static const char *const wrong[][3] = {
        { "approval", "\"a\\nb\"", "approval must be one line" },
        { "description", "\"\\x1b[2J\"", "description must be plain text" },
        { "description", "\"a\\Lb\"", "description must be plain text" },
        { "description", "\" \\n \"", "description must be plain text" },
        { "consent", "consent.txt", "may not name a file" },
        { "consent", "\"a\\n\\e\"", "consent document must be plain text" },
        { "schedule", "{}", "schedule needs" },
        { "schedule", "{from: 2027-02-30}", "from must be a day" },
        { "schedule", "{from: tomorrow}", "from must be a day" },
        { "schedule", "{until: 2027-01-01T25:00:00Z}", "until must be a day" },
        { "schedule", "{from: 2027-01-02, until: 2027-01-02}", "later than 'from'" },
        { "schedule", "{to: 2027-01-02}", "to" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[DEFINITION_SIZE], line[32];
        definition_with(text, wrong[i][0], wrong[i][1]);
        fails(text, TACIT_INPUT, wrong[i][2]);
        snprintf(line, sizeof line, "s.yaml:%d", 15); /* it comes last */
        fails(text, TACIT_INPUT, line);
    }
}

/* A study can never make a party read files. */
static void a_study_from_elsewhere_may_not_name_a_file(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    fails(definition_with(text, "schema", "/etc/passwd"), TACIT_INPUT,
          "s.yaml:11: a study from elsewhere may not");
    fails(definition_with(text, "schema", "other.yaml"), TACIT_INPUT, "may not name a file");
}

/* A study can never make a party run code, from a file or from elsewhere, in whatever setting. */
static void a_study_may_not_name_a_program(void **state) {
    (void)state;
    static const char *const settings[] = {
        "{local: 'exec:/bin/rm'}", "{noise: party, local: 'tree,exec:./m.py'}",
        "{local: ' exec:x'}",      "{noise: 'exec:x'}",
        "{other: 'exec:x'}",       "{local: \"ex\\x65c:x\"}"
    };
    folder place = folder_make();
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char text[DEFINITION_SIZE];
        tacit_study *study = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        fails(definition_with(text, "set", settings[i]), TACIT_REFUSED, "s.yaml:4: setting '");
        CHECK_OK(tacit_file_write(place.file, text, strlen(text), 0600, &error), error);
        assert_int_equal(tacit_study_load(&study, place.file, &error), TACIT_REFUSED);
        assert_null(study);
        assert_non_null(strstr(error.text, "only a party's owner may"));
    }
    folder_remove(&place);
}

static void a_method_for_simulations_only_is_refused(void **state) {
    (void)state;
    static const char *const methods[] = { "batch", "indiv" };
    for (size_t i = 0; i < 2; i++) {
        char text[DEFINITION_SIZE];
        fails(definition_with(text, "method", methods[i]), TACIT_REFUSED, "s.yaml:3: method ");
    }
}

static void the_canonical_text_is_a_fixed_point(void **state) {
    (void)state;
    static const char *const titles[] = {
        "plain", "Größe: ä # no comment", "'''", "{a: b}", "日本", "  spaces  ", "%"
    };
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        char text[DEFINITION_SIZE], title[100];
        snprintf(title, sizeof title, "\"%s\"", titles[i]);
        tacit_study *study = parse(definition_with(text, "title", title));
        assert_string_equal(study->title, titles[i]);
        tacit_study *again = parse(tacit_buffer_text(&study->canonical));
        assert_string_equal(tacit_buffer_text(&again->canonical), tacit_buffer_text(&study->canonical));
        assert_memory_equal(again->hash, study->hash, sizeof study->hash);
        tacit_study_free(study);
        tacit_study_free(again);
    }
}

/* Earlier versions kept the text of every setting: a party that consented to "1e2" finds the same hash
 * again. */
static void numbers_of_settings_stay_as_they_were_spelt(void **state) {
    (void)state;
    static const char *const spelt[] = { "100", "1e2", "100.0", "0100" };
    char text[DEFINITION_SIZE], line[64];
    tacit_study *study = parse(definition_with(text, NULL, NULL)), *first = NULL;
    char *canonical = strdup(tacit_buffer_text(&study->canonical)), *set = strstr(canonical, "  noise:");
    tacit_study_free(study);
    assert_non_null(set);
    for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++) {
        const char *after = strstr(set, "epsilon:"), *rest = strchr(strstr(after, "delta:"), '\n');
        int head = (int)(strstr(canonical, "method:") - canonical);
        snprintf(text, sizeof text,
                 "%.*smethod: dpgd\nset:\n  rounds: \"%s\"\n  noise: \"party\"\n  unit: \"record\"\n"
                 "epsilon: 2\ndelta: 1e-05%s",
                 head, canonical, spelt[i], rest);
        study = parse(text);
        assert_string_equal(tacit_buffer_text(&study->canonical), text);
        snprintf(line, sizeof line, "  rounds: \"%s\"\n", spelt[i]);
        assert_non_null(strstr(tacit_buffer_text(&study->canonical), line));
        if (first == NULL) first = study;
        assert_true(setting_is(&study->plan, "rounds", "100"));
        if (first != study) assert_memory_not_equal(study->hash, first->hash, sizeof study->hash);
        if (first != study) tacit_study_free(study);
    }
    tacit_study_free(first);
    free(canonical);
}

static void the_order_of_members_does_not_matter_and_their_values_do(void **state) {
    (void)state;
    char text[DEFINITION_SIZE], other[DEFINITION_SIZE];
    tacit_study *study = parse(definition_with(text, NULL, NULL));
    size_t used = 0;
    for (size_t i = DEFINITION_KEYS; i-- > 0;)
        used += (size_t)snprintf(other + used, sizeof other - used, "%s: %s\n", definition_keys[i][0],
                                 definition_keys[i][1]);
    tacit_study *same = parse(other);
    assert_memory_equal(same->hash, study->hash, sizeof study->hash);
    tacit_study_free(same);
    same = parse(definition_with(other, "epsilon", "2.000"));
    assert_memory_equal(same->hash, study->hash, sizeof study->hash);
    tacit_study_free(same);
    same = parse(definition_with(other, "set", "{unit: record, noise: party}")); /* a default spelt out */
    assert_memory_equal(same->hash, study->hash, sizeof study->hash);
    tacit_study_free(same);
    static const char *const changes[][2] = {
        { "name", "other" },     { "title", "Other" },     { "set", "{noise: coordinator}" },
        { "epsilon", "2.5" },    { "lambda", "0.050001" }, { "parties", "{expected: 3, minimum: 3}" },
        { "minimum_rows", "6" }, { "patience", "1.501" },  { "sum", "clear" },
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        tacit_study *changed = parse(definition_with(other, changes[i][0], changes[i][1]));
        assert_memory_not_equal(changed->hash, study->hash, sizeof study->hash);
        tacit_study_free(changed);
    }
    tacit_study_free(study);
}

static void a_schema_file_is_found_beside_the_study(void **state) {
    (void)state;
    folder place = folder_make();
    char text[DEFINITION_SIZE], study_path[128], schema_path[128];
    tacit_study *study = NULL, *inside = parse(definition_with(text, NULL, NULL));
    tacit_error error = TACIT_ERROR_INIT;
    snprintf(study_path, sizeof study_path, "%s/s.yaml", place.path);
    snprintf(schema_path, sizeof schema_path, "%s/x.yaml", place.path);
    write_text(study_path, definition_with(text, "schema", "x.yaml"));
    assert_int_equal(tacit_study_load(&study, study_path, &error), TACIT_IO);
    assert_non_null(strstr(error.text, "x.yaml"));
    write_text(schema_path,
               "label: {name: y, classes: [n, p]}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 1}\n");
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_study_load(&study, study_path, &error), error);
    assert_memory_equal(study->hash, inside->hash, sizeof study->hash); /* the file has become part of it */
    tacit_study_free(study);
    tacit_study_free(inside);
    folder_remove(&place);
}

/* A study without a center, with `parties` and one line more. */
static const char *talk(char text[DEFINITION_SIZE], const char *graph, const char *parties,
                        const char *more) {
    snprintf(
        text, DEFINITION_SIZE,
        "name: talk\ntitle: Talk\nmethod: consensus\nset: {graph: \"%s\"}\nlambda: 0.1\nparties: %s\n"
        "minimum_rows: 5\n%s"
        "schema: |\n  label: {name: y, classes: [n, p]}\n  columns:\n    - {name: a, kind: number, low: 0, "
        "high: 1}\n",
        graph, parties, more);
    return text;
}

static void a_study_without_a_center_counts_on_everybody(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    tacit_study *study = parse(talk(text, "ring", "{expected: 4}", ""));
    assert_int_equal(study->plan.minimum_parties, 4);
    assert_int_equal(study->plan.sums, TACIT_SUMS_MASKED);
    tacit_study_free(study);
    fails(talk(text, "ring", "{expected: 4, minimum: 3}", ""), TACIT_INPUT, "leave out 'minimum'");
    fails(talk(text, "ring", "{expected: 4}", "sum: clear\n"), TACIT_INPUT, "sum: clear");
    fails(talk(text, "ring", "{expected: 1001}", ""), TACIT_INPUT, "at most 1000 parties");
    fails(talk(text, "edges:1-2,3-4", "{expected: 4}", ""), TACIT_USAGE, "not connected");
    fails(talk(text, "file:/etc/passwd", "{expected: 4}", ""), TACIT_INPUT, "may not name a file");
}

/* The graph of a file travels edge by edge. */
static void a_graph_becomes_part_of_the_study(void **state) {
    (void)state;
    folder place = folder_make();
    char text[DEFINITION_SIZE], path[128];
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    snprintf(path, sizeof path, "%s/edges.txt", place.path);
    write_text(path, "1 2\n2 3\n");
    snprintf(path, sizeof path, "%s/talk.yaml", place.path);
    write_text(path, talk(text, "file:edges.txt", "{expected: 3}", ""));
    CHECK_OK(tacit_study_load(&study, path, &error), error);
    assert_true(setting_is(&study->plan, "graph", "edges:1-2,2-3"));
    tacit_study *again = parse(tacit_buffer_text(&study->canonical));
    assert_memory_equal(again->hash, study->hash, sizeof study->hash);
    tacit_study_free(again);
    tacit_study_free(study);
    write_text(path, talk(text, "file:missing.txt", "{expected: 3}", ""));
    study = NULL;
    assert_int_not_equal(tacit_study_load(&study, path, &error), TACIT_OK);
    assert_non_null(strstr(error.text, "missing.txt"));
    folder_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_is_read),
        cmocka_unit_test(what_is_optional_has_a_default),
        cmocka_unit_test(a_missing_member_is_named),
        cmocka_unit_test(a_wrong_member_is_told_with_its_line),
        cmocka_unit_test(sums_are_as_the_study_says),
        cmocka_unit_test(complete_is_told_where_it_is_set),
        cmocka_unit_test(what_is_not_a_study_is_refused),
        cmocka_unit_test(what_people_read_becomes_part_of_the_definition),
        cmocka_unit_test(what_people_could_not_read_is_refused_with_its_line),
        cmocka_unit_test(a_study_from_elsewhere_may_not_name_a_file),
        cmocka_unit_test(a_study_may_not_name_a_program),
        cmocka_unit_test(a_method_for_simulations_only_is_refused),
        cmocka_unit_test(the_canonical_text_is_a_fixed_point),
        cmocka_unit_test(numbers_of_settings_stay_as_they_were_spelt),
        cmocka_unit_test(the_order_of_members_does_not_matter_and_their_values_do),
        cmocka_unit_test(a_schema_file_is_found_beside_the_study),
        cmocka_unit_test(a_study_without_a_center_counts_on_everybody),
        cmocka_unit_test(a_graph_becomes_part_of_the_study),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
