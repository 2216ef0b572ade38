#include "cli/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

uint32_t tacit_text_character(const char *text, size_t *length) {
    const unsigned char *byte = (const unsigned char *)text;
    *length = byte[0] != 0;
    if (byte[0] < 0x80) return byte[0];
    size_t more = byte[0] >= 0xf0 ? 3 : byte[0] >= 0xe0 ? 2 : 1;
    if (byte[0] < 0xc2 || byte[0] > 0xf4) return UINT32_MAX;
    uint32_t value = byte[0] & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) {
        /* The terminating NUL fails this too, so nothing past it is read. */
        if ((byte[i] & 0xc0) != 0x80) return UINT32_MAX;
        value = value << 6 | (byte[i] & 0x3fu);
    }
    static const uint32_t shortest[] = { 0, 0x80, 0x800, 0x10000 };
    if (value < shortest[more] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return UINT32_MAX;
    *length = more + 1;
    return value;
}

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

static bool steers_terminal(uint32_t character) {
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == UINT32_MAX ||
           (character >= 0x2028 && character <= 0x202e);
}

char *tacit_text_clean(char *out, size_t size, const char *text) {
    size_t used = 0, length;
    for (uint32_t character; (character = tacit_text_character(text, &length)), length > 0; text += length) {
        bool replace = steers_terminal(character);
        size_t needed = replace ? 1 : length;
        if (used + needed >= size) break;
        if (replace)
            out[used] = '?';
        else
            memcpy(out + used, text, length);
        used += needed;
    }
    out[used] = 0;
    return out;
}

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
