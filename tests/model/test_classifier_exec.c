/* A program as a classifier: it gets what the protocol says, and whatever it does instead of answering ends
 * in one sentence, in time. Programs are scripts for sh, run without a shell's help. */
#include "classes.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>

#include "base/file.h"
#include "folder.h"

enum { FEATURES = 3 };

typedef struct world {
    folder folder;
    classes_set rows, points;
    tacit_training training;
} world;

static int open_world(void **state) {
    world *w = calloc(1, sizeof *w);
    w->folder = folder_make();
    w->rows = classes_clouds(8, FEATURES, 2, 0.2, 51);
    w->points = classes_clouds(6, FEATURES, 2, 0.2, 52);
    w->training = classes_training();
    *state = w;
    return 0;
}

static int close_world(void **state) {
    world *w = *state;
    folder_remove(&w->folder);
    classes_clear(&w->rows);
    classes_clear(&w->points);
    free(w);
    return 0;
}

static void path_in(const world *w, const char *name, char out[128]) {
    snprintf(out, 128, "%s/%s", w->folder.path, name);
}

/* Write a script; `kind` receives the classifier that runs it. */
static void script(const world *w, const char *text, char kind[256]) {
    tacit_error error = TACIT_ERROR_INIT;
    char path[128];
    path_in(w, "m.sh", path);
    CHECK_OK(tacit_file_write(path, text, strlen(text), 0600, &error), error);
    snprintf(kind, 256, "exec:/bin/sh %s", path);
}

static tacit_status run_on(const world *w, const char *kind, const tacit_rows *points, int32_t *labels,
                           tacit_error *error) {
    tacit_view rows = classes_view(&w->rows, false);
    tacit_classifier *classifier = NULL;
    tacit_error problem = TACIT_ERROR_INIT;
    CHECK_OK(tacit_classifier_train(&classifier, kind, &rows, &w->training, &problem), problem);
    tacit_status status = tacit_classifier_predict(classifier, points, labels, error);
    tacit_classifier_free(classifier);
    return status;
}

/* The script must answer the six points with these labels. */
static void answers(const world *w, const char *text, const int32_t expected[6]) {
    char kind[256];
    int32_t labels[6];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_rows points = tacit_rows_of_matrix(&w->points.dense);
    script(w, text, kind);
    CHECK_OK(run_on(w, kind, &points, labels, &error), error);
    assert_memory_equal(labels, expected, sizeof labels);
}

