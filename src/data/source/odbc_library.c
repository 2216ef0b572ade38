#include "data/source/odbc_library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/memory.h"

tacit_status odbc_library_load(odbc_library *out, tacit_error *error) {
    *out = (odbc_library){ .handle = dlopen("libodbc.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) };
    if (out->handle == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "there is no libodbc.so.2 to read by ODBC with: install unixODBC (Debian: "
                          "libodbc2), and the driver of the database");
    const char *missing = NULL;
    void *found;
#define FIND(name, parameters)                                                                               \
    found = dlsym(out->handle, #name);                                                                       \
    if (found == NULL) missing = #name;                                                                      \
    memcpy(&out->name, &found, sizeof found);
    ODBC_FUNCTIONS(FIND)
#undef FIND
    if (missing == NULL) return TACIT_OK;
    dlclose(out->handle);
    return tacit_fail(error, TACIT_USAGE, "the libodbc.so.2 that was found has no function %s", missing);
}

/* ---- texts ---- */

enum { HIGH_HALF = 0xD800, LOW_HALF = 0xDC00, AFTER_HALVES = 0xE000, REPLACEMENT = 0xFFFD };

/* The next character of a UTF-8 text, which is known to be well formed. */
static uint32_t next_character(const uint8_t **at) {
    uint32_t first = *(*at)++;
    int more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    for (; more > 0 && (**at & 0xC0) == 0x80; more--) code = code << 6 | (*(*at)++ & 0x3F);
    return code;
}

tacit_status odbc_text_make(uint16_t **out, const char *text, tacit_error *error) {
    uint16_t *made = tacit_allocate(strlen(text) + 1, sizeof *made); /* no text grows in units */
    size_t length = 0;
    if (made == NULL) return tacit_fail_memory(error);
    for (const uint8_t *at = (const uint8_t *)text; *at != 0;) {
        uint32_t code = next_character(&at);
        if (code >= 0x10000) {
            made[length++] = (uint16_t)(HIGH_HALF + ((code - 0x10000) >> 10));
            code = LOW_HALF + ((code - 0x10000) & 0x3FF);
        }
        made[length++] = (uint16_t)code;
    }
    made[length] = 0;
    *out = made;
    return TACIT_OK;
}

static size_t write_utf8(uint8_t out[4], uint32_t code) {
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t marks[] = { 0, 0xC0, 0xE0, 0xF0 };
    out[0] = (uint8_t)(marks[more] | code >> (6 * more));
    for (size_t i = 1; i <= more; i++) out[i] = (uint8_t)(0x80 | (code >> (6 * (more - i)) & 0x3F));
    return more + 1;
}

tacit_status odbc_text_read(tacit_buffer *out, const uint16_t *text, size_t length, tacit_error *error) {
    for (size_t i = 0; i < length; i++) {
        uint32_t code = text[i];
        uint8_t bytes[4];
        bool pair = code >= HIGH_HALF && code < LOW_HALF && i + 1 < length && text[i + 1] >= LOW_HALF &&
                    text[i + 1] < AFTER_HALVES;
        if (pair)
            code = 0x10000 + ((code - HIGH_HALF) << 10) + (text[++i] - (uint32_t)LOW_HALF);
        else if (code >= HIGH_HALF && code < AFTER_HALVES)
            code = REPLACEMENT;
        TACIT_TRY(tacit_buffer_append(out, bytes, write_utf8(bytes, code), error));
    }
    return TACIT_OK;
}
