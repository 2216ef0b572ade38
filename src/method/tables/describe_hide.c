/*
 * Which counts a report leaves out: those below the public threshold T, and in exact reports what would give
 * them away.
 *
 * Noisy counts are private as they are. One below T is left out because it says little, and nothing else is.
 *
 * Of exact counts, 0 is told, and of what is left out no count of fewer than T rows follows:
 *
 *   a list with its total      what is hidden adds up to T at least, and is two cells or more;
 *   groups beside all rows     a cell that is hidden in one group, or of all rows, is hidden in every group.
 *                              In each group what is hidden adds up to 0 or to T at least, and is two cells
 *                              or more. So the hidden cells of the groups are a whole rectangle of two rows
 *                              and two columns or more of which only sums are known: no cell of it is a
 *                              combination of these (add 1 to two opposite corners and take it from the
 *                              others, and every sum is as before);
 *   groups of too few rows     no figures by group at all: they would be those of all rows less the others';
 *   too few values in a group  no figures of that number by group, for the same reason;
 *   a cross-table              is told whole or not at all, and so is its test.
 */
#include <math.h>

#include "method/tables/describe_tables.h"

static bool is_few(const making *self, double count) { return count > 0 && count < self->threshold; }

bool describe_is_hidden(const making *self, double count) {
    if (!self->noisy) return is_few(self, count);
    return self->threshold > 0 && count < self->threshold;
}

/* The cell with the fewest rows among those that are shown and have any; SIZE_MAX: there is none. */
static size_t rarest(const double *count, size_t cells) {
    size_t least = SIZE_MAX;
    for (size_t k = 0; k < cells; k++)
        if (count[k] > 0 && (least == SIZE_MAX || count[k] < count[least])) least = k;
    return least;
}

void describe_hide(const making *self, double *count, size_t cells) {
    size_t hidden = 0;
    double sum = 0;
    for (size_t k = 0; k < cells; k++) {
        if (!describe_is_hidden(self, count[k])) continue;
        hidden++;
        sum += count[k];
        count[k] = NAN;
    }
    while (hidden > 0 && !self->noisy && (hidden == 1 || sum < self->threshold)) {
        size_t least = rarest(count, cells);
        if (least == SIZE_MAX) return;
        sum += count[least];
        hidden++;
        count[least] = NAN;
    }
}

/* Whether some group's hidden cells, those with NaN in `all`, have rows, but fewer than T. */
static bool is_one_short(const making *self, const double *group, size_t groups, const double *all,
                         size_t cells) {
    for (size_t g = 0; g < groups; g++) {
        double sum = 0;
        for (size_t k = 0; k < cells; k++)
            if (isnan(all[k])) sum += group[g * cells + k];
        if (is_few(self, sum)) return true;
    }
    return false;
}

void describe_hide_groups(const making *self, const double *group, size_t groups, double *all, size_t cells) {
    size_t hidden = 0;
    if (self->noisy) return;
    for (size_t k = 0; k < cells; k++) {
        for (size_t g = 0; g < groups; g++)
            if (is_few(self, group[g * cells + k])) all[k] = NAN;
        hidden += isnan(all[k]);
    }
    while (hidden > 0 && (hidden == 1 || is_one_short(self, group, groups, all, cells))) {
        size_t least = rarest(all, cells);
        if (least == SIZE_MAX) return;
        all[least] = NAN;
        hidden++;
    }
}

bool describe_has_few(const making *self, const double *count, size_t cells) {
    for (size_t k = 0; k < cells && !self->noisy; k++)
        if (is_few(self, count[k])) return true;
    return false;
}
