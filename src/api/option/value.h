/* The value of one option: checked against its kind and rules, and kept in the form its getter returns. */
#pragma once

#include "api/option/arguments.h"

typedef struct tacit_value {
    bool given; /* on the command line, not by fallback */
    bool on;    /* FLAG */
    size_t count;
    double *numbers; /* NUMBER, NUMBERS */
    int64_t integer;
    const char **texts;      /* TEXT, FILE, CHOICE, WORDS; point into the command line or `copies` */
    tacit_setting *settings; /* SETTING; point into `copies` */
    char **copies;
    size_t copy_count;
} tacit_value;

/* Take one more text for an option. TACIT_USAGE with a sentence that names the option and what it takes. */
tacit_status tacit_value_add(tacit_value *value, const tacit_option *option, const char *text,
                             tacit_error *error);
void tacit_value_clear(tacit_value *value);
