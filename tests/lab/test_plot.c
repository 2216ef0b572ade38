/* Charts: what they hold, that labels do not collide, and that odd input gives a chart nonetheless. With the
 * name of a case as argument the program prints that chart, for a real XML parser (plot_xml.py). */
#include "check.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "lab/plot/plot_parts.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const tacit_plot_point falling[] = {
    { 0, 0.8, 0.01 }, { 0.1, 0.75, 0.02 }, { 1, 0.6, 0.05 }, { 10, 0.3, 0.1 }
};
static const tacit_plot_point level[] = { { 0, 0.9, 0 } };
static const tacit_plot_point same[] = { { 0.5, 0.5, 0 }, { 0.5, 0.5, 0 } };
static const tacit_plot_point odd[] = { { 1, (double)NAN, 0 },
                                        { (double)NAN, 1, 0 },
                                        { (double)INFINITY, 0.5, 0 },
                                        { 1, -(double)INFINITY, 1 },
                                        { -1, 0.5, 0 },
                                        { 2, 0.25, (double)NAN },
                                        { 1e300, 0.5, 0 },
                                        { 4, 0.5, (double)INFINITY } };

static const char hostile[] = "<script>alert(\"1\")</script> & 'x' \x01\x1b\xff\xc3 ]]> %s%n é";

static const tacit_plot_series ordinary_series[] = { { "batch", level, 1, true, false },
                                                     { "avg", falling, 4, false, false } };
static const tacit_plot_series one_series[] = { { "one", level, 1, false, false } };
static const tacit_plot_series same_series[] = { { "same", same, 2, false, false } };
static const tacit_plot_series odd_series[] = { { "odd", odd, COUNT(odd), false, false },
                                                { "none", odd, 1, true, false } };
static const tacit_plot_series no_series[] = { { "nothing", NULL, 0, false, false },
                                               { "none", NULL, 0, true, false } };
static const tacit_plot_series hostile_series[] = { { hostile, falling, 4, false, false } };

typedef struct plot_case {
    const char *name;
    const tacit_plot_series *series;
    size_t count, panels;
} plot_case;

static const plot_case cases[] = {
    { "ordinary", ordinary_series, 2, 1 }, { "panels", ordinary_series, 2, 3 },
    { "one", one_series, 1, 1 },           { "same", same_series, 1, 1 },
    { "odd", odd_series, 2, 1 },           { "nothing", no_series, 2, 1 },
    { "hostile", hostile_series, 1, 1 },   { "hostile-panels", hostile_series, 1, 2 },
};

static tacit_status draw(const plot_case *one, bool logarithmic, tacit_buffer *out, tacit_error *error) {
    tacit_plot_panel panels[3];
    bool is_hostile = strncmp(one->name, "hostile", 7) == 0;
    for (size_t i = 0; i < one->panels; i++)
        panels[i] =
            (tacit_plot_panel){ is_hostile ? hostile : "a panel",
                                { .title = is_hostile ? hostile : "1/ε", .is_logarithmic = logarithmic },
                                one->series,
                                one->count };
    tacit_plot plot = { .title = is_hostile ? hostile : "A chart",
                        .note = is_hostile ? hostile : "of a few points",
                        .description = is_hostile ? hostile : NULL,
                        .y = { .title = "accuracy", .is_bounded = true, .least = 0, .most = 1 },
                        .panels = panels,
                        .count = one->panels };
    return tacit_plot_write(&plot, out, error);
}

static size_t occurrences(const char *text, const char *what) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what)) count++;
    return count;
}

