/* Studies through the public header: a coordinator in this process, in its folder, and at its address, with real
 * parties over TLS on loopback. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library.h"

enum { SITES = 3, SITE_ROWS = 60 };

static const char *const names[SITES] = { "Vienna", "Graz", "Linz" };

typedef struct consortium {
    char path[64], folder[128], schema[128];
    tacit_coordinator *coordinator;
    tacit_error error;
} consortium;

/* ---- rows of mixed columns ---- */

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Relapse depends on histology, stage and age, with noise that a generator of its own makes. */
static void write_rows(const char *path, unsigned site) {
    static const char *const kinds[] = { "ductal", "lobular", "other" };
    uint64_t state = 77 + site;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "histology,stage,age,relapse\n");
    for (unsigned i = 0; i < SITE_ROWS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned kind = (unsigned)(state >> 33) % 3, stage = (unsigned)(state >> 40) % 2,
                 age = 30 + (unsigned)(state >> 45) % 50, luck = (unsigned)(state >> 52) % 100;
        fprintf(file, "%s,%s,%u,%s\n", kinds[kind], stage ? "II" : "I", age,
                age + 20 * stage + 10 * kind + luck > 130 ? "yes" : "no");
    }
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state) {
    consortium *self = calloc(1, sizeof *self);
    char path[256];
    assert_non_null(self);
    snprintf(self->path, sizeof self->path, "/tmp/tacit-studies-XXXXXX");
    assert_non_null(mkdtemp(self->path));
    snprintf(self->folder, sizeof self->folder, "%s/consortium", self->path);
    snprintf(self->schema, sizeof self->schema, "%s/schema.yaml", self->path);
    write_text(self->schema, "label: {name: relapse, classes: [\"no\", \"yes\"]}\ncolumns:\n"
                             "  - {name: histology, kind: category, levels: [ductal, lobular, other]}\n"
                             "  - {name: stage, kind: category, levels: [I, II]}\n"
                             "  - {name: age, kind: number, low: 20, high: 100}\n");
    for (unsigned i = 0; i < SITES; i++) {
        snprintf(path, sizeof path, "%s/%s.csv", self->path, names[i]);
        write_rows(path, i);
    }
    *state = self;
    return 0;
}

static int tear_down(void **state) {
    consortium *self = *state;
    char command[128];
    tacit_coordinator_free(self->coordinator);
    snprintf(command, sizeof command, "rm -rf '%s'", self->path);
    int left = system(command);
    free(self);
    return left;
}

static void start(consortium *self, const char *dashboard) {
    tacit_options *options =
        dashboard != NULL ? OPTIONS("dashboard", dashboard, "name", "Vienna University") : NULL;
    CHECK_OK(tacit_coordinator_start(&self->coordinator, self->folder, options, NULL, &self->error),
             self->error);
    tacit_options_free(options);
}

static char *draft(consortium *self, const char *formula) {
    tacit_options *options = OPTIONS("name", "tumours", "method", "estimate", "formula", formula, "schema",
                                     self->schema, "parties", "3", "lambda", "0", "set", "optimiser=newton");
    char *yaml = NULL;
    CHECK_OK(tacit_study_draft(&yaml, options, &self->error), self->error);
    tacit_options_free(options);
    return yaml;
}

/* ---- parties ---- */

typedef struct site {
    pthread_t thread;
    char home[256], data[256], schema[256];
    char *invitation;
    tacit_status status;
    tacit_error error;
} site;

static void *take_part(void *context) {
    site *self = context;
    tacit_site *party = NULL;
    tacit_options *options = OPTIONS("home", self->home, "data", self->data, "schema", self->schema,
                                     "allow-exact", "yes", "allow-entrusted", "yes");
    self->status = tacit_site_invited(&party, self->invitation, NULL, options, NULL, &self->error);
    if (self->status == TACIT_OK) self->status = tacit_site_accept(party, &self->error);
    if (self->status == TACIT_OK) self->status = tacit_site_answer(NULL, party, &self->error);
    tacit_site_free(party);
    tacit_options_free(options);
    return NULL;
}

/* The text behind "key": in a document, up to the next quote. */
static char *text_of(const char *json, const char *key) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\"", key);
    const char *at = strstr(json, wanted);
    assert_non_null(at);
    at = strchr(at + strlen(wanted), '"');
    assert_non_null(at);
    const char *end = strchr(at + 1, '"');
    return strndup(at + 1, (size_t)(end - at - 1));
}

