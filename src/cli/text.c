#include "cli/text.h"

#include <stdbool.h>
#include <string.h>

#include "cli/grid.h"

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

enum { LONGEST_COMPARED = 63 };

size_t tacit_text_distance(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > LONGEST_COMPARED || columns > LONGEST_COMPARED) return SIZE_MAX;
    size_t cost[LONGEST_COMPARED + 1][LONGEST_COMPARED + 1];
    for (size_t i = 0; i <= rows; i++) cost[i][0] = i;
    for (size_t j = 0; j <= columns; j++) cost[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            size_t best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (cost[i - 1][j] + 1 < best) best = cost[i - 1][j] + 1;
            if (cost[i][j - 1] + 1 < best) best = cost[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && cost[i - 2][j - 2] + 1 < best) best = cost[i - 2][j - 2] + 1;
            cost[i][j] = best;
        }
    }
    return cost[rows][columns];
}

const char *tacit_text_closest(const char *given, const char *const *candidates) {
    const char *closest = NULL, *longer = NULL;
    size_t length = strlen(given), best = SIZE_MAX, longer_count = 0;
    for (; *candidates != NULL; candidates++) {
        size_t distance = tacit_text_distance(given, *candidates);
        if (distance < best) {
            best = distance;
            closest = *candidates;
        }
        if (length > 0 && strncmp(*candidates, given, length) == 0) {
            longer = *candidates;
            longer_count++;
        }
    }
    /* One edit in three characters still looks like a slip; more looks like another word. */
    if (best != SIZE_MAX && best <= (length < 3 ? 1 : length / 3)) return closest;
    return longer_count == 1 ? longer : NULL;
}

static void print_spaces(FILE *out, unsigned count) { fprintf(out, "%*s", (int)count, ""); }

void tacit_text_wrap(FILE *out, const char *text, unsigned at, unsigned indent, unsigned width) {
    size_t column = at;
    bool first_word = true; /* of its line: no space before it, and it is printed however long it is */
    for (;;) {
        size_t newlines = 0;
        for (; *text == ' ' || *text == '\n'; text++) newlines += *text == '\n';
        if (*text == 0) break;
        const char *end = text + strcspn(text, " \n");
        size_t word = width_of_bytes(text, end);
        bool paragraph = newlines > 1;
        if (paragraph || (!first_word && column + 1 + word > width)) {
            fputs(paragraph ? "\n\n" : "\n", out);
            print_spaces(out, indent);
            column = indent;
            first_word = true;
        }
        fprintf(out, "%s%.*s", first_word ? "" : " ", (int)(end - text), text);
        column += word + !first_word;
        first_word = false;
        text = end;
    }
    fputc('\n', out);
}
