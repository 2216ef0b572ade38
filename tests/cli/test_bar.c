#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cli/bar.h"

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
    assert_string_equal(written(&all), "trials: 8 of 120, 14 s left\n"
                                       "trials: 48 of 120, 9 s left\n"
                                       "trials: 88 of 120, 4 s left\n"
                                       "trials: 120 of 120\n");
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
        cmocka_unit_test(silence_is_kept),
        cmocka_unit_test(threads_may_report_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