static void begin(consortium *self, tacit_coordinator *by, site *sites) {
    for (unsigned i = 0; i < SITES; i++) {
        tacit_options *options = OPTIONS("for", names[i]);
        char *json = NULL;
        CHECK_OK(tacit_study_invite(&json, by, "tumours", options, &self->error), self->error);
        sites[i] = (site){ .invitation = text_of(json, "invitations"), .error = TACIT_ERROR_INIT };
        snprintf(sites[i].home, sizeof sites[i].home, "%s/home%u", self->path, i);
        snprintf(sites[i].data, sizeof sites[i].data, "%s/%s.csv", self->path, names[i]);
        snprintf(sites[i].schema, sizeof sites[i].schema, "%s", self->schema);
        assert_int_equal(mkdir(sites[i].home, 0700), 0);
        assert_int_equal(pthread_create(&sites[i].thread, NULL, take_part, &sites[i]), 0);
        tacit_string_free(json);
        tacit_options_free(options);
    }
}

static void end(site *sites) {
    for (unsigned i = 0; i < SITES; i++) {
        pthread_join(sites[i].thread, NULL);
        CHECK_OK(sites[i].status, sites[i].error);
        free(sites[i].invitation);
    }
}

typedef struct seen {
    size_t calls;
    char last[32];
    bool enough;
} seen;

static bool changed(void *context, const char *json) {
    seen *self = context;
    char *state = text_of(json, "state");
    self->calls++;
    snprintf(self->last, sizeof self->last, "%s", state);
    free(state);
    return !self->enough;
}

static char *fetch(consortium *self, tacit_coordinator *by, const char *what) {
    void *bytes = NULL;
    size_t length = 0;
    CHECK_OK(tacit_study_fetch(&bytes, &length, by, "tumours", what, &self->error), self->error);
    assert_int_equal(strlen(bytes), length);
    return bytes;
}

static void run_study(consortium *self, tacit_coordinator *by, char **table) {
    seen watched = { .calls = 0 };
    tacit_study_watcher watcher = { .changed = changed, .context = &watched };
    site sites[SITES];
    begin(self, by, sites);
    CHECK_OK(tacit_study_watch(by, "tumours", &watcher, &self->error), self->error);
    assert_string_equal(watched.last, "done");
    assert_true(watched.calls >= 2);
    end(sites);
    *table = fetch(self, by, "table");
}

/* ---- tests ---- */

#define FORMULA "relapse ~ histology * stage + age"

static void a_study_is_run_by_a_coordinator_in_this_process(void **state) {
    consortium *self = *state;
    char *yaml = draft(self, FORMULA), *json = NULL, *table = NULL;
    tacit_model *model = NULL;
    start(self, NULL);
    CHECK_OK(tacit_study_check(&json, self->coordinator, yaml, NULL, &self->error), self->error);
    assert_non_null(strstr(json, "\"hash\""));
    tacit_string_free(json);
    CHECK_OK(tacit_study_add(&json, self->coordinator, yaml, NULL, &self->error), self->error);
    assert_non_null(strstr(json, "recruiting"));
    tacit_string_free(json);
    run_study(self, self->coordinator, &table);
    assert_non_null(strstr(table, "histologylobular:stageII"));
    char *text = fetch(self, self->coordinator, "model"), *card = fetch(self, self->coordinator, "card"),
         *page = fetch(self, self->coordinator, "card.html"),
         *audit = fetch(self, self->coordinator, "audit"), *list = fetch(self, self->coordinator, "list"),
         *rounds = fetch(self, self->coordinator, "rounds");
    CHECK_OK(tacit_model_from_json(&model, text, strlen(text), &self->error), self->error);
    assert_non_null(strstr(card, "Linz"));
    assert_non_null(strstr(page, "<html"));
    assert_non_null(strstr(audit, "\"hash\""));
    assert_non_null(strstr(list, "tumours"));
    assert_non_null(strstr(rounds, "rounds"));
    tacit_model_free(model);
    char *const all[] = { text, card, page, audit, list, rounds, table };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tacit_bytes_free(all[i]);
    tacit_string_free(yaml);
}

