#include "api/option/options.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/schema/text.h"

/* libsodium sees to it that several threads may start it at once, and that only the first does. */
tacit_status tacit_library_start(tacit_error *error) {
    return sodium_init() >= 0 ? TACIT_OK : tacit_fail(error, TACIT_INTERNAL, "libsodium does not start");
}

tacit_status tacit_fill_sized(void *out, size_t room, const void *filled, size_t size, size_t least,
                              const char *initialiser, tacit_error *error) {
    if (room < least)
        return tacit_fail(error, TACIT_USAGE, "the structure says that it has %zu bytes: start with %s", room,
                          initialiser);
    memcpy(out, filled, room < size ? room : size);
    memcpy(out, &room, sizeof room); /* the caller's, as it was */
    return TACIT_OK;
}

tacit_status tacit_options_create(tacit_options **out, tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    tacit_options *options = TACIT_NEW(tacit_options, 1);
    if (options == NULL) return tacit_fail_memory(error);
    *out = options;
    return TACIT_OK;
}

tacit_status tacit_options_set(tacit_options *options, const char *name, const char *value,
                               tacit_error *error) {
    TACIT_TRY(tacit_require(options, "the set of options", error));
    if (name == NULL || name[0] == 0 || value == NULL)
        return tacit_fail(error, TACIT_USAGE, "an option needs a name and a value");
    option_text *items = tacit_grow(options->items, options->count + 1, sizeof *items);
    if (items == NULL) return tacit_fail_memory(error);
    options->items = items;
    option_text one = { tacit_copy_text(name), tacit_copy_text(value) };
    if (one.name == NULL || one.value == NULL) {
        free(one.name);
        free(one.value);
        return tacit_fail_memory(error);
    }
    items[options->count++] = one;
    return TACIT_OK;
}

tacit_status tacit_options_set_number(tacit_options *options, const char *name, double value,
                                      tacit_error *error) {
    char text[TACIT_NUMBER_TEXT];
    if (isnan(value))
        return tacit_fail(error, TACIT_USAGE, "the option '%.60s' is a number, not NaN",
                          name != NULL ? name : "");
    if (isinf(value)) return tacit_options_set(options, name, value > 0 ? "inf" : "-inf", error);
    return tacit_options_set(options, name, tacit_number_to_text(value, text), error);
}

tacit_status tacit_options_set_count(tacit_options *options, const char *name, uint64_t value,
                                     tacit_error *error) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return tacit_options_set(options, name, text, error);
}

tacit_status tacit_options_set_flag(tacit_options *options, const char *name, bool value,
                                    tacit_error *error) {
    return tacit_options_set(options, name, value ? "yes" : "no", error);
}

tacit_status tacit_options_set_setting(tacit_options *options, const char *key, const char *value,
                                       tacit_error *error) {
    TACIT_TRY(tacit_require(options, "the set of options", error));
    if (key == NULL || key[0] == 0 || value == NULL)
        return tacit_fail(error, TACIT_USAGE, "a setting needs a name and a value");
    char *text = tacit_allocate(strlen(key) + strlen(value) + 2, 1);
    if (text == NULL) return tacit_fail_memory(error);
    memcpy(text, key, strlen(key));
    text[strlen(key)] = '=';
    memcpy(text + strlen(key) + 1, value, strlen(value));
    tacit_status status = tacit_options_set(options, "set", text, error);
    free(text);
    return status;
}

tacit_options *tacit_options_free(tacit_options *options) {
    if (options == NULL) return NULL;
    for (size_t i = 0; i < options->count; i++) {
        free(options->items[i].name);
        free(options->items[i].value);
    }
    free(options->items);
    free(options);
    return NULL;
}
