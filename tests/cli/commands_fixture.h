/* A small table of commands to test against: every kind of option, one- and two-word names. */
#pragma once

#include <limits.h>
#include <math.h>
#include <string.h>

#include "api/option/arguments.h"
#include "cli/console.h"

static inline tacit_status fixture_run(const tacit_arguments *arguments, tacit_console *console,
                                       tacit_error *error) {
    if (tacit_arguments_flag(arguments, "refuse"))
        return tacit_fail(error, TACIT_REFUSED, "the budget of\nsite \xff\x1b[31m is spent");
    tacit_console_print(console, "text for people\n");
    tacit_console_note(console, "a note");
    tacit_console_warn(console, "a warning");
    return tacit_console_document(console, json_pack("{s:i}", "answer", 42), error);
}

static const tacit_option fixture_options[] = {
    { .name = "epsilon",
      .kind = TACIT_OPTION_NUMBERS,
      .placeholder = "E1,E2",
      .help = "privacy budgets",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE | TACIT_RULE_INFINITE,
      .least = 0,
      .most = 1000 },
    { .name = "delta",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "D",
      .fallback = "0",
      .help = "probability of a larger loss",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,
      .least = 0,
      .most = 1 },
    { .name = "offset", .kind = TACIT_OPTION_NUMBER, .placeholder = "X", .help = "any number" },
    { .name = "parties",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "M",
      .fallback = "10",
      .help = "how many",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 1e9 },
    { .name = "method", .kind = TACIT_OPTION_WORDS, .placeholder = "A,B", .help = "methods to run" },
    { .name = "train", .kind = TACIT_OPTION_FILE, .placeholder = "FILE", .help = "rows to learn from" },
    { .name = "title", .kind = TACIT_OPTION_TEXT, .placeholder = "TEXT", .help = "a title" },
    { .name = "site",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "NAME",
      .help = "a site; may be repeated",
      .rules = TACIT_RULE_REPEATED },
    { .name = "format",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "json|onnx|pmml",
      .fallback = "json",
      .help = "what to write" },
    { .name = "set",
      .kind = TACIT_OPTION_SETTING,
      .placeholder = "KEY=VALUE",
      .help = "a parameter of the method" },
    { .name = "refuse", .kind = TACIT_OPTION_FLAG, .help = "end with a refusal" },
    { .name = NULL },
};

static const tacit_example fixture_examples[] = { { "Try it.", "tacit try x" }, { NULL, NULL } };

static const tacit_command fixture_try = {
    .name = "try",
    .section = "Things",
    .summary = "try everything",
    .description =
        "First paragraph of a description that is long enough to be wrapped on any terminal there is.\n\n"
        "Second paragraph.",
    .operands = (const tacit_operand[]){ { "FIRST", 0, 1, "one thing" },
                                         { "REST", 0, UINT_MAX, "all others" },
                                         { .name = NULL } },
    .options = fixture_options,
    .examples = fixture_examples,
    .run = fixture_run,
};

static const tacit_command fixture_export = {
    .name = "export",
    .section = "Things",
    .summary = "needs everything",
    .operands =
        (const tacit_operand[]){ { "MODEL", 1, 1, "a model" }, { "FILE", 1, 2, "files" }, { .name = NULL } },
    .options = (const tacit_option[]){ { .name = "out",
                                         .kind = TACIT_OPTION_FILE,
                                         .placeholder = "FILE",
                                         .help = "where to",
                                         .rules = TACIT_RULE_REQUIRED },
                                       { .name = "refuse", .kind = TACIT_OPTION_FLAG, .help = "end badly" },
                                       { .name = NULL } },
    .examples = fixture_examples,
    .run = fixture_run,
};

static const tacit_command fixture_study_new = {
    .name = "study new",
    .section = "Studies",
    .summary = "start a study",
    .options = fixture_options,
    .examples = fixture_examples,
    .run = fixture_run,
};

static const tacit_command fixture_study_close = {
    .name = "study close",
    .section = "Studies",
    .summary = "end a study",
    .options = fixture_options,
    .examples = fixture_examples,
    .run = fixture_run,
};

static const tacit_command *const fixture_commands[] = { &fixture_try, &fixture_export, &fixture_study_new,
                                                         &fixture_study_close, NULL };
