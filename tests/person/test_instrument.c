/* Questionnaires: what is asked and hidden, how answers are scored, what is refused and why, and who signed. */
#include "check.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "data/schema/schema.h"
#include "person/instrument/instrument.h"

static tacit_instrument *load_example(tacit_buffer *text) {
    tacit_instrument *made = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_file_read(EXAMPLES "/wellbeing.instrument.yaml", text, &error), error);
    CHECK_OK(tacit_instrument_parse(&made, tacit_buffer_text(text), text->length, "example", &error), error);
    return made;
}

static tacit_instrument *example(void) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_instrument *made = load_example(&text);
    tacit_buffer_clear(&text);
    return made;
}

/* Answers "2,,1,...": an empty one is none. The cells come back in the same form. */
static tacit_status fill_in(const tacit_instrument *made, const char *given, char *out, size_t size,
                            tacit_error *error) {
    char *copy = strdup(given), *rest = copy;
    const char *answers[TACIT_INSTRUMENT_ITEMS] = { NULL };
    tacit_filled got;
    for (size_t i = 0; rest != NULL && i < made->item_count; i++) {
        const char *one = strsep(&rest, ",");
        if (one[0] != 0) answers[i] = one;
    }
    tacit_status status = tacit_instrument_answer(&got, made, answers, error);
    free(copy);
    if (status != TACIT_OK) return status;
    size_t used = 0;
    for (size_t i = 0; i < got.count; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? "," : "",
                                 got.cells[i] != NULL ? got.cells[i] : "");
    tacit_filled_clear(&got);
    return TACIT_OK;
}

/* By hand: nine items 0 to 3, the ninth reversed (3 - x); with seven or eight answered, their mean times nine. */
static void scores_are_those_worked_out_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *given, *expected;
    } cases[] = {
        { "0,0,0,0,0,0,0,0,3,,,,", "0,0,0,0,0,0,0,0,3,,,,,0" },              /* 0 + (3 - 3) */
        { "0,1,1,0,1,0,1,0,2,,,,", "0,1,1,0,1,0,1,0,2,,,,,5" },              /* 4 + (3 - 2) */
        { "3,3,3,3,3,3,3,3,0,,,,", "3,3,3,3,3,3,3,3,0,,,,,27" },             /* 24 + 3 */
        { "1,1,1,1,1,1,1,,1,,,,", "1,1,1,1,1,1,1,,1,,,,,10.125" },           /* (7 + 2) / 8 * 9 */
        { "1,1,1,1,1,1,,,0,,,,", "1,1,1,1,1,1,,,0,,,,,11.571428571428571" }, /* (6 + 3) / 7 * 9 */
        { "1,1,1,1,1,1,,,,,,,", "1,1,1,1,1,1,,,,,,,," },                     /* six: too few */
    };
    tacit_instrument *made = example();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[512];
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(fill_in(made, cases[i].given, out, sizeof out, &error), error);
        assert_string_equal(out, cases[i].expected);
    }
    tacit_instrument_free(made);
}

static void what_a_condition_hides_is_dropped_and_so_is_what_hangs_on_it(void **state) {
    (void)state;
    static const struct {
        const char *given, *expected;
    } cases[] = {
        /* nothing above 1: the last questions are hidden, and answers to them are dropped */
        { "1,1,0,0,0,0,0,0,3,much,5,2026-01-02,fine", "1,1,0,0,0,0,0,0,3,,,,fine,2" },
        { "2,0,0,0,0,0,0,0,3,much,5,2026-01-02,fine", "2,0,0,0,0,0,0,0,3,much,5,2026-01-02,fine,2" },
        { "2,0,0,0,0,0,0,0,3,some,5,2026-01-02,", "2,0,0,0,0,0,0,0,3,some,,,,2" },
        /* not answered: R's logic; NA | TRUE holds, NA | FALSE does not */
        { ",2,0,0,0,0,0,0,3,no,,,", ",2,0,0,0,0,0,0,3,no,,,,2.25" },
        { ",0,0,0,0,0,0,0,3,no,,,", ",0,0,0,0,0,0,0,3,,,,,0" },
    };
    tacit_instrument *made = example();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[512];
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(fill_in(made, cases[i].given, out, sizeof out, &error), error);
        assert_string_equal(out, cases[i].expected);
    }
    tacit_instrument_free(made);
}

