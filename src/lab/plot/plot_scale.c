#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/plot/plot_parts.h"

/* Beyond it differences and logarithms of limits could overflow; nobody plots such numbers. */
static const double LARGEST = 1e100;

plot_scale plot_scale_begin(const tacit_plot_axis *axis) {
    return (plot_scale){
        .is_logarithmic = axis->is_logarithmic, .is_empty = true, .low = INFINITY, .high = -INFINITY
    };
}

bool plot_scale_takes(const plot_scale *scale, double value) {
    if (!(fabs(value) <= LARGEST)) return false;
    return !scale->is_logarithmic || value == 0 || value >= 1 / LARGEST;
}

void plot_scale_add(plot_scale *scale, double value) {
    if (!plot_scale_takes(scale, value)) return;
    if (scale->is_logarithmic && value == 0) {
        scale->has_zero = true;
        return;
    }
    scale->is_empty = false;
    scale->low = fmin(scale->low, value);
    scale->high = fmax(scale->high, value);
}

/* The smallest of 1, 2, 2.5, 5 times a power of ten that cuts the span into at most `most` steps. */
static double nice_step(double span, int most, int *decimals) {
    static const double factors[] = { 1, 2, 2.5, 5, 10 };
    double least = span / most;
    int power = (int)floor(log10(least));
    double unit = pow(10, power);
    size_t pick = 0;
    while (pick < 4 && factors[pick] * unit < least * (1 - 1e-9)) pick++;
    *decimals = -power - (pick == 4) + (pick == 2);
    if (*decimals < 0) *decimals = 0;
    return factors[pick] * unit;
}

/* Round to the decimals of the step, so that 0.30000000000000004 is written as 0.3. */
static void add_tick(plot_scale *scale, double value, int decimals) {
    if (scale->tick_count == PLOT_MOST_TICKS) return;
    plot_tick *tick = &scale->ticks[scale->tick_count++];
    char number[TACIT_NUMBER_TEXT];
    double unit = pow(10, decimals);
    tick->value = value;
    snprintf(tick->text, sizeof tick->text, "%s",
             tacit_number_to_text(decimals > 15 ? value : round(value * unit) / unit, number));
    /* 0.5 beside 0.55 and 0.6 is written 0.50. */
    const char *point = strchr(tick->text, '.');
    if (decimals == 0 || decimals > 15 || strchr(tick->text, 'e') != NULL) return;
    size_t length = strlen(tick->text), have = point != NULL ? strlen(point + 1) : 0;
    if (point == NULL && length + 1 < sizeof tick->text) tick->text[length++] = '.';
    for (; have < (size_t)decimals && length + 1 < sizeof tick->text; have++) tick->text[length++] = '0';
    tick->text[length] = 0;
}

static void linear_ticks(plot_scale *scale, bool to_ticks) {
    int decimals;
    double step = nice_step(scale->high - scale->low, 6, &decimals);
    double first = ceil(scale->low / step - 1e-9), last = floor(scale->high / step + 1e-9);
    if (to_ticks) {
        first = floor(scale->low / step + 1e-9);
        last = ceil(scale->high / step - 1e-9);
        scale->low = first * step;
        scale->high = last * step;
    }
    for (double k = first; k <= last; k++) add_tick(scale, k * step, decimals);
}

/* 0.0001 to 10000 in full, others as powers of ten. */
static void add_decade(plot_scale *scale, int power, int factor) {
    static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    if (scale->tick_count == PLOT_MOST_TICKS) return;
    if (power >= -4 && power <= 4) {
        add_tick(scale, power < 0 ? factor / pow(10, -power) : factor * pow(10, power),
                 power < 0 ? -power : 0);
        return;
    }
    plot_tick *tick = &scale->ticks[scale->tick_count++];
    char digits[16];
    size_t length = 0;
    tick->value = factor * pow(10, power);
    snprintf(digits, sizeof digits, "%d", power < 0 ? -power : power);
    if (factor > 1) length += (size_t)snprintf(tick->text, PLOT_TICK_TEXT, "%d·", factor);
    length += (size_t)snprintf(tick->text + length, PLOT_TICK_TEXT - length, "10%s", power < 0 ? "⁻" : "");
    for (const char *at = digits; *at != 0 && length < PLOT_TICK_TEXT; at++)
        length += (size_t)snprintf(tick->text + length, PLOT_TICK_TEXT - length, "%s", raised[*at - '0']);
}

static void logarithmic_ticks(plot_scale *scale) {
    int first = (int)ceil(log10(scale->low) - 1e-9), last = (int)floor(log10(scale->high) + 1e-9);
    if (last - first >= 2) {
        int stride = (last - first) / 8 + 1;
        for (int power = first; power <= last; power += stride) add_decade(scale, power, 1);
        return;
    }
    static const int factors[] = { 1, 2, 5 };
    for (int power = first - 1; power <= last; power++)
        for (size_t f = 0; f < 3; f++) {
            double value = factors[f] * pow(10, power);
            if (value >= scale->low * (1 - 1e-9) && value <= scale->high * (1 + 1e-9))
                add_decade(scale, power, factors[f]);
        }
    if (scale->tick_count >= 2) return;
    scale->tick_count = 0;
    int decimals;
    double step = nice_step(scale->high - scale->low, 5, &decimals);
    for (double k = ceil(scale->low / step - 1e-9); k <= floor(scale->high / step + 1e-9); k++)
        add_tick(scale, k * step, decimals);
}

/* A little air around the values; equal ones get a unit's width, or a decade's. */
static void widen(plot_scale *scale) {
    if (scale->is_empty) { /* only to have an axis at all */
        scale->low = scale->is_logarithmic ? 0.1 : 0;
        scale->high = scale->is_logarithmic ? 10 : 1;
    }
    if (scale->is_logarithmic) {
        double factor = pow(10, fmax(0.05 * log10(scale->high / scale->low), 0.01));
        if (scale->low == scale->high) factor = 3;
        scale->low /= factor;
        scale->high *= factor;
        return;
    }
    double size = fmax(fabs(scale->low), fabs(scale->high)), span = scale->high - scale->low;
    double air = span > 1e-9 * size ? 0.04 * span : size > 0 ? 0.1 * size : 0.5;
    scale->low -= air;
    scale->high += air;
}

void plot_scale_finish(plot_scale *scale, const tacit_plot_axis *axis, bool to_ticks) {
    if (axis->names != NULL) {
        scale->low = 0.6;
        scale->high = (double)axis->name_count + 0.4;
        for (size_t i = 0; i < axis->name_count && i < PLOT_MOST_TICKS; i++) {
            scale->ticks[i].value = (double)(i + 1);
            snprintf(scale->ticks[i].text, PLOT_TICK_TEXT, "%s", axis->names[i]);
            scale->tick_count++;
        }
        return;
    }
    widen(scale);
    if (scale->is_logarithmic)
        logarithmic_ticks(scale);
    else {
        double low = scale->low, high = scale->high;
        if (axis->is_bounded && fmax(low, axis->least) < fmin(high, axis->most)) {
            scale->low = fmax(low, axis->least);
            scale->high = fmin(high, axis->most);
        }
        linear_ticks(scale, to_ticks);
    }
}

double plot_scale_place(const plot_scale *scale, double value) {
    if (scale->is_logarithmic && value == 0) return scale->zero;
    double share = scale->is_logarithmic ? log(value / scale->low) / log(scale->high / scale->low)
                                         : (value - scale->low) / (scale->high - scale->low);
    return scale->begin + fmin(fmax(share, 0), 1) * (scale->end - scale->begin);
}
