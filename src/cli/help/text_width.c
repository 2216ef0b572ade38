#include "cli/help/text_width.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

typedef struct span {
    uint32_t first, last;
} span;

static bool is_within(uint32_t character, const span *spans, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (character >= spans[i].first && character <= spans[i].last) return true;
    return false;
}

/* wcwidth would follow the locale, which this program leaves at "C" so that numbers read the same
 * everywhere; these spans cover what names of columns and levels hold in practice. */
static unsigned character_width(uint32_t character) {
    static const span none[] = {
        { 0x300, 0x36f }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }
    };
    static const span wide[] = { { 0x1100, 0x115f },   { 0x2e80, 0x303e },  { 0x3041, 0xa4cf },
                                 { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },  { 0xfe30, 0xfe6f },
                                 { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },  { 0x1f300, 0x1f64f },
                                 { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd } };
    if (is_within(character, none, sizeof none / sizeof *none)) return 0;
    return is_within(character, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

static size_t width_of_bytes(const char *text, const char *end) {
    size_t width = 0, length;
    for (; text < end; text += length) {
        uint32_t character = tacit_text_character(text, &length);
        if (length == 0) break;
        width += character == UINT32_MAX ? 1 : character_width(character);
    }
    return width;
}

size_t tacit_text_width(const char *text) { return width_of_bytes(text, text + strlen(text)); }

static void put_word(tacit_wrap *wrap, const char *word, const char *end) {
    size_t width = width_of_bytes(word, end);
    if (wrap->begun && wrap->column + 1 + width > wrap->width) tacit_wrap_break(wrap, 1);
    fprintf(wrap->out, "%s%.*s", wrap->begun ? " " : "", (int)(end - word), word);
    wrap->column += width + wrap->begun;
    wrap->begun = true;
}

void tacit_wrap_break(tacit_wrap *wrap, unsigned lines) {
    while (lines-- > 0) fputc('\n', wrap->out);
    fprintf(wrap->out, "%*s", (int)wrap->indent, "");
    wrap->column = wrap->indent;
    wrap->begun = false;
}

void tacit_wrap_text(tacit_wrap *wrap, const char *text) {
    for (;;) {
        size_t newlines = 0;
        for (; *text == ' ' || *text == '\n'; text++) newlines += *text == '\n';
        if (*text == 0) return;
        if (newlines > 1 && wrap->begun) tacit_wrap_break(wrap, 2);
        const char *end = text + strcspn(text, " \n");
        put_word(wrap, text, end);
        text = end;
    }
}

void tacit_wrap_token(tacit_wrap *wrap, const char *format, ...) {
    char token[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(token, sizeof token, format, arguments);
    va_end(arguments);
    put_word(wrap, token, token + strlen(token));
}
