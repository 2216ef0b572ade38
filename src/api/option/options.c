#include "api/option/options.h"

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"

/* libsodium sees to it that several threads may start it at once, and that only the first does. */
tacit_status tacit_library_start(tacit_error *error) {
    return sodium_init() >= 0 ? TACIT_OK : tacit_fail(error, TACIT_INTERNAL, "libsodium does not start");
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
