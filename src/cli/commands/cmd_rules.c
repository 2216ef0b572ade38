/* tacit rules show and set: what the owner of a home lets any study have. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "study/home.h"
#include "study/rules.h"

static tacit_status show(const tacit_rules *rules, tacit_console *console, tacit_error *error) {
    json_t *methods = json_array();
    tacit_console_print(console, "minimum rows     %llu\n", (unsigned long long)rules->minimum_rows);
    tacit_console_print(console, "minimum parties  %llu, yours among them\n",
                        (unsigned long long)rules->minimum_parties);
    if (rules->study_epsilon > 0)
        tacit_console_print(console, "one study        epsilon %g at most\n", rules->study_epsilon);
    else
        tacit_console_print(console, "one study        no rule but the price that you consent to\n");
    tacit_console_print(console, "methods          %s", rules->method_count == 0 ? "all" : "");
    for (size_t i = 0; i < rules->method_count; i++) {
        tacit_console_print(console, "%s%s", i > 0 ? ", " : "", rules->methods[i]);
        methods = tacit_json_append(methods, json_string(rules->methods[i]));
    }
    tacit_console_print(console, "\n");
    return tacit_console_document(console,
                                  json_pack("{s:I,s:I,s:f,s:o}", "minimum_rows",
                                            (json_int_t)rules->minimum_rows, "minimum_parties",
                                            (json_int_t)rules->minimum_parties, "study_epsilon",
                                            rules->study_epsilon, "methods", methods),
                                  error);
}

static tacit_status run_show(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char home[PATH_MAX];
    tacit_rules rules;
    (void)arguments;
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_rules_load(&rules, home, error));
    return show(&rules, console, error);
}

static tacit_status take_methods(tacit_rules *rules, const char *const *words, size_t count,
                                 tacit_error *error) {
    if (count == 1 && strcmp(words[0], "all") == 0) count = 0;
    if (count > TACIT_RULE_METHODS)
        return tacit_fail(error, TACIT_USAGE, "there are fewer methods than that");
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) >= TACIT_RULE_METHOD_SIZE)
            return tacit_fail(error, TACIT_USAGE, "no method is called '%.40s'", words[i]);
        memcpy(rules->methods[i], words[i], strlen(words[i]) + 1);
    }
    rules->method_count = count;
    return TACIT_OK;
}

static tacit_status run_set(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    char home[PATH_MAX];
    tacit_rules rules;
    size_t count = 0;
    TACIT_TRY(tacit_home_path(home, sizeof home, "", error));
    TACIT_TRY(tacit_rules_load(&rules, home, error));
    if (tacit_arguments_given(arguments, "minimum-rows"))
        rules.minimum_rows = (uint64_t)tacit_arguments_integer(arguments, "minimum-rows");
    if (tacit_arguments_given(arguments, "minimum-parties"))
        rules.minimum_parties = (uint64_t)tacit_arguments_integer(arguments, "minimum-parties");
    if (tacit_arguments_given(arguments, "study-epsilon"))
        rules.study_epsilon = tacit_arguments_number(arguments, "study-epsilon");
    const char *const *methods = tacit_arguments_words(arguments, "methods", &count);
    if (count > 0) TACIT_TRY(take_methods(&rules, methods, count, error));
    TACIT_TRY(tacit_rules_save(&rules, home, error));
    return show(&rules, console, error);
}

const tacit_command tacit_command_rules_show = {
    .name = "rules show",
    .section = "Taking part",
    .summary = "the owner's rules for all studies",
    .examples =
        (const tacit_example[]){
            { "What may leave?", "tacit rules show" },
            { .text = NULL },
        },
    .run = run_show,
};

const tacit_command tacit_command_rules_set = {
    .name = "rules set",
    .section = "Taking part",
    .summary = "set rules that every study must keep",
    .description = "Rules of this home, beside the budget of a data source (tacit ledger limit). The gate "
                   "applies them to every answer; a change counts from the next answer on, also for studies "
                   "joined before. What is not given stays as it is.",
    .options =
        (const tacit_option[]){
            { .name = "minimum-rows",
              .kind = TACIT_OPTION_INTEGER,
              .placeholder = "N",
              .help = "an answer rests on at least this many rows; 10 by default",
              .rules = TACIT_RULE_RANGE,
              .least = 1,
              .most = 1e15 },
            { .name = "minimum-parties",
              .kind = TACIT_OPTION_INTEGER,
              .placeholder = "N",
              .help = "nothing is opened from fewer parties, this one among them; 2 by default",
              .rules = TACIT_RULE_RANGE,
              .least = 1,
              .most = 1e9 },
            { .name = "study-epsilon",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "E",
              .help = "most epsilon that one study, or one version of it, may take; 0: no rule",
              .rules = TACIT_RULE_RANGE,
              .least = 0,
              .most = 1e6 },
            { .name = "methods",
              .kind = TACIT_OPTION_WORDS,
              .placeholder = "NAME,...",
              .help = "the methods that may be used; all: no rule" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "At least 50 rows and four other parties, and no study above epsilon 1.",
              "tacit rules set --minimum-rows 50 --minimum-parties 5 --study-epsilon 1" },
            { .text = NULL },
        },
    .run = run_set,
};
