#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cli/print/bar.h"

static double time_now;
static double test_clock(void) { return time_now; }

typedef struct stage_setting {
    tacit_bar bar;
    char *text;
    size_t size;
} stage_setting;

static void open_bar(stage_setting *all, bool terminal) {
    time_now = 100;
    all->text = NULL;
    tacit_bar_open(&all->bar, open_memstream(&all->text, &all->size), terminal, 60);
    all->bar.clock = test_clock;
}

/* What has been written so far. */
static const char *written(stage_setting *all) {
    fflush(all->bar.out);
    return all->text;
}

static void close_bar(stage_setting *all) {
    tacit_bar_close(&all->bar);
    fclose(all->bar.out);
    free(all->text);
}

static void short_work_shows_nothing(void **state) {
    (void)state;
    for (int terminal = 0; terminal < 2; terminal++) {
        stage_setting all;
        open_bar(&all, terminal);
        for (uint64_t i = 0; i <= 9; i++, time_now += 0.1) tacit_bar_report(&all.bar, "trials", i, 9);
        assert_string_equal(written(&all), "");
        close_bar(&all);
    }
}

static void a_log_gets_a_line_now_and_then(void **state) {
    (void)state;
    stage_setting all;
    open_bar(&all, false);
    for (uint64_t i = 0; i <= 120; i++, time_now += 0.125) tacit_bar_report(&all.bar, "trials", i, 120);
    assert_string_equal(written(&all), "trials: 6.7 %, 14 s left\n"
                                       "trials: 40.0 %, 9 s left\n"
                                       "trials: 73.3 %, 4 s left\n"
                                       "trials: 100.0 %\n");
    time_now += 1;
    tacit_bar_report(&all.bar, "writing", 0, 0);
    assert_non_null(strstr(written(&all), "\nwriting: 0\n"));
    close_bar(&all);
}

static void a_terminal_gets_a_bar_that_goes_away(void **state) {
    (void)state;
    stage_setting all;
    open_bar(&all, true);
    tacit_bar_report(&all.bar, "fit", 0, 100);
    time_now += 10;
    tacit_bar_report(&all.bar, "fit", 50, 100);
    assert_string_equal(written(&all), "\r\033[Kfit [###############...............]  50 %, 10 s left");
    time_now += 0.01;
    tacit_bar_report(&all.bar, "fit", 51, 100);
    tacit_bar_pause(&all.bar);
    fputs("a line\n", all.bar.out);
    tacit_bar_resume(&all.bar);
    assert_non_null(strstr(written(&all), "10 s left\r\033[Ka line\n"));
    tacit_bar_report(&all.bar, "fit", 200, 100);
    assert_non_null(strstr(written(&all), "a line\n\r\033[Kfit [##############################] 100 %"));
    close_bar(&all);
}

/* The time left in the last line written, in seconds; -1 when it says none. */
static double last_left(stage_setting *all) {
    const char *text = written(all), *found = NULL;
    for (const char *at = text; (at = strstr(at, ", ")) != NULL; at += 2) found = at + 2;
    if (found == NULL) return -1;
    double amount = strtod(found, NULL);
    return strstr(found, " min left") != NULL ? 60 * amount
           : strstr(found, " h left") != NULL ? 3600 * amount
                                              : amount;
}

/* A sweep: stages of one length, the first tenth ten times as slow as the rest. Nothing is said in the first
 * second; what is said then never jumps, and is nearly right once half is done. */
static void the_time_left_of_a_sweep_does_not_jump(void **state) {
    (void)state;
    stage_setting all;
    open_bar(&all, true);
    double end = 100 + 100 * 1.0 + 900 * 0.1, before = -1, before_at = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        time_now += i < 100 ? 1.0 : 0.1;
        tacit_bar_report(&all.bar, i < 100 ? "first" : i < 500 ? "second" : "third", i, 1000);
        double left = last_left(&all);
        if (time_now < 101) assert_true(left < 0);
        if (before >= 0 && left >= 0) {
            double expected = fmax(before - (time_now - before_at), 0);
            assert_true(fabs(left - expected) <= 61 + 0.35 * expected);
            if (i > 100) assert_true(left <= before + 60); /* it only shrinks as things get faster */
        }
        if (i == 700) CHECK_NEAR(left, end - time_now, 0.25 * (end - time_now));
        before = left;
        before_at = time_now;
    }
    close_bar(&all);
}

static void another_task_is_reckoned_afresh(void **state) {
    (void)state;
    stage_setting all;
    open_bar(&all, false);
    for (uint64_t i = 0; i <= 100; i++, time_now += 1) tacit_bar_report(&all.bar, "slow", i, 1000);
    for (uint64_t i = 0; i <= 40; i++, time_now += 0.25) tacit_bar_report(&all.bar, "quick", i, 80);
    CHECK_NEAR(last_left(&all), 10.0, 2.0);
    close_bar(&all);
}

static void silence_is_kept(void **state) {
    (void)state;
    stage_setting all;
    open_bar(&all, false);
    all.bar.silent = true;
    for (uint64_t i = 0; i < 100; i++, time_now += 1) tacit_bar_report(&all.bar, "trials", i, 100);
    assert_string_equal(written(&all), "");
    close_bar(&all);
}

static void *report_often(void *context) {
    tacit_bar *bar = context;
    for (uint64_t i = 0; i < 2000; i++) tacit_bar_report(bar, "threads", i, 2000);
    return NULL;
}

static void threads_may_report_at_once(void **state) {
    (void)state;
    stage_setting all;
    open_bar(&all, false);
    tacit_bar_report(&all.bar, "threads", 0, 2000);
    time_now += 2;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, report_often, &all.bar), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(strncmp(written(&all), "threads: ", 9), 0);
    assert_ptr_equal(strchr(all.text, '\n'), strrchr(all.text, '\n'));
    close_bar(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_work_shows_nothing),
        cmocka_unit_test(a_log_gets_a_line_now_and_then),
        cmocka_unit_test(a_terminal_gets_a_bar_that_goes_away),
        cmocka_unit_test(the_time_left_of_a_sweep_does_not_jump),
        cmocka_unit_test(another_task_is_reckoned_afresh),
        cmocka_unit_test(silence_is_kept),
        cmocka_unit_test(threads_may_report_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
