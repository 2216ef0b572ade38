#include "api/document/card_page.h"

#include <string.h>
#include <strings.h>

#include "base/clean.h"

static tacit_status put(const tacit_card_page *page, const char *text, tacit_error *error) {
    return tacit_buffer_append(page->out, text, strlen(text), error);
}

/* Whether Markdown could read something into a character: its own signs, and those without which programs see
 * an address that they make a link of. */
static bool is_markup(const char *text, const char *at) {
    if (strchr("\\`*_{}[]#!|~@$^", *at) != NULL) return true;
    if (*at == ':') return at[1] == '/';
    return *at == '.' && at - text >= 3 && strncasecmp(at - 3, "www", 3) == 0;
}

/* Control characters are replaced before. */
static tacit_status put_marked(const tacit_card_page *page, const char *text, tacit_error *error) {
    for (const char *at = text; *at != 0; at++) {
        if (*at == '<' || *at == '>' || *at == '&') {
            TACIT_TRY(put(page, *at == '<' ? "&lt;" : *at == '>' ? "&gt;" : "&amp;", error));
            continue;
        }
        if (is_markup(text, at)) TACIT_TRY(put(page, "\\", error));
        TACIT_TRY(tacit_buffer_append(page->out, at, 1, error));
    }
    return TACIT_OK;
}

static tacit_status put_escaped(const tacit_card_page *page, const char *text, tacit_error *error) {
    for (const char *at = text; *at != 0; at++) {
        const char *entity = *at == '<'    ? "&lt;"
                             : *at == '>'  ? "&gt;"
                             : *at == '&'  ? "&amp;"
                             : *at == '"'  ? "&quot;"
                             : *at == '\'' ? "&#39;"
                                           : NULL;
        if (entity != NULL)
            TACIT_TRY(put(page, entity, error));
        else
            TACIT_TRY(tacit_buffer_append(page->out, at, 1, error));
    }
    return TACIT_OK;
}

/* Characters that reorder or hide text would let a name pose as another one. */
static bool hides(uint32_t character) {
    return (character >= 0x200b && character <= 0x200f) || (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2060 && character <= 0x2069) || character == 0xfeff || character == 0x85;
}

static tacit_status put_text(const tacit_card_page *page, const char *text, tacit_error *error) {
    enum { PIECE = 256 };
    char piece[PIECE], clean[PIECE];
    size_t length;
    while (*text != 0) { /* whole characters, so that a piece ends between two */
        size_t used = 0;
        uint32_t character;
        while (used + 4 < PIECE && (character = tacit_text_character(text, &length)) != 0) {
            if (hides(character))
                piece[used++] = '?';
            else
                for (size_t i = 0; i < length; i++) piece[used++] = text[i];
            text += length;
        }
        piece[used] = 0;
        tacit_text_clean(clean, sizeof clean, piece);
        TACIT_TRY(page->html ? put_escaped(page, clean, error) : put_marked(page, clean, error));
    }
    return TACIT_OK;
}

static tacit_status put_between(const tacit_card_page *page, const char *before, const char *text,
                                const char *after, tacit_error *error) {
    TACIT_TRY(put(page, before, error));
    TACIT_TRY(put_text(page, text, error));
    return put(page, after, error);
}

tacit_status tacit_page_begin(const tacit_card_page *page, const char *title, tacit_error *error) {
    static const char *const head =
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
        "table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}"
        "th,td{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:left}"
        "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}</style>\n<title>";
    if (!page->html) return put_between(page, "# ", title, "\n", error);
    TACIT_TRY(put_between(page, head, title, "</title>\n<h1>", error));
    TACIT_TRY(put_text(page, title, error));
    return put(page, "</h1>\n", error);
}

tacit_status tacit_page_end(const tacit_card_page *page, tacit_error *error) {
    return page->html ? put(page, "</html>\n", error) : TACIT_OK;
}

tacit_status tacit_page_heading(const tacit_card_page *page, const char *text, tacit_error *error) {
    return page->html ? put_between(page, "<h2>", text, "</h2>\n", error)
                      : put_between(page, "\n## ", text, "\n", error);
}

/* At the start of a line "- ", "+ ", "= " and "1. " mean something to Markdown. A blank that does not break
 * before them takes that away. */
