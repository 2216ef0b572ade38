/* A page of headings, sentences, lists and tables, as Markdown or as HTML that stands alone: no script, no
 * link, nothing to fetch. All texts may come from anywhere and are shown as they are, never read as
 * markup. */
#pragma once

#include "base/buffer.h"

typedef struct tacit_card_page {
    tacit_buffer *out;
    bool html;
} tacit_card_page;

tacit_status tacit_page_begin(const tacit_card_page *page, const char *title, tacit_error *error);
tacit_status tacit_page_end(const tacit_card_page *page, tacit_error *error);
tacit_status tacit_page_heading(const tacit_card_page *page, const char *text, tacit_error *error);
tacit_status tacit_page_paragraph(const tacit_card_page *page, const char *text, tacit_error *error);

/* Items of a list; `name` NULL: the text alone. */
tacit_status tacit_page_list(const tacit_card_page *page, bool begin, tacit_error *error);
tacit_status tacit_page_item(const tacit_card_page *page, const char *name, const char *text,
                             tacit_error *error);

/* A curve in the unit square with its diagonal, in HTML only; numbers outside [0, 1] are moved to its
 * edge. */
tacit_status tacit_page_curve(const tacit_card_page *page, const char *title, const double *x,
                              const double *y, size_t count, tacit_error *error);

/* The head of a table, its rows, its end. The first column is text, the others are numbers where
 * `numbers`. */
tacit_status tacit_page_table(const tacit_card_page *page, const char *const *cells, size_t count,
                              bool numbers, tacit_error *error);
tacit_status tacit_page_row(const tacit_card_page *page, const char *const *cells, size_t count, bool numbers,
                            tacit_error *error);
tacit_status tacit_page_table_end(const tacit_card_page *page, tacit_error *error);
