/* tacit arm show, verify, close and record: random arms, at the participant, at the coordinator, and for
 * everybody. */
#include <limits.h>

#include "api/document/json_text.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "coordinator/coordinator.h"
#include "site/site.h"
#include "study/home.h"
#include "study/people/arm_record.h"

/* ---- show ---- */

static tacit_status run_show(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char home[PATH_MAX];
    tacit_site_arm_shown shown;
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_site_arm(home, tacit_arguments_operand(arguments, "STUDY"), &shown, error));
    if (shown.arm[0] != 0)
        tacit_console_print(
            console,
            "Your arm of study '%s' is %s.\nThe proof is in %s: whoever you give it to can check it "
            "(tacit arm verify), and learns your arm.\n",
            shown.study, shown.arm, shown.path);
    else
        tacit_console_print(console, "Your arm of study '%s' is not drawn yet: its list is open.\n",
                            shown.study);
    return tacit_console_document(console,
                                  json_pack("{s:s,s:o,s:o}", "study", shown.study, "arm",
                                            shown.arm[0] != 0 ? tacit_json_text(shown.arm) : json_null(),
                                            "proof",
                                            shown.arm[0] != 0 ? tacit_json_text(shown.path) : json_null()),
                                  error);
}

const tacit_command tacit_command_arm_show = {
    .name = "arm show",
    .section = "Taking part",
    .summary = "your arm of a study, drawn on this device",
    .description =
        "Says which arm this party is in, and where the file is that proves it: the published list of keys, "
        "the shares of everybody in it, and the proof by your own key. Your rows have the arm in the column "
        "that the study names; it leaves in no other way, unless you give that file to somebody.",
    .operands =
        (const tacit_operand[]){ { "STUDY", 1, 1, "its name, as `tacit join` showed it" }, { .name = NULL } },
    .examples =
        (const tacit_example[]){ { "Which arm am I in?", "tacit arm show sleep-trial" }, { .text = NULL } },
    .run = run_show,
};

/* ---- verify ---- */

static tacit_status run_verify(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "FILE");
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_ARM_RECORD_BYTES);
    tacit_arm_record record = { .arms = 0 };
    tacit_status status;
    TACIT_CHECK(tacit_file_read(path, &text, error));
    TACIT_CHECK(tacit_arm_record_parse(&record, tacit_buffer_text(&text), text.length, path, error));
    TACIT_CHECK(tacit_fail_in(error, tacit_arm_record_verify(&record, error), "%s", path));
    const size_t count = tacit_arm_record_list(&record).count;
    tacit_console_print(
        console,
        "Study '%s', group %u: the randomness is made of the shares of %zu %s and the coordinator, in "
        "drawing %u.\n",
        record.study, record.group, count, count == 1 ? "party" : "parties", record.draw);
    if (record.of_participant)
        tacit_console_print(console, "The arm is %s: the proof is right.\n", record.names[record.arm]);
    TACIT_CHECK(tacit_console_document(
        console,
        json_pack("{s:s,s:i,s:i,s:I,s:o}", "study", record.study, "group", (int)record.group, "draw",
                  (int)record.draw, "parties", (json_int_t)count, "arm",
                  record.of_participant ? tacit_json_text(record.names[record.arm]) : json_null()),
        error));
cleanup:
    tacit_arm_record_clear(&record);
    tacit_buffer_clear(&text);
    return status;
}

const tacit_command tacit_command_arm_verify = {
    .name = "arm verify",
    .section = "Taking part",
    .summary = "check a drawing of arms, and an arm that somebody shows",
    .description = "Checks the record of a group (tacit arm record), or a participant's own (tacit arm "
                   "show): that every share was made for this list by the key that it stands for, the "
                   "coordinator's among them, and that the arm follows from them. Compare study, list and "
                   "the coordinator's key with the published record and the definition.",
    .operands = (const tacit_operand[]){ { "FILE", 1, 1, "a record of arms" }, { .name = NULL } },
    .examples = (const tacit_example[]){ { "Was the arm really drawn?", "tacit arm verify arm.json" },
                                         { .text = NULL } },
    .run = run_verify,
};

/* ---- close ---- */

