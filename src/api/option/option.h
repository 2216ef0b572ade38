/*
 * What may be said to a command, or to a call of the library, as tables: names, kinds, ranges, defaults. One
 * table serves the flags of a command and the options of the call that does the same, so that neither knows a
 * name, a default or a sentence that the other does not.
 *
 * All texts are UTF-8, constant, and live as long as the program. Arrays end with an entry whose first member
 * is NULL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/help_text.h"

typedef enum tacit_option_kind {
    TACIT_OPTION_FLAG,   /* --name                 tacit_arguments_flag */
    TACIT_OPTION_TEXT,   /* --name anything        tacit_arguments_text */
    TACIT_OPTION_FILE,   /* --name path            tacit_arguments_text; may not be empty */
    TACIT_OPTION_CHOICE, /* --name one-of-a-few    tacit_arguments_text; the placeholder "a|b|c" lists them */
    TACIT_OPTION_WORDS,  /* --name a,b,c           tacit_arguments_words; no empty word, none twice */
    TACIT_OPTION_NUMBER, /* --name 0.5             tacit_arguments_number */
    TACIT_OPTION_NUMBERS, /* --name 0.1,1,inf       tacit_arguments_numbers */
    TACIT_OPTION_INTEGER, /* --name 20000           tacit_arguments_integer */
    TACIT_OPTION_SETTING  /* --name key=value, repeatable, no key twice: tacit_arguments_settings */
} tacit_option_kind;

/* What else holds for an option; added together in `rules`. */
enum {
    TACIT_RULE_REQUIRED = 1, /* refused when missing */
    TACIT_RULE_REPEATED = 2, /* TEXT and FILE: may be given several times; read with tacit_arguments_words */
    TACIT_RULE_RANGE = 4,    /* numbers lie in [least, most]; without it any finite number goes */
    TACIT_RULE_ABOVE = 8,    /* with RANGE: `least` itself is refused (an epsilon is above 0) */
    TACIT_RULE_BELOW = 16,   /* with RANGE: `most` itself is refused (a fraction below 1) */
    TACIT_RULE_INFINITE = 32 /* the word `inf` is allowed, whatever `most` says */
};

typedef struct tacit_option {
    const char *name; /* long name without the dashes */
    tacit_option_kind kind;
    const char *placeholder; /* "E", "FILE", "json|onnx"; NULL for a flag */
    const char *fallback;    /* the value used when not given, parsed like a given one; NULL: no value */
    /* A phrase or sentences; help adds the fallback. That of a REQUIRED option is also in an error; any other
     * may be a TACIT_HELP. */
    const char *help;
    unsigned rules;
    double least, most;
} tacit_option;

/* Arguments without a name are handed out left to right: each operand takes as many as it may. */
typedef struct tacit_operand {
    const char *name;     /* "FILE" */
    unsigned least, most; /* how many; most = UINT_MAX for any number */
    const char *help;
} tacit_operand;

/* What one command or call takes. */
typedef struct tacit_form {
    const char *name;              /* of the command */
    const tacit_operand *operands; /* NULL: none */
    const tacit_option *options;   /* NULL: none */
    const tacit_option *more; /* likewise: what every command has, or what only the library's call takes */
    /* options that a call of the library does not have, such as files; NULL: it has all */
    const char *const *without;
} tacit_form;

/* The same three wherever a table of rows is read; put it into an options table like one entry. */
#define TACIT_OPTIONS_READING                                                                                \
    { .name = "label",                                                                                       \
      .kind = TACIT_OPTION_TEXT,                                                                             \
      .placeholder = "NAME",                                                                                 \
      .help = TACIT_HELP("the column to predict; that of the schema or the model, else the last one") },     \
        { .name = "positive",                                                                                \
          .kind = TACIT_OPTION_TEXT,                                                                         \
          .placeholder = "VALUE",                                                                            \
          .help =                                                                                            \
              TACIT_HELP("the label that counts as positive; as the schema says, else the larger one") },    \
    {                                                                                                        \
        .name = "no-header", .kind = TACIT_OPTION_FLAG,                                                      \
        .help = TACIT_HELP(                                                                                  \
            "the first line of a CSV file is already a row; columns are then called column1, column2, ...")  \
    }

/* For commands that draft a schema. */
/* How many of the parties a secure sum, and shares of noise, allow to vanish and to collude. */
#define TACIT_OPTION_FRACTIONS                                                                               \
    { .name = "dropouts",                                                                                    \
      .kind = TACIT_OPTION_NUMBER,                                                                           \
      .placeholder = "F",                                                                                    \
      .fallback = "0.1",                                                                                     \
      .help = TACIT_HELP("the largest fraction of the parties that may vanish from a sum (noise=shares)"),   \
      .rules = TACIT_RULE_RANGE,                                                                             \
      .least = 0,                                                                                            \
      .most = 0.9 },                                                                                         \
    {                                                                                                        \
        .name = "colluders", .kind = TACIT_OPTION_NUMBER, .placeholder = "F", .fallback = "0.1",             \
        .help = TACIT_HELP(                                                                                  \
            "the largest fraction that shares what it knows with whoever looks; one of four or more, "       \
            "unless 0 (noise=shares)"),                                                                      \
        .rules = TACIT_RULE_RANGE, .least = 0, .most = 0.9                                                   \
    }

