#include "base/clean.h"

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