/* The script's answer must be refused with these words, and the labels left alone. */
static void refuses(const world *w, const char *text, const char *says) {
    char kind[256];
    int32_t labels[6] = { -7, -7, -7, -7, -7, -7 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_rows points = tacit_rows_of_matrix(&w->points.dense);
    script(w, text, kind);
    tacit_status status = run_on(w, kind, &points, labels, &error);
    if (status != TACIT_INPUT || strstr(error.text, says) == NULL)
        fail_msg("%s\nexpected '%s', got %s: %s", text, says, tacit_status_name(status), error.text);
    assert_null(strchr(error.text, '\n'));
    for (size_t i = 0; i < 6; i++) assert_int_equal(labels[i], -7);
}

static const int32_t alternating[6] = { 0, 1, 0, 1, 0, 1 };

/* ---- what a program gets ---- */

static void rows_and_points_arrive_as_the_protocol_says(void **state) {
    const world *w = *state;
    char command[512], path[128];
    tacit_buffer text = TACIT_BUFFER_LIMITED(1 << 16);
    tacit_error error = TACIT_ERROR_INIT;
    path_in(w, "got", path);
    snprintf(command, sizeof command,
             "cat > %s\necho \"$TACIT_CLASSES $TACIT_FEATURES $TACIT_ROWS $TACIT_POINTS\" >> %s\n"
             "for i in 0 1 0 1 0 1; do echo $i; done\n",
             path, path);
    answers(w, command, alternating);
    CHECK_OK(tacit_file_read(path, &text, &error), error);
    const char *at = tacit_buffer_text(&text);
    const classes_set *const sets[] = { &w->rows, &w->points };
    static const char *const headers[] = { "x1,x2,x3,label\n", "\nx1,x2,x3\n" };
    for (size_t s = 0; s < 2; s++) {
        assert_memory_equal(at, headers[s], strlen(headers[s]));
        at += strlen(headers[s]);
        for (size_t i = 0; i < sets[s]->dense.rows; i++) {
            for (size_t j = 0; j < FEATURES; j++) {
                char *end;
                assert_true(strtod(at, &end) ==
                            sets[s]->dense.values[i * FEATURES + j]); /* to the last bit */
                at = end;
                if (j + 1 < FEATURES) assert_int_equal(*at++, ',');
            }
            if (s == 0) assert_int_equal(at[1] - '0', w->rows.label[i]);
            at += s == 0 ? 2 : 0;
            assert_int_equal(*at++, '\n');
        }
    }
    assert_string_equal(at, "2 3 8 6\n");
    tacit_buffer_clear(&text);
}

/* The label of the nearest center would do; here it is the sign of the first feature, worked out by the
 * program. */
static void a_program_may_work_line_by_line_on_many_points(void **state) {
    world *w = *state;
    enum { MANY = 20000 };
    classes_set many = classes_clouds(MANY, FEATURES, 2, 0.2, 53);
    tacit_rows points = tacit_rows_of_csr(&many.sparse);
    int32_t *labels = calloc(MANY, sizeof *labels);
    char kind[256];
    tacit_error error = TACIT_ERROR_INIT;
    script(w, "awk -F, 'points && NR > points { print ($1 > 0) ? 1 : 0 } /^$/ { points = NR + 1 }'", kind);
    CHECK_OK(run_on(w, kind, &points, labels, &error), error);
    for (size_t i = 0; i < MANY; i++) assert_int_equal(labels[i], many.dense.values[i * FEATURES] > 0);
    free(labels);
    classes_clear(&many);
}

/* Variables and open files of ours are none of its business. */
static void a_program_sees_little_of_us(void **state) {
    const world *w = *state;
    char path[128], command[256];
    path_in(w, "secret", path);
    int open_file = open(path, O_RDWR | O_CREAT, 0600); /* not close-on-exec */
    setenv("TACIT_TEST_SECRET", "hush", 1);
    snprintf(command, sizeof command,
             "[ -z \"$TACIT_TEST_SECRET\" ] && [ ! -e /proc/$$/fd/%d ] && [ -n \"$PATH\" ] || exit 9\n"
             "for i in 0 1 0 1 0 1; do echo $i; done\n",
             open_file);
    answers(w, command, alternating);
    unsetenv("TACIT_TEST_SECRET");
    close(open_file);
}

static void words_are_parted_without_a_shell(void **state) {
    const world *w = *state;
    tacit_rows points = tacit_rows_of_matrix(&w->points.dense);
    int32_t labels[6];
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(run_on(w, "exec:  sh -c 'for i in 0 1 \"$0\" 1 0 1; do echo $i; done'\t\"0\" ", &points, labels,
                    &error),
             error);
    assert_memory_equal(labels, alternating, sizeof labels);
    assert_int_equal(run_on(w, "exec:echo $HOME; echo 0", &points, labels, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "printed 1 lines for 6 points"));
}

static void labels_may_be_written_in_several_ways(void **state) {
    const world *w = *state;
    answers(w, "printf '0\\n1\\n0\\n1\\n0\\n1'", alternating);
    answers(w, "printf '0.0\\r\\n1\\r\\n 0 \\n1e0\\n0\\n01\\n'", alternating);
}

/* ---- what goes wrong ---- */

static void wrong_answers_are_told(void **state) {
    const world *w = *state;
    refuses(w, "true", "printed 0 lines for 6 points");
    refuses(w, "echo 1; echo 0", "printed 2 lines for 6 points");
    refuses(w, "for i in 1 2 3 4 5 6 7; do echo 1; done", "printed 7 lines for 6 points");
    refuses(w, "for i in 1 0 1 banana 0 0; do echo $i; done", "line 4 that");
    refuses(w, "for i in 1 0 1 banana 0 0; do echo $i; done", "'banana', not a class from 0 to 1");
    refuses(w, "for i in 1 0 1 0 2 0; do echo $i; done", "is '2', not a class");
    refuses(w, "for i in 1 0 1 0 -1 0; do echo $i; done", "is '-1', not a class");
    refuses(w, "for i in 1 0 0.5 0 1 0; do echo $i; done", "is '0.5', not a class");
    refuses(w, "for i in 1 0 nan 0 1 0; do echo $i; done", "is 'nan', not a class");
    refuses(w, "printf '1\\n\\n1\\n1\\n1\\n1\\n'", "is '', not a class");
    refuses(w, "printf '1\\n1\\0\\n1\\n1\\n1\\n1\\n'", "not a class");
}

static void failures_are_told_with_the_programs_own_words(void **state) {
    const world *w = *state;
    refuses(w, "for i in 0 1 0 1 0 1; do echo $i; done; exit 3", "ended with exit code 3");
    refuses(w, "echo 'no such module' >&2; echo 'more' >&2; exit 1", "exit code 1: no such module ... more");
    refuses(w, "printf 'bad\\033[2J\\n' >&2; exit 1", "exit code 1: bad?[2J");
    refuses(w, "kill -SEGV $$", "was ended by signal 11");
    refuses(w, "head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 7", "ended with exit code 7: xxx");
}

/* Where the system takes exit codes away, no answer is trusted, and nothing waits for ever. */
static void an_exit_code_that_is_lost_is_told(void **state) {
    const world *w = *state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    refuses(w, "for i in 0 1 0 1 0 1; do echo $i; done", "do not ignore SIGCHLD");
    signal(SIGCHLD, before);
}

static void a_missing_program_is_told(void **state) {
    const world *w = *state;
    tacit_rows points = tacit_rows_of_matrix(&w->points.dense);
    int32_t labels[6];
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(run_on(w, "exec:/nowhere/m.py --fast", &points, labels, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "'/nowhere/m.py --fast' cannot be run: No such file"));
}

static void a_program_that_does_not_read_may_still_answer(void **state) {
    world *w = *state;
    enum { MANY = 30000 }; /* more than a pipe holds */
    classes_set many = classes_clouds(MANY, FEATURES, 2, 0.2, 54);
    tacit_rows points = tacit_rows_of_matrix(&many.dense);
    int32_t *labels = calloc(MANY, sizeof *labels);
    char kind[256];
    sigset_t before, after, pending;
    tacit_error error = TACIT_ERROR_INIT;
    script(w, "exec <&-\nyes 1 | head -n $TACIT_POINTS", kind);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    CHECK_OK(run_on(w, kind, &points, labels, &error), error); /* and no SIGPIPE ended us */
    for (size_t i = 0; i < MANY; i++) assert_int_equal(labels[i], 1);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    sigpending(&pending);
    assert_int_equal(sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
    assert_false(sigismember(&pending, SIGPIPE));
    free(labels);
    classes_clear(&many);
}

static void a_flood_is_stopped(void **state) {
    const world *w = *state;
    refuses(w, "yes 1", "printed more than");
    refuses(w, "exec yes 1", "printed more than");
}

/* The lock is free again only when everybody who held its file is gone. */
static void a_program_that_never_ends_is_killed_with_its_children(void **state) {
    world *w = *state;
    static const char *const scripts[] = {
        "cat > /dev/null; sleep 1000 & sleep 1000",
        "exec > /dev/null; sleep 1000",                       /* closes its output */
        "trap '' TERM INT HUP; sleep 1000",                   /* wants to stay */
        "for i in 0 1 0 1 0 1; do echo $i; done; sleep 1000", /* after its answer */
        "yes >&2",
    };
    char path[128], command[512];
    path_in(w, "lock", path);
    w->training.exec_seconds = 0.3;
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        snprintf(command, sizeof command, "exec 9> %s; flock 9; %s", path, scripts[i]);
        refuses(w, command, "did not finish within 0.3 seconds and was stopped");
        int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(flock(lock, LOCK_EX), 0);
        close(lock);
    }
}

/* A child that keeps the pipes open does not keep us: the program's end counts, and the child goes too. */
static void a_child_that_holds_the_pipes_is_not_waited_for(void **state) {
    const world *w = *state;
    char path[128], command[512];
    path_in(w, "lock", path);
    snprintf(command, sizeof command,
             "exec 9> %s; flock 9; sleep 1000 & for i in 0 1 0 1 0 1; do echo $i; done", path);
    answers(w, command, alternating);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    close(lock);
}

/* ---- several at once ---- */

typedef struct crowd {
    const world *world;
    const char *kind;
} crowd;

static tacit_status one_of_crowd(void *context, size_t begin, size_t end, unsigned worker,
                                 tacit_error *error) {
    (void)worker;
    const crowd *c = context;
    tacit_view rows = classes_view(&c->world->rows, false);
    tacit_rows points = tacit_rows_of_matrix(&c->world->points.dense);
    for (size_t i = begin; i < end; i++) {
        tacit_classifier *classifier = NULL;
        int32_t labels[6];
        TACIT_TRY(tacit_classifier_train(&classifier, c->kind, &rows, &c->world->training, error));
        tacit_status status = tacit_classifier_predict(classifier, &points, labels, error);
        tacit_classifier_free(classifier);
        TACIT_TRY(status);
        if (memcmp(labels, alternating, sizeof labels) != 0)
            return tacit_fail(error, TACIT_INTERNAL, "labels of another program");
    }
    return TACIT_OK;
}

static void programs_run_side_by_side(void **state) {
    world *w = *state;
    char kind[256];
    tacit_pool *pool = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    script(w, "cat > /dev/null; for i in 0 1 0 1 0 1; do echo $i; done", kind);
    crowd c = { w, kind };
    CHECK_OK(tacit_pool_create(&pool, 4, &error), error);
    CHECK_OK(tacit_pool_for(pool, 40, 1, one_of_crowd, &c, &error), error);
    tacit_pool_free(pool);
}

/* ---- lists that mean the same elsewhere ---- */

static void relative_files_of_a_command_become_absolute(void **state) {
    const world *w = *state;
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    char kind[256], expected[512], *here = getcwd(NULL, 0), *there = realpath(w->folder.path, NULL);
    script(w, "true", kind);
    assert_int_equal(chdir(w->folder.path), 0);
    CHECK_OK(tacit_classifier_settle("tree,exec:./m.sh a/b 'two words' m.sh,knn:3,exec:python3 ./m.sh", &out,
                                     &error),
             error);
    assert_int_equal(chdir(here), 0);
    snprintf(expected, sizeof expected, "tree,exec:%s/m.sh a/b \"two words\" m.sh,knn:3,exec:python3 %s/m.sh",
             there, there);
    assert_string_equal(tacit_buffer_text(&out), expected);
    CHECK_OK(tacit_classifier_check(tacit_buffer_text(&out), true, &error), error);
    assert_int_equal(tacit_classifier_settle("oak", &out, &error), TACIT_USAGE);
    tacit_buffer_clear(&out);
    free(here);
    free(there);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(rows_and_points_arrive_as_the_protocol_says),
        TEST(a_program_may_work_line_by_line_on_many_points),
        TEST(a_program_sees_little_of_us),
        TEST(words_are_parted_without_a_shell),
        TEST(labels_may_be_written_in_several_ways),
        TEST(wrong_answers_are_told),
        TEST(failures_are_told_with_the_programs_own_words),
        TEST(an_exit_code_that_is_lost_is_told),
        TEST(a_missing_program_is_told),
        TEST(a_program_that_does_not_read_may_still_answer),
        TEST(a_flood_is_stopped),
        TEST(a_program_that_never_ends_is_killed_with_its_children),
        TEST(a_child_that_holds_the_pipes_is_not_waited_for),
        TEST(programs_run_side_by_side),
        TEST(relative_files_of_a_command_become_absolute),
    };
    return cmocka_run_group_tests_name("classifier exec", tests, NULL, NULL);
}