static void every_case_draws_and_has_no_number_that_is_none(void **state) {
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++)
        for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
            tacit_buffer out = TACIT_BUFFER_INIT;
            tacit_error error = TACIT_ERROR_INIT;
            CHECK_OK(draw(&cases[c], logarithmic, &out, &error), error);
            const char *text = tacit_buffer_text(&out);
            assert_int_equal(occurrences(text, "<svg "), 1);
            assert_int_equal(occurrences(text, "</svg>\n"), 1);
            assert_int_equal(occurrences(text, "<title"), 1);
            assert_int_equal(occurrences(text, "<desc"), 1);
            assert_int_equal(occurrences(text, "<g>"), cases[c].panels);
            assert_null(strstr(text, "=\"nan"));
            assert_null(strstr(text, "=\"inf"));
            assert_null(strstr(text, "=\"-"));
            assert_null(strstr(text, "<script"));
            tacit_buffer_clear(&out);
        }
}

static void points_bars_lines_and_references_are_drawn(void **state) {
    (void)state;
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(draw(&cases[0], true, &out, &error), error);
    const char *text = tacit_buffer_text(&out);
    assert_int_equal(occurrences(text, "class=\"reference\""), 1);
    assert_int_equal(occurrences(text, "class=\"bar\""), 4 * 3);
    assert_int_equal(occurrences(text, "class=\"series\""), 2);
    assert_int_equal(occurrences(text, "class=\"apart\""), 1); /* from 0 to the logarithmic part */
    assert_int_equal(occurrences(text, "class=\"label\""), 2);
    assert_int_equal(occurrences(text, "<rect x="), 4); /* the second name's mark */
    tacit_buffer_clear(&out);
}

static void values_that_cannot_be_placed_are_skipped(void **state) {
    (void)state;
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(draw(&cases[4], true, &out, &error), error);
    assert_int_equal(occurrences(tacit_buffer_text(&out), "<circle"), 2); /* x = 2 and x = 4 */
    assert_int_equal(occurrences(tacit_buffer_text(&out), "class=\"bar\""), 0);
    assert_int_equal(occurrences(tacit_buffer_text(&out), "class=\"reference\""), 0);
    tacit_buffer_clear(&out);
    CHECK_OK(draw(&cases[5], true, &out, &error), error);
    assert_non_null(strstr(tacit_buffer_text(&out), "no values"));
    tacit_buffer_clear(&out);
}

static void names_cannot_escape(void **state) {
    (void)state;
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    plot_page page = { &out, &error, TACIT_OK };
    plot_put_text(&page, hostile, 0);
    assert_int_equal(page.status, TACIT_OK);
    assert_string_equal(tacit_buffer_text(&out),
                        "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39; "
                        "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD ]]&gt; %s%n é");
    tacit_buffer_clear(&out);
    plot_put_text(&page, "abcdefgh", 5);
    assert_string_equal(tacit_buffer_text(&out), "abcd…");
    tacit_buffer_clear(&out);
    plot_put_text(&page, "\xed\xa0\x80\xc0\x80\xf5\x80\x80\x80\xef\xbf\xbf",
                  0); /* surrogate, overlong, beyond, U+FFFF */
    assert_null(strstr(tacit_buffer_text(&out), "\xed\xa0\x80"));
    assert_null(strstr(tacit_buffer_text(&out), "\xef\xbf\xbf"));
    tacit_buffer_clear(&out);
}

/* Property: apart, inside, in order; and nothing moves that need not. */
static void labels_do_not_collide(void **state) {
    (void)state;
    uint64_t mixer = 1;
    for (int round = 0; round < 200; round++) {
        double wanted[12], place[12];
        size_t count = 1 + (size_t)round % 12;
        for (size_t i = 0; i < count; i++) {
            mixer = mixer * 6364136223846793005u + 1442695040888963407u;
            wanted[i] = place[i] = 300.0 * (double)(mixer >> 11) * 0x1p-53;
        }
        assert_int_equal(plot_spread_out(place, count, 18, 6, 294, NULL), TACIT_OK);
        for (size_t i = 0; i < count; i++) {
            assert_true(place[i] >= 6 && place[i] <= 294);
            for (size_t j = 0; j < i; j++) {
                assert_true(fabs(place[i] - place[j]) >= 18 - 1e-9);
                if (wanted[i] < wanted[j]) assert_true(place[i] < place[j]);
            }
        }
    }
    double free_places[] = { 100, 20, 200 };
    assert_int_equal(plot_spread_out(free_places, 3, 18, 6, 294, NULL), TACIT_OK);
    CHECK_NEAR(free_places[0], 100, 0);
    CHECK_NEAR(free_places[1], 20, 0);
    CHECK_NEAR(free_places[2], 200, 0);
    double equal[] = { 50, 50 };
    assert_int_equal(plot_spread_out(equal, 2, 18, 6, 294, NULL), TACIT_OK);
    CHECK_NEAR(equal[0], 41, 1e-12);
    CHECK_NEAR(equal[1], 59, 1e-12);
}

