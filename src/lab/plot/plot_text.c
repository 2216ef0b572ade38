#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "lab/plot/plot_parts.h"

int plot_whole(double pixels) { return (int)(llround(fmax(pixels, 0) * 100) / 100); }

int plot_hundredths(double pixels) { return (int)(llround(fmax(pixels, 0) * 100) % 100); }

void plot_put(plot_page *page, const char *format, ...) {
    if (page->status != TACIT_OK) return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = tacit_format_list(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof line)
        page->status = tacit_fail(page->error, TACIT_INTERNAL, "a line of the chart is too long");
    else
        page->status = tacit_buffer_append(page->out, line, (size_t)length, page->error);
}

/* ---- characters ---- */

/* One character of UTF-8 and its length; U+FFFD for a byte that starts none, and for what XML 1.0 forbids. */
static uint32_t next_character(const char *text, size_t *length) {
    const unsigned char *at = (const unsigned char *)text;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t bytes = at[0] < 0x80             ? 1
                   : (at[0] & 0xE0) == 0xC0 ? 2
                   : (at[0] & 0xF0) == 0xE0 ? 3
                   : (at[0] & 0xF8) == 0xF0 ? 4
                                            : 0;
    uint32_t value = bytes == 1 ? at[0] : bytes > 1 ? at[0] & (0x7Fu >> bytes) : 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xC0) != 0x80) bytes = 0; /* also the end of the text */
        value = value << 6 | (at[i] & 0x3F);
    }
    *length = bytes > 0 ? bytes : 1;
    bool allowed = bytes > 0 && value >= least[bytes] && value <= 0x10FFFF &&
                   (value >= 0x20 || value == '\t' || value == '\n' || value == '\r') &&
                   !(value >= 0x7F && value <= 0x9F) && !(value >= 0xD800 && value <= 0xDFFF) &&
                   (value & 0xFFFE) != 0xFFFE;
    return allowed ? value : 0xFFFD;
}

void plot_put_text(plot_page *page, const char *text, size_t most) {
    size_t length = 0, written = 0;
    for (const char *at = text; *at != 0; at += length, written++) {
        uint32_t value = next_character(at, &length);
        if (most > 0 && written + 1 >= most && at[length] != 0) {
            plot_put(page, "…");
            return;
        }
        switch (value) {
        case '&': plot_put(page, "&amp;"); break;
        case '<': plot_put(page, "&lt;"); break;
        case '>': plot_put(page, "&gt;"); break;
        case '"': plot_put(page, "&quot;"); break;
        case '\'': plot_put(page, "&#39;"); break;
        case '\t':
        case '\n':
        case '\r': plot_put(page, " "); break;
        case 0xFFFD: plot_put(page, "\xEF\xBF\xBD"); break;
        default: plot_put(page, "%.*s", (int)length, at);
        }
    }
}

/* ---- widths ---- */

/* In ems, of a wide sans-serif face: no font is at hand to measure with. */
static double character_width(uint32_t value) {
    if (value > 0x2E80) return 1.05;
    if (value > 0x7F) return 0.75;
    if (strchr("iljtfr.,:;|!'()[] ", (int)value) != NULL) return 0.38;
    if (strchr("mwMW%@", (int)value) != NULL) return 0.95;
    return value >= 'A' && value <= 'Z' ? 0.72 : 0.6;
}

static double width_of(const char *text, size_t bytes, double size) {
    double sum = 0;
    size_t length = 0;
    for (const char *at = text; at < text + bytes && *at != 0; at += length)
        sum += character_width(next_character(at, &length));
    return sum * size;
}

double plot_text_width(const char *text, double size) { return width_of(text, strlen(text), size); }

/* How many bytes of `text` make its first line, and where the next one starts. */
static size_t line_bytes(const char *text, double size, double width, const char **next) {
    size_t good = 0;
    for (size_t i = 1;; i++) {
        if (text[i] != ' ' && text[i] != 0) continue;
        if (good > 0 && width_of(text, i, size) > width) break;
        good = i;
        if (text[i] == 0) break;
    }
    *next = text + good;
    while (**next == ' ') (*next)++;
    return good;
}

size_t plot_text_lines(const char *text, double size, double width) {
    size_t lines = 0;
    while (text != NULL && *text != 0) {
        line_bytes(text, size, width, &text);
        lines++;
    }
    return lines;
}

void plot_put_paragraph(plot_page *page, const char *text, const char *class, double size, double x, double y,
                        double width, double line_height) {
    while (text != NULL && *text != 0 && page->status == TACIT_OK) {
        const char *line = text;
        size_t bytes = line_bytes(text, size, width, &text);
        char *copy = strndup(line, bytes);
        if (copy == NULL) {
            page->status = tacit_fail_memory(page->error);
            return;
        }
        plot_put(page, "<text class=\"%s\" x=\"%d.%02d\" y=\"%d.%02d\">", class, PX(x), PX(y));
        plot_put_text(page, copy, 0);
        plot_put(page, "</text>\n");
        free(copy);
        y += line_height;
    }
}

/* ---- labels that do not collide ---- */

typedef struct wanted {
    double place;
    size_t at;
} wanted;

static int by_place(const void *left, const void *right) {
    const wanted *a = left, *b = right;
    if (a->place != b->place) return a->place < b->place ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* With z_i = y_i - i gap the labels are in order and apart exactly when z does not decrease: isotonic
 * regression, by pooling neighbours that violate it; clamping its result solves the problem with limits. */
tacit_status plot_spread_out(double *place, size_t count, double gap, double top, double bottom,
                             tacit_error *error) {
    wanted *order = TACIT_NEW(wanted, count);
    double *mean = TACIT_NEW(double, count);
    size_t *size = TACIT_NEW(size_t, count), blocks = 0;
    tacit_status status = TACIT_OK;
    if (order == NULL || mean == NULL || size == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < count; i++) order[i] = (wanted){ place[i], i };
    qsort(order, count, sizeof *order, by_place);
    for (size_t i = 0; i < count; i++) {
        mean[blocks] = order[i].place - (double)i * gap;
        size[blocks++] = 1;
        while (blocks > 1 && mean[blocks - 2] > mean[blocks - 1]) {
            double left = (double)size[blocks - 2], right = (double)size[blocks - 1];
            mean[blocks - 2] = (left * mean[blocks - 2] + right * mean[blocks - 1]) / (left + right);
            size[blocks - 2] += size[blocks - 1];
            blocks--;
        }
    }
    double most = bottom - (double)(count > 0 ? count - 1 : 0) * gap;
    for (size_t b = 0, i = 0; b < blocks; b++)
        for (size_t k = 0; k < size[b]; k++, i++)
            place[order[i].at] = fmax(top, fmin(mean[b], most)) + (double)i * gap;
cleanup:
    free(order);
    free(mean);
    free(size);
    return status;
}