static const char *line_start(const char *text) {
    const char *at = text + strspn(text, "0123456789");
    return *text != 0 && (strchr("-+=", *text) != NULL || (at > text && (*at == '.' || *at == ')')))
               ? "\n&nbsp;"
               : "\n";
}

tacit_status tacit_page_paragraph(const tacit_card_page *page, const char *text, tacit_error *error) {
    return page->html ? put_between(page, "<p>", text, "</p>\n", error)
                      : put_between(page, line_start(text), text, "\n", error);
}

tacit_status tacit_page_list(const tacit_card_page *page, bool begin, tacit_error *error) {
    if (page->html) return put(page, begin ? "<ul>\n" : "</ul>\n", error);
    return begin ? put(page, "\n", error) : TACIT_OK;
}

tacit_status tacit_page_item(const tacit_card_page *page, const char *name, const char *text,
                             tacit_error *error) {
    TACIT_TRY(put(page, page->html ? "<li>" : "- ", error));
    if (name != NULL)
        TACIT_TRY(put_between(page, page->html ? "<b>" : "**", name, page->html ? "</b>: " : "**: ", error));
    TACIT_TRY(put_text(page, text, error));
    return put(page, page->html ? "</li>\n" : "\n", error);
}

static tacit_status put_cells(const tacit_card_page *page, const char *const *cells, size_t count,
                              const char *tag, bool numbers, tacit_error *error) {
    TACIT_TRY(put(page, page->html ? "<tr>" : "|", error));
    for (size_t i = 0; i < count; i++) {
        TACIT_TRY(put(page, page->html ? "<" : " ", error));
        if (page->html) TACIT_TRY(put(page, tag, error));
        if (page->html) TACIT_TRY(put(page, numbers && i > 0 ? " class=\"n\">" : ">", error));
        TACIT_TRY(put_text(page, cells[i], error));
        TACIT_TRY(put(page, page->html ? "</" : " |", error));
        if (page->html) TACIT_TRY(put(page, tag, error));
        if (page->html) TACIT_TRY(put(page, ">", error));
    }
    return put(page, page->html ? "</tr>\n" : "\n", error);
}

tacit_status tacit_page_table(const tacit_card_page *page, const char *const *cells, size_t count,
                              bool numbers, tacit_error *error) {
    TACIT_TRY(put(page, page->html ? "<table>\n" : "\n", error));
    TACIT_TRY(put_cells(page, cells, count, "th", numbers, error));
    if (page->html) return TACIT_OK;
    TACIT_TRY(put(page, "|", error));
    for (size_t i = 0; i < count; i++) TACIT_TRY(put(page, numbers && i > 0 ? " ---: |" : " --- |", error));
    return put(page, "\n", error);
}

tacit_status tacit_page_row(const tacit_card_page *page, const char *const *cells, size_t count, bool numbers,
                            tacit_error *error) {
    return put_cells(page, cells, count, "td", numbers, error);
}

tacit_status tacit_page_table_end(const tacit_card_page *page, tacit_error *error) {
    return page->html ? put(page, "</table>\n", error) : TACIT_OK;
}

static double within(double value) { return value > 0 ? (value < 1 ? value : 1) : 0; }

tacit_status tacit_page_curve(const tacit_card_page *page, const char *title, const double *x,
                              const double *y, size_t count, tacit_error *error) {
    enum { SIDE = 300 };
    if (!page->html || count == 0) return TACIT_OK;
    TACIT_TRY(put_between(page, "<figure><figcaption>", title, "</figcaption>\n", error));
    TACIT_TRY(tacit_buffer_print(page->out, error,
                                 "<svg viewBox=\"-2 -2 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">"
                                 "<path d=\"M0 0V%dH%dV0ZM0 %dL%d 0\" fill=\"none\" stroke=\"#bbb\"/>"
                                 "<polyline fill=\"none\" stroke=\"#06c\" stroke-width=\"2\" points=\"",
                                 SIDE + 4, SIDE + 4, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE));
    for (size_t i = 0; i < count; i++)
        TACIT_TRY(tacit_buffer_print(page->out, error, "%.1f,%.1f ", SIDE * within(x[i]),
                                     SIDE * (1 - within(y[i]))));
    return put(page, "\"/></svg></figure>\n", error);
}
