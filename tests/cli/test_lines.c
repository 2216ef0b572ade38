/* Lines that nobody reads: they are dropped and counted, and nothing waits for them. */
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/console.h"

enum { MANY = 5000 };

/* All that is there now. */
static char *drain(int file) {
    size_t used = 0, room = 1 << 20;
    char *text = calloc(1, room + 1);
    assert_non_null(text);
    assert_int_equal(fcntl(file, F_SETFL, O_NONBLOCK), 0);
    for (ssize_t got; used < room && (got = read(file, text + used, room - used)) > 0;) used += (size_t)got;
    return text;
}

static size_t count_lines(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) count++;
    return count;
}

/* With a reader that stands still, and then goes on. `ends`: to read from, to write to. */
static void notify_nobody(const int ends[2], const char *logs) {
    tacit_console console;
    FILE *out = fopen("/dev/null", "w"), *err = fdopen(ends[1], "w");
    assert_true(out != NULL && err != NULL);
    tacit_console_open(&console, out, err, NULL);
    console.serves = true;
    console.logs = logs;
    for (int i = 0; i < MANY; i++)
        tacit_console_note(&console, "line %04d, of some hundred bytes: %080d", i, 0);
    unsigned long dropped = console.lines.dropped;
    assert_true(dropped > 0 && dropped < MANY);
    char *first = drain(ends[0]);
    tacit_console_note(&console, "here again");
    char *second = drain(ends[0]), expected[80];
    snprintf(expected, sizeof expected, "%lu lines were dropped here", dropped);
    assert_int_equal(count_lines(first, "line 0"), count_lines(first, "\n"));
    assert_true(count_lines(first, "of some hundred bytes") + dropped >= MANY);
    assert_non_null(strstr(second, expected));
    assert_non_null(strstr(second, "here again"));
    assert_int_equal(console.lines.dropped, 0);
    tacit_console_close(&console);
    fclose(err);
    fclose(out);
    free(first);
    free(second);
}

static void a_full_pipe_stops_nobody(void **state) {
    (void)state;
    for (int json = 0; json < 2; json++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        notify_nobody(ends, json != 0 ? "coordinator" : NULL);
        close(ends[0]);
    }
}

static void a_full_socket_stops_nobody(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    notify_nobody(ends, NULL);
    close(ends[0]);
}

static void a_line_that_was_cut_off_gets_its_end(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    tacit_lines lines = { .file = ends[1], .halved = true, .dropped = 1 };
    tacit_lines_write(&lines, "whole\n", 6);
    char *text = drain(ends[0]);
    assert_string_equal(text, "\nwhole\n");
    assert_true(!lines.halved && lines.dropped == 0);
    free(text);
    close(ends[0]);
    close(ends[1]);
}

static void a_reader_that_is_gone_is_no_reader(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[0]);
    tacit_lines lines = { .file = ends[1] };
    tacit_lines_write(&lines, "whole\n", 6);
    assert_int_equal(lines.dropped, 1);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_pipe_stops_nobody),
        cmocka_unit_test(a_full_socket_stops_nobody),
        cmocka_unit_test(a_line_that_was_cut_off_gets_its_end),
        cmocka_unit_test(a_reader_that_is_gone_is_no_reader),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