static void the_same_study_is_run_through_an_address_and_a_token(void **state) {
    consortium *self = *state;
    char *yaml = draft(self, FORMULA), *json = NULL, *table = NULL;
    tacit_coordinator *remote = NULL;
    start(self, "0");
    tacit_options *wish = OPTIONS("scope", "manage");
    CHECK_OK(tacit_coordinator_token(&json, self->coordinator, wish, &self->error), self->error);
    char *token = text_of(json, "token");
    tacit_string_free(json);
    tacit_options_free(wish);
    CHECK_OK(
        tacit_coordinator_connect(&remote, tacit_coordinator_address(self->coordinator), token, &self->error),
        self->error);
    CHECK_OK(tacit_study_add(NULL, remote, yaml, NULL, &self->error), self->error);
    CHECK_OK(tacit_study_pause(remote, "tumours", &self->error), self->error);
    CHECK_OK(tacit_study_resume(remote, "tumours", &self->error), self->error);
    run_study(self, remote, &table);
    char *own = fetch(self, self->coordinator, "model"), *theirs = fetch(self, remote, "model");
    assert_string_equal(own, theirs);
    assert_int_equal(tacit_coordinator_token(&json, remote, NULL, &self->error), TACIT_USAGE);
    tacit_bytes_free(own);
    tacit_bytes_free(theirs);
    tacit_bytes_free(table);
    tacit_coordinator_free(remote);
    free(token);
    tacit_string_free(yaml);
}

/* One mistake, at the folder and at the address: the same status and the same sentence. */
static void both_say(consortium *self, tacit_coordinator *remote, tacit_status status,
                     tacit_status (*act)(tacit_coordinator *, tacit_error *)) {
    tacit_error here = TACIT_ERROR_INIT, there = TACIT_ERROR_INIT;
    assert_int_equal(act(self->coordinator, &here), status);
    assert_int_equal(act(remote, &there), status);
    assert_string_equal(here.text, there.text);
}

static tacit_status add_nonsense(tacit_coordinator *to, tacit_error *error) {
    return tacit_study_add(NULL, to, "name: x\n", NULL, error);
}
static tacit_status close_unknown(tacit_coordinator *to, tacit_error *error) {
    return tacit_study_close(to, "no such/study", error);
}
static tacit_status resume_draft(tacit_coordinator *to, tacit_error *error) {
    return tacit_study_resume(to, "tumours", error);
}
static tacit_status fetch_early(tacit_coordinator *to, tacit_error *error) {
    void *unused = NULL;
    return tacit_study_fetch(&unused, NULL, to, "tumours", "model", error);
}
static tacit_status fetch_nonsense(tacit_coordinator *to, tacit_error *error) {
    void *unused = NULL;
    return tacit_study_fetch(&unused, NULL, to, "tumours", "close", error);
}
static tacit_status watch_unknown(tacit_coordinator *to, tacit_error *error) {
    const tacit_study_watcher nobody = { .changed = NULL };
    return tacit_study_watch(to, "nowhere", &nobody, error);
}

static void mistakes_are_the_same_at_a_folder_and_at_an_address(void **state) {
    consortium *self = *state;
    char *yaml = draft(self, FORMULA), *json = NULL;
    tacit_coordinator *remote = NULL, *none = NULL;
    start(self, "0");
    tacit_options *wish = OPTIONS("scope", "manage"), *as_draft = OPTIONS("draft", "yes");
    CHECK_OK(tacit_coordinator_token(&json, self->coordinator, wish, &self->error), self->error);
    char *token = text_of(json, "token");
    const char *address = tacit_coordinator_address(self->coordinator);
    CHECK_OK(tacit_coordinator_connect(&remote, address, token, &self->error), self->error);
    CHECK_OK(tacit_study_add(NULL, remote, yaml, as_draft, &self->error), self->error);
    both_say(self, remote, TACIT_INPUT, add_nonsense);
    both_say(self, remote, TACIT_NOT_FOUND, close_unknown);
    both_say(self, remote, TACIT_USAGE, resume_draft);
    both_say(self, remote, TACIT_NOT_FOUND, fetch_early);
    both_say(self, remote, TACIT_USAGE, fetch_nonsense);
    both_say(self, remote, TACIT_NOT_FOUND, watch_unknown);
    assert_int_equal(tacit_coordinator_connect(&none, address, "tacit.0.0", &self->error), TACIT_REFUSED);
    assert_int_equal(tacit_coordinator_connect(&none, address, "a\nb", &self->error), TACIT_USAGE);
    assert_int_equal(tacit_coordinator_connect(&none, address, NULL, &self->error), TACIT_USAGE);
    assert_int_equal(tacit_coordinator_connect(&none, "http://198.51.100.7:80", token, &self->error),
                     TACIT_USAGE);
    assert_int_equal(tacit_coordinator_connect(&none, self->path, NULL, &self->error), TACIT_NOT_FOUND);
    assert_int_equal(tacit_coordinator_start(&none, self->folder, NULL, NULL, &self->error), TACIT_USAGE);
    assert_null(none);
    tacit_coordinator_free(remote);
    free(token);
    tacit_string_free(json);
    tacit_options_free(wish);
    tacit_options_free(as_draft);
    tacit_string_free(yaml);
}

