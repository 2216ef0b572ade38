/* tacit card: a model card in Markdown or HTML. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/document/json_text.h"
#include "api/document/model_card.h"
#include "api/study/attendance.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/output_file.h"
#include "study/registry.h"

enum { MODEL_BYTES = 1 << 30 };

typedef struct files {
    tacit_model *model, *describe;
    tacit_card_evaluation *evaluation;
    size_t evaluations;
    tacit_study *study;
    tacit_attendance people; /* those given, and those that a coordinator's folder knows */
    char hash[2 * TACIT_HASH_BYTES + 1], written[TACIT_TIME_TEXT];
} files;

static void clear_files(files *all) {
    tacit_model_free(all->model);
    for (size_t k = 0; k < all->evaluations; k++) tacit_model_free(all->evaluation[k].report);
    free(all->evaluation);
    tacit_model_free(all->describe);
    tacit_study_free(all->study);
    tacit_attendance_clear(&all->people);
}

/* Whether somebody of the evaluation has helped to make the model. A party without a name is called otherwise
 * in each study: nobody that is found says nothing. */
static void compare_people(const files *all, tacit_card_evaluation *one, tacit_registry *registry) {
    const char *study = one->report->guarantee.study;
    tacit_attendance others = { NULL, 0 };
    /* a study of another coordinator, or of none, has nobody here */
    if (study[0] != 0) (void)tacit_attendance_read(&others, registry, study, NULL);
    for (size_t i = 0; i < others.count; i++)
        for (size_t k = 0; k < all->people.count; k++)
            if (strcmp(others.name[i], all->people.name[k]) == 0) one->rows = TACIT_CARD_ROWS_TRAINED;
    tacit_attendance_clear(&others);
}