static const tacit_operand folder_and_study[] = {
    { "DIR", 1, 1, "the coordinator's folder" },
    { "STUDY", 1, 1, "the study's name" },
    { .name = NULL },
};

static tacit_status run_close(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *study = tacit_arguments_operand(arguments, "STUDY");
    tacit_registry *registry = NULL;
    tacit_arm_group made = { .group = 0 };
    tacit_study_record record;
    uint32_t group = 0;
    tacit_status status;
    TACIT_CHECK(tacit_registry_open(&registry, tacit_arguments_operand(arguments, "DIR"), false, error));
    TACIT_CHECK(tacit_registry_study(registry, study, &record, NULL, error));
    TACIT_CHECK(
        tacit_registry_arm_close(registry, study, tacit_arguments_flag(arguments, "again"), &group, error));
    TACIT_CHECK(tacit_registry_arm_group(registry, study, group, &made, error));
    tacit_console_print(
        console,
        "The list of group %u is closed, with %zu %s: their arms are drawn as they give their shares.\n",
        group, made.count, made.count == 1 ? "party" : "parties");
    TACIT_CHECK(tacit_console_document(console,
                                       json_pack("{s:s,s:i,s:i,s:I}", "study", study, "group", (int)group,
                                                 "draw", (int)made.draw, "parties", (json_int_t)made.count),
                                       error));
cleanup:
    tacit_arm_group_clear(&made);
    tacit_registry_close(registry);
    return status;
}

const tacit_command tacit_command_arm_close = {
    .name = "arm close",
    .section = "Studies",
    .summary = "close the list of those whose arms are drawn next",
    .description = "Those who have joined and are in no group yet become one, and their devices draw their "
                   "arms once all of them have given a share. A coordinator that runs does this by itself "
                   "when as many have joined as the study expects. A device that does not come back keeps "
                   "its group waiting: --again closes the list without those who gave no share, who go to a "
                   "later group. Each time again is counted, and everybody sees the number.",
    .operands = folder_and_study,
    .options =
        (const tacit_option[]){
            { .name = "again",
              .kind = TACIT_OPTION_FLAG,
              .help = "close the list that waits once more, without those who gave no share" },
            { .name = NULL } },
    .examples =
        (const tacit_example[]){
            { "Draw for those who have come so far.", "tacit arm close lab sleep-trial" }, { .text = NULL } },
    .run = run_close,
};

/* ---- record ---- */

static tacit_status run_record(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *study = tacit_arguments_operand(arguments, "STUDY"),
               *out = tacit_arguments_text(arguments, "out");
    const int64_t group = tacit_arguments_integer(arguments, "group");
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_coordinator_arm_record(tacit_arguments_operand(arguments, "DIR"), study,
                                             (uint32_t)group, &text, error));
    TACIT_CHECK(tacit_file_write(out, text.bytes, text.length, 0644, error));
    tacit_console_print(console, "The record of group %d is in %s: publish it with the study.\n", (int)group,
                        out);
    TACIT_CHECK(tacit_console_document(console,
                                       json_pack("{s:s,s:I,s:o}", "study", study, "group", (json_int_t)group,
                                                 "record", tacit_json_text(out)),
                                       error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

const tacit_command tacit_command_arm_record = {
    .name = "arm record",
    .section = "Studies",
    .summary = "write what everybody may check of a drawing of arms",
    .description = "The list of keys of a group and everybody's shares, the coordinator's own among them. It "
                   "says nothing of who is in which arm: that takes a participant's own proof.",
    .operands = folder_and_study,
    .options = (const tacit_option[]){ { .name = "group",
                                         .kind = TACIT_OPTION_INTEGER,
                                         .placeholder = "N",
                                         .fallback = "1",
                                         .help = "which group",
                                         .rules = TACIT_RULE_RANGE,
                                         .least = 1,
                                         .most = 1000000 },
                                       { .name = "out",
                                         .kind = TACIT_OPTION_FILE,
                                         .placeholder = "FILE",
                                         .fallback = "arms.json",
                                         .help = "where to" },
                                       { .name = NULL } },
    .examples = (const tacit_example[]){ { "Publish the first group's drawing.",
                                           "tacit arm record lab sleep-trial --out sleep-trial.arms.json" },
                                         { .text = NULL } },
    .run = run_record,
};