static void a_study_is_opened_amended_and_closed_in_a_folder_that_nobody_serves(void **state) {
    consortium *self = *state;
    char *yaml = draft(self, FORMULA), *other = draft(self, "relapse ~ stage + age"), *json = NULL;
    tacit_options *as_draft = OPTIONS("draft", "yes");
    seen watched = { .enough = true };
    tacit_study_watcher watcher = { .changed = changed, .context = &watched };
    start(self, NULL);
    self->coordinator = tacit_coordinator_free(self->coordinator);
    CHECK_OK(tacit_coordinator_connect(&self->coordinator, self->folder, NULL, &self->error), self->error);
    CHECK_OK(tacit_study_add(NULL, self->coordinator, yaml, as_draft, &self->error), self->error);
    CHECK_OK(tacit_study_open(self->coordinator, "tumours", &self->error), self->error);
    CHECK_OK(tacit_study_amend(&json, self->coordinator, "tumours", other, NULL, &self->error), self->error);
    assert_non_null(strstr(json, "\"version\": 2"));
    CHECK_OK(tacit_study_watch(self->coordinator, "tumours", &watcher, &self->error), self->error);
    assert_int_equal(watched.calls, 1);
    CHECK_OK(tacit_study_close(self->coordinator, "tumours", &self->error), self->error);
    watched.enough = false;
    CHECK_OK(tacit_study_watch(self->coordinator, "tumours", &watcher, &self->error), self->error);
    assert_string_equal(watched.last, "closed");
    tacit_string_free(json);
    tacit_string_free(yaml);
    tacit_string_free(other);
    tacit_options_free(as_draft);
}

static void what_is_missing_is_said(void **state) {
    consortium *self = *state;
    char *text = NULL;
    assert_int_equal(tacit_study_draft(NULL, NULL, &self->error), TACIT_USAGE);
    assert_int_equal(tacit_study_draft(&text, NULL, &self->error), TACIT_USAGE);
    assert_int_equal(tacit_study_add(NULL, NULL, "x", NULL, &self->error), TACIT_USAGE);
    assert_int_equal(tacit_study_close(NULL, "x", &self->error), TACIT_USAGE);
    assert_int_equal(tacit_study_watch(NULL, "x", NULL, &self->error), TACIT_USAGE);
    assert_int_equal(tacit_study_fetch(NULL, NULL, NULL, "x", "model", &self->error), TACIT_USAGE);
    assert_int_equal(tacit_coordinator_start(NULL, "x", NULL, NULL, &self->error), TACIT_USAGE);
    assert_int_equal(tacit_coordinator_connect(NULL, "x", NULL, &self->error), TACIT_USAGE);
    assert_string_equal(tacit_coordinator_address(NULL), "");
    assert_null(tacit_coordinator_free(NULL));
}

/* ---- sites in this process ---- */

/* Ages as they are; a site of three rows, which every policy refuses, where `few`. */
static tacit_frame *table(consortium *self, unsigned number, bool few) {
    static const int8_t kinds[SITE_ROWS] = { 0, 1, 2, 1, 0, -1, 2, 2, 0, 1 }; /* the others are 0 */
    static const char *const levels[] = { "ductal", "lobular", "other" };
    static const char *stage[SITE_ROWS], *relapse[SITE_ROWS];
    static double age[SITES][SITE_ROWS];
    tacit_frame *frame = NULL;
    for (unsigned i = 0; i < SITE_ROWS; i++) {
        stage[i] = i % 2 == 0 ? "I" : "II";
        relapse[i] = i % 7 < 3 ? "yes" : "no";
        age[number][i] = i == number ? NAN : 30 + (13 * i + number) % 47;
    }
    CHECK_OK(tacit_frame_table(&frame, few ? 3 : SITE_ROWS, &self->error), self->error);
    CHECK_OK(tacit_frame_add_categories(frame, "histology", kinds, TACIT_VALUE_INT8, 0, 0, levels, 3,
                                        &self->error),
             self->error);
    CHECK_OK(tacit_frame_add_texts(frame, "stage", stage, &self->error), self->error);
    CHECK_OK(tacit_frame_add_numbers(frame, "age", age[number], TACIT_VALUE_DOUBLE, 0, NULL, &self->error),
             self->error);
    CHECK_OK(tacit_frame_add_texts(frame, "relapse", relapse, &self->error), self->error);
    return frame;
}

