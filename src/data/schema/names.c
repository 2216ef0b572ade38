#include "data/schema/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/schema/text.h"

enum { COMPARED = 48 }; /* longer names are not searched for slips */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Levenshtein distance of two short texts, letters compared without case. */
static size_t slips(const char *a, const char *b) {
    size_t previous[COMPARED + 1], length_b = strlen(b);
    for (size_t j = 0; j <= length_b; j++) previous[j] = j;
    for (size_t i = 1; a[i - 1] != 0; i++) {
        size_t diagonal = previous[0];
        previous[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t above = previous[j];
            bool same = strncasecmp(a + i - 1, b + j - 1, 1) == 0;
            previous[j] = least(least(above, previous[j - 1]) + 1, diagonal + !same);
            diagonal = above;
        }
    }
    return previous[length_b];
}

const char *tacit_names_closest(const char *const *names, size_t count, const char *name) {
    size_t length = strlen(name), best = length / 3 + 1;
    const char *found = NULL;
    if (length > COMPARED) return NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t other = strlen(names[i]);
        /* age is no slip for stage */
        if (other > COMPARED || other > length + 1 || length > other + 1) continue;
        size_t distance = slips(name, names[i]);
        if (distance < best || (distance == best && found == NULL)) {
            best = distance;
            found = names[i];
        }
    }
    return found;
}

void tacit_names_list(const tacit_levels *names, char *out, size_t size) {
    enum { TAIL = 24 };
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < names->count; i++) {
        char shown[TACIT_CELL_TEXT];
        tacit_text_shown(names->text[i], strlen(names->text[i]), shown);
        if (used + strlen(shown) + 2 + TAIL > size) {
            snprintf(out + used, size - used, ", ... (%zu in all)", names->count);
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", shown);
    }
}

tacit_status tacit_names_find(const tacit_levels *names, const char *name, const char *what, const char *flag,
                              const char *file, size_t *out, tacit_error *error) {
    int32_t found = tacit_levels_find(names, name, strlen(name));
    if (found >= 0) {
        *out = (size_t)found;
        return TACIT_OK;
    }
    char shown[TACIT_CELL_TEXT], other[TACIT_CELL_TEXT], list[200];
    tacit_text_shown(name, strlen(name), shown);
    const char *open = flag != NULL ? " (" : "", *close = flag != NULL ? ")" : "";
    const char *near = tacit_names_closest((const char *const *)names->text, names->count, name);
    if (near != NULL)
        return tacit_fail(error, TACIT_USAGE, "%s has no %s '%s'%s%s%s; did you mean '%s'?%s", file, what,
                          shown, open, flag != NULL ? flag : "", close,
                          tacit_text_shown(near, strlen(near), other),
                          strcasecmp(near, name) == 0 ? " Capitals count: write it alike in both" : "");
    tacit_names_list(names, list, sizeof list);
    return tacit_fail(error, TACIT_USAGE, "%s has no %s '%s'%s%s%s; there are %s", file, what, shown, open,
                      flag != NULL ? flag : "", close, list);
}

const char *tacit_names_known(const tacit_levels *names, size_t place, char out[TACIT_KNOWN_TEXT]) {
    char shown[TACIT_CELL_TEXT];
    out[0] = 0;
    if (place < names->count)
        snprintf(out, TACIT_KNOWN_TEXT, " (%s)",
                 tacit_text_shown(names->text[place], strlen(names->text[place]), shown));
    return out;
}