static void an_answer_that_does_not_fit_is_refused_with_what_may_stand_there(void **state) {
    (void)state;
    static const struct {
        const char *given, *says;
    } cases[] = {
        { "4", "'4' is no answer to 'flat': give a whole number from 0 to 3" },
        { "1.5", "whole number" },
        { "two", "'two' is no answer to 'flat'" },
        { "2,,,,,,,,,never", "'never' is no choice of 'coped'" },
        { "2,,,,,,,,,much,15", "from 0 to 14" },
        { "2,,,,,,,,,much,,1999-12-31", "from 2000-01-01 to 2099-12-31" },
        { "2,,,,,,,,,,,,\xff", "UTF-8" },
    };
    tacit_instrument *made = example();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[512];
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(fill_in(made, cases[i].given, out, sizeof out, &error), TACIT_USAGE);
        if (strstr(error.text, cases[i].says) == NULL)
            fail_msg("'%s' has no '%s'", error.text, cases[i].says);
    }
    tacit_instrument_free(made);
}

static void texts_come_in_the_language_asked_for_or_the_first(void **state) {
    (void)state;
    tacit_instrument *made = example();
    assert_string_equal(tacit_said_in(made, &made->title, "de"), "Die letzten zwei Wochen");
    assert_string_equal(tacit_said_in(made, &made->title, "fr"), "The last two weeks");
    assert_string_equal(tacit_said_in(made, &made->items[0].says[3], "de"), "an jedem Tag");
    assert_int_equal(made->prompt_days, 14);
    tacit_instrument_free(made);
}

#define HEAD "instrument: a\nversion: 1\nlicence: CC0-1.0\nlanguages: [en]\ntitle: A\nitems:\n"
#define ITEM "  - {name: x, kind: scale, ask: X?, from: 0, to: 3}\n"

static void what_is_wrong_is_named_with_its_line_and_remedy(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "is empty" },
        { "instrument: a\n", "f:1: the questionnaire has no 'version': add it" },
        { HEAD "  - {name: x, kind: slider, ask: X?}\n", "f:7: 'kind' is one of scale" },
        { HEAD "  - {name: 1x, kind: text, ask: X?}\n", "f:7: 'name' must be letters" },
        { HEAD "  - {name: x, kind: text, ask: X?, low: 3}\n",
          "'low' does not go with kind text: leave it out" },
        { HEAD "  - {name: x, kind: scale, ask: X?, from: 0}\n", "a scale has no 'to': add it" },
        { HEAD "  - {name: x, kind: scale, ask: X?, from: 3, to: 3}\n", "whole number from 4" },
        { HEAD "  - {name: x, kind: scale, ask: X?, from: 0, to: 2, labels: [a, b]}\n",
          "3 points and 'labels' 2" },
        { HEAD "  - {name: x, kind: number, ask: X?, low: 2, high: 1}\n", "'low' must be below 'high'" },
        { HEAD ITEM ITEM, "f:8: there are two items 'x': rename one" },
        { HEAD "  - {name: x, kind: text, ask: X?, show_if: y > 1}\n", "'show_if' of 'x'" },
        { HEAD "  - {name: x, kind: text, ask: X?, show_if: y > 1}\n  - {name: y, kind: scale, ask: Y?, "
               "from: 0, to: 3}\n",
          "'y', which comes later" },
        { HEAD ITEM "scores:\n  - {name: s, how: sum, of: [z]}\n", "f:9: there is no item 'z'" },
        { HEAD ITEM "scores:\n  - {name: x, how: sum, of: [x]}\n", "'x' is an item or a score already" },
        { HEAD ITEM "scores:\n  - {name: s, how: max, of: [x]}\n", "'how' is sum or mean" },
        { HEAD ITEM "scores:\n  - {name: s, how: sum, of: [x], least_answered: 2}\n", "from 1 to 1" },
        { HEAD ITEM "prompt: sometimes\n", "'prompt' is once, daily" },
        { HEAD ITEM "colour: red\n", "f:8: unknown key 'colour'" },
        { "instrument: a\nversion: 1\nlicence: x\nlanguages: [en, de]\ntitle: A\nitems:\n" ITEM,
          "f:5: 'title' needs a text for each language" },
        { "instrument: a\nversion: 1\nlicence: x\nlanguages: [en, de]\ntitle: {en: A}\nitems:\n" ITEM,
          "no text in 'de': add it" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_instrument *made = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_instrument_parse(&made, cases[i].text, strlen(cases[i].text), "f", &error),
                         TACIT_INPUT);
        if (strstr(error.text, cases[i].says) == NULL)
            fail_msg("'%s' has no '%s'", error.text, cases[i].says);
    }
}

