#include "cli/help/option_spelling.h"

#include <string.h>

#include "base/number.h"
#include "tacit/status.h"

static char *put(char *to, const char *from, size_t length) {
    memmove(to, from, length);
    return to + length;
}

char *tacit_spell_options(char *text) {
    char *to = text;
    const char *from = text;
    for (tacit_named_option one; tacit_text_option(from, &one); from = one.end) {
        to = put(to, from, (size_t)(one.begin - from));
        to = put(to, "--", 2);
        to = put(to, one.name, one.name_length);
        if (one.value == NULL) continue;
        to = put(to, " ", 1);
        to = put(to, one.value, one.value_length);
    }
    memmove(to, from, strlen(from) + 1);
    return text;
}

const char *tacit_help_text(const char *text, char out[TACIT_HELP_TEXT]) {
    const char *whole = tacit_methods_help(text, out);
    if (!tacit_text_option(whole, &(tacit_named_option){ .name = NULL })) return whole;
    if (whole != out) tacit_format(out, TACIT_HELP_TEXT, "%s", whole);
    return tacit_spell_options(out);
}
