#include "cli/help/option_spelling.h"

#include <string.h>

#include "base/number.h"

static const char OPTION[] = "the option '";
static const char NAME[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

char *tacit_spell_options(char *text) {
    char *to = text;
    for (const char *from = text; *from != 0;) {
        const char *name = from + sizeof OPTION - 1;
        bool begins = strncmp(from, OPTION, sizeof OPTION - 1) == 0;
        size_t length = begins ? strspn(name, NAME) : 0;
        size_t value = length > 0 && name[length] == '=' ? strcspn(name + length, "'") : 0;
        if (length == 0 || name[length + value] != '\'') {
            *to++ = *from++;
            continue;
        }
        *to++ = '-';
        *to++ = '-';
        memmove(to, name, length + value);
        if (value > 0) to[length] = ' ';
        to += length + value;
        from = name + length + value + 1;
    }
    *to = 0;
    return text;
}

const char *tacit_help_text(const char *text, char out[TACIT_HELP_TEXT]) {
    const char *whole = tacit_methods_help(text, out);
    if (strstr(whole, OPTION) == NULL) return whole;
    if (whole != out) tacit_format(out, TACIT_HELP_TEXT, "%s", whole);
    return tacit_spell_options(out);
}