static void check_ticks(bool logarithmic, double low, double high, const char *expected) {
    tacit_plot_axis axis = { .is_logarithmic = logarithmic };
    plot_scale scale = plot_scale_begin(&axis);
    char all[512] = "";
    plot_scale_add(&scale, low);
    plot_scale_add(&scale, high);
    plot_scale_finish(&scale, &axis, false);
    for (size_t i = 0; i < scale.tick_count; i++) {
        if (i > 0) strcat(all, " ");
        strcat(all, scale.ticks[i].text);
    }
    assert_string_equal(all, expected);
}

static void ticks_are_round_numbers(void **state) {
    (void)state;
    check_ticks(false, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0");
    check_ticks(false, 0.52, 0.58, "0.52 0.54 0.56 0.58");
    check_ticks(false, 0, 12345, "0 2500 5000 7500 10000 12500");
    check_ticks(true, 0.1, 10, "0.1 1 10");
    check_ticks(true, 0.2, 1, "0.2 0.5 1");
    check_ticks(true, 1e-7, 1e7, "10⁻⁷ 10⁻⁵ 0.001 0.1 10 1000 10⁵ 10⁷");
    check_ticks(true, 3, 3, "1 2 5");
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    tacit_buffer first = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(draw(&cases[1], true, &first, &error), error);
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it exists; else nothing changes */
    CHECK_OK(draw(&cases[1], true, &second, &error), error);
    setlocale(LC_ALL, "C");
    assert_string_equal(tacit_buffer_text(&first), tacit_buffer_text(&second));
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
}

static void failed_allocations_and_no_panels_are_reported(void **state) {
    (void)state;
    bool failed = true;
    for (long at = 1; failed; at++) {
        tacit_buffer out = TACIT_BUFFER_INIT;
        fail_allocation(at);
        tacit_status status = draw(&cases[0], true, &out, NULL);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        tacit_buffer_clear(&out);
    }
    tacit_buffer out = TACIT_BUFFER_INIT;
    assert_int_equal(tacit_plot_write(&(tacit_plot){ .title = "x" }, &out, NULL), TACIT_USAGE);
}

static int print_case(const char *name) {
    for (size_t c = 0; c < COUNT(cases); c++) {
        tacit_buffer out = TACIT_BUFFER_INIT;
        if (strcmp(cases[c].name, name) != 0) continue;
        if (draw(&cases[c], true, &out, NULL) != TACIT_OK) return 1;
        fwrite(out.bytes, 1, out.length, stdout);
        tacit_buffer_clear(&out);
        return 0;
    }
    return 2;
}

int main(int count, char **words) {
    if (count == 2) return print_case(words[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_draws_and_has_no_number_that_is_none),
        cmocka_unit_test(points_bars_lines_and_references_are_drawn),
        cmocka_unit_test(values_that_cannot_be_placed_are_skipped),
        cmocka_unit_test(names_cannot_escape),
        cmocka_unit_test(labels_do_not_collide),
        cmocka_unit_test(ticks_are_round_numbers),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(failed_allocations_and_no_panels_are_reported),
    };
    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
