#include "net/party_name.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/clean.h"

/* Controls, and what changes how the text around it is shown: joiners, marks of direction, separators of
 * lines, tags. */
static bool is_invisible(uint32_t character) {
    static const uint32_t ranges[][2] = { { 0, 0x1f },        { 0x7f, 0x9f },     { 0xad, 0xad },
                                          { 0x61c, 0x61c },   { 0x180e, 0x180e }, { 0x200b, 0x200f },
                                          { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfe00, 0xfe0f },
                                          { 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff },
                                          { 0xe000, 0xf8ff } };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (character >= ranges[i][0] && character <= ranges[i][1]) return true;
    return character == UINT32_MAX;
}

/* A space that looks like another one would make two names of one. */
static bool is_odd_space(uint32_t character) {
    return character == 0xa0 || character == 0x1680 || (character >= 0x2000 && character <= 0x200a) ||
           character == 0x202f || character == 0x205f || character == 0x3000;
}

tacit_status tacit_party_name_check(const char *name, tacit_error *error) {
    const size_t length = strnlen(name, TACIT_PARTY_NAME_SIZE);
    if (length == 0 || length > TACIT_PARTY_NAME_MOST)
        return tacit_fail(error, TACIT_USAGE, "a party's name has 1 to %d bytes of UTF-8: %s it",
                          TACIT_PARTY_NAME_MOST, length == 0 ? "write" : "shorten");
    size_t bytes;
    for (const char *at = name; *at != 0; at += bytes) {
        const uint32_t character = tacit_text_character(at, &bytes);
        if (is_invisible(character))
            return tacit_fail(error, TACIT_USAGE,
                              "byte %zu of the party's name is a control or invisible character, or not "
                              "UTF-8: use printable text",
                              (size_t)(at - name) + 1);
        if (is_odd_space(character) || (*at == ' ' && (at == name || at[1] == ' ' || at[1] == 0)))
            return tacit_fail(error, TACIT_USAGE,
                              "a party's name has no space at its ends and single plain spaces between its "
                              "words: write it so");
    }
    if (strncasecmp(name, "party-", 6) == 0 || strncasecmp(name, "center-", 7) == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "a party's name cannot begin with '%.7s', as the names that the program gives do: "
                          "choose another one",
                          name);
    return TACIT_OK;
}