static void a_signature_holds_for_the_very_text_and_names_its_key(void **state) {
    (void)state;
    tacit_buffer text = TACIT_BUFFER_INIT, signed_text = TACIT_BUFFER_INIT, again = TACIT_BUFFER_INIT;
    uint8_t seed[TACIT_INSTRUMENT_KEY], other[TACIT_INSTRUMENT_KEY];
    tacit_instrument *plain = load_example(&text), *made = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    memset(seed, 1, sizeof seed);
    memset(other, 2, sizeof other);
    assert_false(plain->is_signed);
    CHECK_OK(tacit_instrument_sign(&signed_text, tacit_buffer_text(&text), text.length, seed, &error), error);
    CHECK_OK(tacit_instrument_parse(&made, tacit_buffer_text(&signed_text), signed_text.length, "f", &error),
             error);
    assert_true(made->is_signed);
    assert_memory_equal(made->hash, plain->hash, sizeof made->hash);
    /* by somebody else: in place of the first line, not after it */
    CHECK_OK(
        tacit_instrument_sign(&again, tacit_buffer_text(&signed_text), signed_text.length, other, &error),
        error);
    assert_int_equal(again.length, signed_text.length);
    made = tacit_instrument_free(made);
    for (size_t at = 0; at < signed_text.length; at += 97) { /* any change but of a comment's blanks */
        char *byte = (char *)signed_text.bytes + at, before = *byte;
        *byte = before == 'e' ? 'a' : 'e';
        tacit_status status =
            tacit_instrument_parse(&made, tacit_buffer_text(&signed_text), signed_text.length, "f", NULL);
        assert_true(status == TACIT_REFUSED || status == TACIT_INPUT);
        *byte = before;
    }
    tacit_instrument_free(plain);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&signed_text);
    tacit_buffer_clear(&again);
}

static void its_schema_is_one_that_studies_read_with_bounds_of_its_own(void **state) {
    (void)state;
    tacit_instrument *made = example();
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_instrument_schema(&text, made, "burden", &error), error);
    CHECK_OK(tacit_schema_parse(&schema, tacit_buffer_text(&text), text.length, "schema", &error), error);
    assert_non_null(
        strstr(tacit_buffer_text(&text), "label: {name: burden, kind: number, low: 0, high: 27}"));
    assert_non_null(
        strstr(tacit_buffer_text(&text), "{name: coped, kind: category, levels: ['no', 'some', 'much']}"));
    tacit_schema_free(schema);
    assert_int_equal(tacit_instrument_schema(&text, made, "note", &error), TACIT_USAGE);
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_instrument_schema(&text, made, "nothing", &error), TACIT_USAGE);
    tacit_buffer_clear(&text);
    tacit_instrument_free(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_worked_out_by_hand),
        cmocka_unit_test(what_a_condition_hides_is_dropped_and_so_is_what_hangs_on_it),
        cmocka_unit_test(an_answer_that_does_not_fit_is_refused_with_what_may_stand_there),
        cmocka_unit_test(texts_come_in_the_language_asked_for_or_the_first),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line_and_remedy),
        cmocka_unit_test(a_signature_holds_for_the_very_text_and_names_its_key),
        cmocka_unit_test(its_schema_is_one_that_studies_read_with_bounds_of_its_own),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
