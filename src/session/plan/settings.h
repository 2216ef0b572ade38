/*
 * The settings of a method: a struct of the method's own, its defaults, and a table that says of each member
 * how people call it, what it may be and what it is for. Parser, canonical text, help, man page, completion
 * and documents are made from the table; methods read their struct (TACIT_SETTINGS in method.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/help_text.h"

enum {
    TACIT_SETTING_SIZE = 256,    /* of a text */
    TACIT_SETTINGS_BYTES = 1344, /* of a method's struct, at most */
    TACIT_SPELLING_BYTES = 512   /* of numbers that were not given in their shortest form */
};

typedef enum tacit_setting_type {
    TACIT_SETTING_NUMBER, /* a double from least to most */
    TACIT_SETTING_COUNT,  /* a uint64_t, likewise */
    TACIT_SETTING_CHOICE, /* an enum: the place of the word in `choices` */
    TACIT_SETTING_TEXT    /* a char[TACIT_SETTING_SIZE] that the method checks */
} tacit_setting_type;

/* One setting (`--set name=value`, or `set:` in a study). */
typedef struct tacit_parameter {
    const char *name;
    tacit_setting_type type;
    size_t offset;       /* of the member */
    const char *choices; /* "a|b|c", in the order of the enum; NULL for other types */
    double least, most;  /* of numbers and counts */
    const char *zero;    /* what the method does where a number is 0; NULL: 0 is a number like any other */
    /* of a setting that came later: what definitions agreed on before it mean. It is not written where it is
     * that, so that their hash and meaning stay; NULL: none lacks it */
    const char *before;
    const char *help;
} tacit_parameter;

/*
 * Lines of a table. A member of another type than the line says does not compile. The open ones are numbers
 * that 0 leaves to the method: `means` ends the help.
 */
#define TACIT_MEMBER_(S, member, as) .offset = _Generic(&((S *)0)->member, as : offsetof(S, member))
#define TACIT_NUMBER(S, member, label, low, high, about)                                                     \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_NUMBER, TACIT_MEMBER_(S, member, double *), .least = (low),   \
        .most = (high), .help = TACIT_HELP(about)                                                            \
    }
#define TACIT_LATER_NUMBER(S, member, label, low, high, was, about)                                          \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_NUMBER, TACIT_MEMBER_(S, member, double *), .least = (low),   \
        .most = (high), .before = was, .help = TACIT_HELP(about)                                             \
    }
#define TACIT_COUNT(S, member, label, low, high, about)                                                      \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_COUNT, TACIT_MEMBER_(S, member, uint64_t *), .least = (low),  \
        .most = (high), .help = TACIT_HELP(about)                                                            \
    }
#define TACIT_LATER_COUNT(S, member, label, low, high, was, about)                                           \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_COUNT, TACIT_MEMBER_(S, member, uint64_t *), .least = (low),  \
        .most = (high), .before = was, .help = TACIT_HELP(about)                                             \
    }
#define TACIT_OPEN_NUMBER(S, member, label, high, about, means)                                              \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_NUMBER, TACIT_MEMBER_(S, member, double *), .most = (high),   \
        .zero = means, .help = TACIT_HELP(about "; 0: " means)                                               \
    }
#define TACIT_LATER_OPEN_NUMBER(S, member, label, high, was, about, means)                                   \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_NUMBER, TACIT_MEMBER_(S, member, double *), .most = (high),   \
        .zero = means, .before = was, .help = TACIT_HELP(about "; 0: " means)                                \
    }
#define TACIT_OPEN_COUNT(S, member, label, high, about, means)                                               \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_COUNT, TACIT_MEMBER_(S, member, uint64_t *), .most = (high),  \
        .zero = means, .help = TACIT_HELP(about "; 0: " means)                                               \
    }
#define TACIT_LATER_OPEN_COUNT(S, member, label, high, was, about, means)                                    \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_COUNT, TACIT_MEMBER_(S, member, uint64_t *), .most = (high),  \
        .zero = means, .before = was, .help = TACIT_HELP(about "; 0: " means)                                \
    }
#define TACIT_CHOICE(S, member, label, words, about)                                                         \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_CHOICE, .choices = words,                                     \
        .offset = offsetof(S, member) + 0 * sizeof(char[sizeof((S *)0)->member == sizeof(int) ? 1 : -1]),    \
        .help = TACIT_HELP(about)                                                                            \
    }
#define TACIT_LATER_CHOICE(S, member, label, words, was, about)                                              \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_CHOICE, .choices = words, .before = was,                      \
        .offset = offsetof(S, member) + 0 * sizeof(char[sizeof((S *)0)->member == sizeof(int) ? 1 : -1]),    \
        .help = TACIT_HELP(about)                                                                            \
    }
#define TACIT_TEXT(S, member, label, about)                                                                  \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_TEXT, TACIT_MEMBER_(S, member, char(*)[TACIT_SETTING_SIZE]),  \
        .help = TACIT_HELP(about)                                                                            \
    }
#define TACIT_LATER_TEXT(S, member, label, was, about)                                                       \
    {                                                                                                        \
        .name = (label), .type = TACIT_SETTING_TEXT, TACIT_MEMBER_(S, member, char(*)[TACIT_SETTING_SIZE]),  \
        .before = was, .help = TACIT_HELP(about)                                                             \
    }
#define TACIT_SETTINGS_END                                                                                   \
    { .name = NULL }

/* The line so called; NULL: there is none. A NULL table has none. */
const tacit_parameter *tacit_setting_find(const tacit_parameter *table, const char *name);

/* A word by its place in `choices`, "a|b|c" ("" past the last one), and the place of a word, or -1. */
const char *tacit_setting_word(const char *choices, unsigned at, char out[TACIT_SETTING_SIZE]);
int tacit_setting_place(const char *choices, const char *word);

/* Read a value into its member; TACIT_USAGE says what `method` takes. */
tacit_status tacit_setting_parse(void *settings, const tacit_parameter *one, const char *method,
                                 const char *value, tacit_error *error);

/* The member's value in its shortest form, which parses to the same. */
const char *tacit_setting_print(const void *settings, const tacit_parameter *one,
                                char out[TACIT_SETTING_SIZE]);

/* A number or count; the place of a choice. */
double tacit_setting_number(const void *settings, const tacit_parameter *one);

/* Whether a member has the same value in both. */
bool tacit_setting_equal(const void *a, const void *b, const tacit_parameter *one);
