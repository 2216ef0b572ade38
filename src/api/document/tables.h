/* The tables of commands that the library offers too: see option.h. */
#pragma once

/* Of `plan` and `study new`. */
#define TACIT_OPTION_DESCRIBED                                                                               \
    {                                                                                                        \
        .name = "described", .kind = TACIT_OPTION_FILE, .placeholder = "REPORT",                             \
        .help = TACIT_HELP(                                                                                  \
            "a report of 'tacit describe': rows and share of positives are expected as it says, rare "       \
            "levels and wide bounds are named, and knots for splines; post-processing, which costs "         \
            "nothing more")                                                                                  \
    }

#include "api/option/option.h"

extern const tacit_option tacit_fit_options[];
extern const tacit_option tacit_simulate_options[];
extern const tacit_option tacit_audit_options[];
extern const tacit_operand tacit_audit_operands[];
extern const tacit_option tacit_explain_options[];
extern const tacit_operand tacit_explain_operands[];
extern const tacit_option tacit_join_options[];
extern const tacit_option tacit_plan_options[];
extern const tacit_operand tacit_plan_operands[];

/* For whoever answers in a study. */
#define TACIT_OPTION_RETRY                                                                                   \
    {                                                                                                        \
        .name = "retry", .kind = TACIT_OPTION_NUMBER, .placeholder = "SECONDS", .fallback = "0.2",           \
        .help = TACIT_HELP(                                                                                  \
            "the first pause, on average, before dialling a coordinator again that is not there; each "      \
            "later one is twice as long, up to 10"),                                                         \
        .rules = TACIT_RULE_RANGE, .least = 0.001, .most = 10                                                \
    }

#define TACIT_OPTION_MODEL                                                                                   \
    {                                                                                                        \
        .name = "out", .kind = TACIT_OPTION_FILE, .placeholder = "MODEL",                                    \
        .help = TACIT_HELP("where to write the model; into the study's folder by default")                   \
    }

/* Which rows a site takes part with, and what its owner says; then its own part in the method, and consent.
 * For joining over a network or by an envelope. */
#define TACIT_OPTIONS_JOINING_ROWS                                                                           \
    { .name = "data",                                                                                        \
      .kind = TACIT_OPTION_FILE,                                                                             \
      .placeholder = "FILE",                                                                                 \
      .help = "the rows: " TACIT_SOURCES_HELP,                                                               \
      .rules = TACIT_RULE_REQUIRED },                                                                        \
        { .name = "schema",                                                                                  \
          .kind = TACIT_OPTION_FILE,                                                                         \
          .placeholder = "FILE",                                                                             \
          .help = "what is public about the columns, YAML",                                                  \
          .rules = TACIT_RULE_REQUIRED },                                                                    \
        { .name = "link",                                                                                    \
          .kind = TACIT_OPTION_TEXT,                                                                         \
          .placeholder = "COLUMN",                                                                           \
          .help = TACIT_HELP(                                                                                \
              "the column that says whom a row is about: of rows with the same value the last one "          \
              "counts. It "                                                                                  \
              "is dropped as rows are read and never leaves. All rows of a person count where the data "     \
              "are a linking file, NAME.link.yaml") },                                                       \
        { .name = "source",                                                                                  \
          .kind = TACIT_OPTION_TEXT,                                                                         \
          .placeholder = "NAME",                                                                             \
          .help = TACIT_HELP("the data source that is charged; the data file by default") },                 \
        { .name = "allow-entrusted",                                                                         \
          .kind = TACIT_OPTION_FLAG,                                                                         \
          .help = TACIT_HELP(                                                                                \
              "the coordinator may see exact sums or values, and is trusted to keep them to itself and to "  \
              "add the noise, if any") },                                                                    \
        { .name = "allow-exact",                                                                             \
          .kind = TACIT_OPTION_FLAG,                                                                         \
          .help = TACIT_HELP(                                                                                \
              "exact sums may leave, which no differential privacy protects; the ledger counts them as an "  \
              "infinite epsilon, so that no private method can use this data source after") },               \
        { .name = "allow-difference",                                                                        \
          .kind = TACIT_OPTION_FLAG,                                                                         \
          .help = TACIT_HELP(                                                                                \
              "exact sums may differ from those of earlier studies by few parties or rows, and so show "     \
              "what "                                                                                        \
              "these gave; refused otherwise") },                                                            \
        { .name = "allow-neighbours",                                                                        \
          .kind = TACIT_OPTION_FLAG,                                                                         \
          .help = TACIT_HELP(                                                                                \
              "in a study without a center, neighbours may see exactly what it makes of the rows, round by " \
              "round; no differential privacy, and the ledger counts it as an infinite epsilon") },          \
        { .name = "allow-site",                                                                              \
          .kind = TACIT_OPTION_FLAG,                                                                         \
          .help = TACIT_HELP(                                                                                \
              "figures of this site by itself may be published, under its name, in a study that says "       \
              "sites=apart; refused otherwise") },                                                           \
        { .name = "may-ask-again",                                                                           \
          .kind = TACIT_OPTION_FLAG,                                                                         \
          .help = TACIT_HELP(                                                                                \
              "studies that are derived from this one may be offered to you by the same coordinator; "       \
              "it is told so, and you decide about each of them") },                                         \
    {                                                                                                        \
        .name = "allow-reuse", .kind = TACIT_OPTION_FLAG,                                                    \
        .help = TACIT_HELP(                                                                                  \
            "this study may use what is in your personal store (store:PATH?NAME), where your rules "         \
            "there say that you are asked")                                                                  \
    }
#define TACIT_OPTIONS_JOINING_WORD                                                                           \
    { .name = "local",                                                                                       \
      .kind = TACIT_OPTION_TEXT,                                                                             \
      .placeholder = "KIND",                                                                                 \
      .help = TACIT_HELP(                                                                                    \
          "the local classifier of an ensemble method, in place of the study's choice: logistic, svm, "      \
          "tree, "                                                                                           \
          "bayes, bernoulli, knn:K, mlp:H, or exec:CMD, a program of your own (docs/classifiers.md)") },     \
        { .name = "role",                                                                                    \
          .kind = TACIT_OPTION_TEXT,                                                                         \
          .placeholder = "ROLE",                                                                             \
          .help = TACIT_HELP(                                                                                \
              "what this party is in a study whose parties differ: source or target ({roles})") },           \
    {                                                                                                        \
        .name = "yes", .kind = TACIT_OPTION_FLAG, .help = TACIT_HELP("consent without being asked")          \
    }