static tacit_status read_people(files *all, const tacit_arguments *arguments, tacit_error *error) {
    size_t given;
    const char *const *name = tacit_arguments_words(arguments, "party", &given);
    const char *folder = tacit_arguments_text(arguments, "coordinator");
    const char *study = all->model->guarantee.study;
    tacit_registry *registry = NULL;
    for (size_t i = 0; i < given; i++) TACIT_TRY(tacit_attendance_add(&all->people, name[i], error));
    if (folder == NULL) return TACIT_OK;
    if (study[0] == 0)
        return tacit_fail(error, TACIT_USAGE, "the model is of no study: give the names with --party");
    TACIT_TRY(tacit_registry_open(&registry, folder, false, error));
    tacit_status status = tacit_attendance_read(&all->people, registry, study, error);
    for (size_t k = 0; k < all->evaluations && status == TACIT_OK; k++)
        compare_people(all, &all->evaluation[k], registry);
    tacit_registry_close(registry);
    return status;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The model with what is known of its file. */
static tacit_status load_model(files *all, const char *path, tacit_error *error) {
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(MODEL_BYTES);
    struct stat about;
    tacit_status status;
    TACIT_CHECK(tacit_file_read(path, &bytes, error));
    TACIT_CHECK(tacit_model_parse(&all->model, bytes.bytes, bytes.length, path, error));
    crypto_generichash(hash, sizeof hash, bytes.bytes, bytes.length, NULL, 0);
    sodium_bin2hex(all->hash, sizeof all->hash, hash, sizeof hash);
    if (stat(path, &about) == 0) tacit_study_time_text(all->written, about.st_mtime);
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status load_evaluations(files *all, const tacit_arguments *arguments, tacit_error *error) {
    size_t count = 0;
    const char *const *path = tacit_arguments_words(arguments, "evaluation", &count);
    all->evaluation = TACIT_NEW(tacit_card_evaluation, count + 1);
    if (all->evaluation == NULL) return tacit_fail_memory(error);
    for (; all->evaluations < count; all->evaluations++) {
        tacit_card_evaluation *one = &all->evaluation[all->evaluations];
        TACIT_TRY(tacit_model_load(&one->report, path[all->evaluations], error));
        one->rows = tacit_card_rows_of(all->model, one->report);
    }
    return TACIT_OK;
}

static tacit_status load_files(files *all, const tacit_arguments *arguments, tacit_error *error) {
    const char *describe = tacit_arguments_text(arguments, "describe");
    const char *study = tacit_arguments_text(arguments, "study");
    TACIT_TRY(load_model(all, tacit_arguments_operand(arguments, "MODEL"), error));
    TACIT_TRY(load_evaluations(all, arguments, error));
    if (describe != NULL) TACIT_TRY(tacit_model_load(&all->describe, describe, error));
    return study != NULL ? tacit_study_load(&all->study, study, error) : TACIT_OK;
}

static tacit_status write_card(const tacit_model_card *card, const char *to, tacit_console *console,
                               tacit_error *error) {
    enum { MODE = 0644 };
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_output output;
    bool html = to != NULL && (ends_with(to, ".html") || ends_with(to, ".htm"));
    tacit_status status;
    TACIT_CHECK(tacit_model_card_print(card, html, &text, error));
    TACIT_CHECK(tacit_output_open(&output, to, console->out, MODE, error));
    fwrite(text.bytes, 1, text.length, output.stream); /* errors are noticed at the end */
    TACIT_CHECK(tacit_output_close(&output, TACIT_OK, error));
    if (to != NULL) tacit_console_note(console, "wrote %s", to);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status run_card(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "MODEL"),
               *to = tacit_arguments_text(arguments, "out");
    const char *slash = strrchr(path, '/');
    files all = { .model = NULL };
    tacit_status status;
    TACIT_CHECK(load_files(&all, arguments, error));
    TACIT_CHECK(read_people(&all, arguments, error));
    const tacit_model_card card = { .model = all.model,
                                    .file = slash != NULL ? slash + 1 : path,
                                    .written = all.written[0] != 0 ? all.written : NULL,
                                    .hash = all.hash,
                                    .evaluation = all.evaluation,
                                    .evaluations = all.evaluations,
                                    .describe = all.describe,
                                    .study = all.study,
                                    .party = (const char *const *)all.people.name,
                                    .parties = all.people.count };
    TACIT_CHECK(tacit_model_card_check(&card, error));
    if (to != NULL || !console->json) TACIT_CHECK(write_card(&card, to, console, error));
    if (console->json) TACIT_CHECK(tacit_console_document(console, tacit_model_card_document(&card), error));
cleanup:
    clear_files(&all);
    return status;
}

const tacit_command tacit_command_card = {
    .name = "card",
    .section = "Learning",
    .summary = "a model card: what a model is, how good, what was promised",
    .description = "Markdown, or HTML where the file's name ends in .html: one page without scripts or "
                   "links. It has the columns, the coefficients with intervals where the method has them, "
                   "the figures of an evaluation, the guarantee, who took part, and what the model is not "
                   "for. Nothing is computed: what is not in the files that are named is not in the card.",
    .operands =
        (const tacit_operand[]){
            { "MODEL", 1, 1, "a model as 'tacit fit', 'tacit simulate --out' or a study wrote it" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "evaluation",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "REPORT",
              .rules = TACIT_RULE_REPEATED,
              .help =
                  "what 'tacit evaluate --out' wrote, or the report of a study that evaluates a model; may "
                  "be given several times, such as by site and by subgroup" },
            { .name = "describe",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "REPORT",
              .help = "what 'tacit describe --out' wrote, or the report of a study that describes rows: the "
                      "summary of the data" },
            { .name = "study",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "the study's definition: its title and approval, and who learns what" },
            { .name = "party",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .rules = TACIT_RULE_REPEATED,
              .help = "somebody who took part, by name; may be given several times" },
            { .name = "coordinator",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "DIR",
              .help =
                  "the coordinator's folder: the parties of the model's study by the names that they were "
                  "invited with (study invite --for)" },
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE.md|FILE.html",
              .help = "write there; Markdown to standard output by default" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "A card for colleagues, with the evaluation that the hospitals took part in.",
              "tacit card model.json --evaluation evaluation.json --out card.html" },
            { "With the names of those who took part.", "tacit card model.json --party \"St. Anna, Vienna\" "
                                                        "--party Charite --study study.yaml --out card.md" },
            { .text = NULL },
        },
    .run = run_card,
};