#define TACIT_OPTION_RESPONSE                                                                                \
    {                                                                                                        \
        .name = "response", .kind = TACIT_OPTION_CHOICE, .placeholder = "class|number|count",                \
        .fallback = "class",                                                                                 \
        .help = TACIT_HELP(                                                                                  \
            "what the label is, where no schema says it: a class, a number or a count of something")         \
    }

/* For commands that draft a schema with a text in it. */
#define TACIT_OPTIONS_TEXT                                                                                   \
    { .name = "text",                                                                                        \
      .kind = TACIT_OPTION_TEXT,                                                                             \
      .placeholder = "NAME",                                                                                 \
      .help = TACIT_HELP("a column that holds texts, where no schema says it; its terms become features") }, \
        { .name = "grams",                                                                                   \
          .kind = TACIT_OPTION_INTEGER,                                                                      \
          .placeholder = "1|2",                                                                              \
          .fallback = "1",                                                                                   \
          .rules = TACIT_RULE_RANGE,                                                                         \
          .least = 1,                                                                                        \
          .most = 2,                                                                                         \
          .help = TACIT_HELP("terms are words (1), or pairs of neighbouring words too (2)") },               \
        { .name = "min-df",                                                                                  \
          .kind = TACIT_OPTION_NUMBER,                                                                       \
          .placeholder = "F",                                                                                \
          .fallback = "0.005",                                                                               \
          .rules = TACIT_RULE_RANGE,                                                                         \
          .least = 0,                                                                                        \
          .most = 1,                                                                                         \
          .help = TACIT_HELP("leave out terms that occur in a smaller share of the rows") },                 \
        { .name = "max-df",                                                                                  \
          .kind = TACIT_OPTION_NUMBER,                                                                       \
          .placeholder = "F",                                                                                \
          .fallback = "0.5",                                                                                 \
          .rules = TACIT_RULE_RANGE,                                                                         \
          .least = 0,                                                                                        \
          .most = 1,                                                                                         \
          .help = TACIT_HELP("leave out terms that occur in a larger share of the rows") },                  \
        { .name = "hash",                                                                                    \
          .kind = TACIT_OPTION_INTEGER,                                                                      \
          .placeholder = "N",                                                                                \
          .rules = TACIT_RULE_RANGE,                                                                         \
          .least = 1,                                                                                        \
          .most = 50000000,                                                                                  \
          .help =                                                                                            \
              TACIT_HELP("hash the terms into N features instead of reading a vocabulary off the rows") },   \
    {                                                                                                        \
        .name = "strip", .kind = TACIT_OPTION_CHOICE, .placeholder = "nothing|frame|news",                   \
        .fallback = "nothing",                                                                               \
        .help = TACIT_HELP(                                                                                  \
            "what to leave out of each text: frame is header and signature of a news article, news "         \
            "quoted lines too")                                                                              \
    }

/* For every command that trains, or says what training would do: fit, simulate, audit, explain. A flag for
 * all of them is a line here; tacit_training_plan (fitting.h) takes it into a plan. */
#define TACIT_OPTIONS_TRAINING                                                                               \
    {                                                                                                        \
        .name = "set", .kind = TACIT_OPTION_SETTING, .placeholder = "NAME=VALUE",                            \
        .help = TACIT_HELP("a setting of the method, see 'tacit methods'")                                   \
    }

/* For commands that read rows to train on. */
#define TACIT_OPTION_TERMS                                                                                   \
    {                                                                                                        \
        .name = "terms", .kind = TACIT_OPTION_TEXT, .placeholder = "FORMULA",                                \
        .help = TACIT_HELP(                                                                                  \
            "what the model is made of, as R writes it: 'y ~ age + log(dose)*sex'; each column of the "      \
            "schema by default")                                                                             \
    }

#define TACIT_OPTION_SUBSET                                                                                  \
    {                                                                                                        \
        .name = "subset", .kind = TACIT_OPTION_TEXT, .placeholder = "CONDITION",                             \
        .help = TACIT_HELP("which rows, as R writes it: 'age > 50 & stage == \"III\"'; all by default")      \
    }

/* For whatever draws random numbers, on several processors. */
#define TACIT_OPTION_SEED                                                                                    \
    {                                                                                                        \
        .name = "seed", .kind = TACIT_OPTION_INTEGER, .placeholder = "S", .rules = TACIT_RULE_RANGE,         \
        .least = 0, .most = 9007199254740991,                                                                \
        .help = TACIT_HELP(                                                                                  \
            "all randomness follows from it, on any number of threads; drawn and printed by default")        \
    }
#define TACIT_OPTION_THREADS                                                                                 \
    {                                                                                                        \
        .name = "threads", .kind = TACIT_OPTION_INTEGER, .placeholder = "N", .rules = TACIT_RULE_RANGE,      \
        .least = 1, .most = 1024, .help = TACIT_HELP("processors to use; all by default")                    \
    }