static void create(consortium *self, const char *formula, tacit_status wanted) {
    tacit_options *options = OPTIONS("schema", self->schema);
    assert_int_equal(tacit_study_create(self->coordinator, "tumours", formula, SITES, options, &self->error),
                     wanted);
    tacit_options_free(options);
}

static void one_program_plays_all_parts(void **state) {
    consortium *self = *state;
    void *found = NULL;
    start(self, NULL);
    assert_int_equal(tacit_study_create(self->coordinator, "tumours", NULL, SITES, NULL, &self->error),
                     TACIT_USAGE);
    assert_non_null(strstr(self->error.text, "tumours.schema.yaml"));
    self->error = (tacit_error)TACIT_ERROR_INIT;
    create(self, "relapse ~ stage + age", TACIT_OK);
    create(self, "relapse ~ stage + age", TACIT_OK); /* the very same is taken up */
    create(self, "relapse ~ age", TACIT_USAGE);
    for (unsigned i = 0; i < SITES; i++)
        CHECK_OK(tacit_study_site(self->coordinator, "tumours", names[i], table(self, i, false), NULL,
                                  &self->error),
                 self->error);
    CHECK_OK(tacit_study_watch(self->coordinator, "tumours", NULL, &self->error), self->error);
    CHECK_OK(tacit_study_fetch(&found, NULL, self->coordinator, "tumours", "table", &self->error),
             self->error);
    assert_non_null(strstr(found, "stageII"));
    tacit_bytes_free(found);
}

static void a_site_that_cannot_join_says_why_and_its_rows_are_freed(void **state) {
    consortium *self = *state;
    start(self, NULL);
    create(self, "relapse ~ histology", TACIT_OK);
    assert_int_equal(
        tacit_study_site(self->coordinator, "tumours", "Vienna", table(self, 0, true), NULL, &self->error),
        TACIT_REFUSED);
    assert_non_null(strstr(self->error.text, "rows"));
    assert_int_equal(
        tacit_study_site(self->coordinator, "none", "Vienna", table(self, 0, false), NULL, &self->error),
        TACIT_NOT_FOUND);
    self->error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(
        tacit_study_site(self->coordinator, "tumours", "../Graz", table(self, 0, false), NULL, &self->error),
        TACIT_USAGE);
    assert_non_null(strstr(self->error.text, "the option 'home'"));
    self->error = (tacit_error)TACIT_ERROR_INIT;
    tacit_options *options = OPTIONS("allow-exact", "no");
    assert_int_not_equal(tacit_study_site(self->coordinator, "tumours", "Vienna", table(self, 0, false),
                                          options, &self->error),
                         TACIT_OK);
    assert_non_null(strstr(self->error.text, "the option 'allow-exact'"));
    tacit_options_free(options);
    self->error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(
        tacit_study_site(self->coordinator, "tumours", "Vienna", table(self, 0, false), NULL, &self->error),
        self->error);
    /* Those that wait for the others are freed with the coordinator. */
    CHECK_OK(
        tacit_study_site(self->coordinator, "tumours", "Linz", table(self, 2, false), NULL, &self->error),
        self->error);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_study_is_run_by_a_coordinator_in_this_process),
        CASE(the_same_study_is_run_through_an_address_and_a_token),
        CASE(mistakes_are_the_same_at_a_folder_and_at_an_address),
        CASE(a_study_is_opened_amended_and_closed_in_a_folder_that_nobody_serves),
        CASE(what_is_missing_is_said),
        CASE(one_program_plays_all_parts),
        CASE(a_site_that_cannot_join_says_why_and_its_rows_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
