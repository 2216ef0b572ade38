#include "model/export/export_xml.h"

#include <stdarg.h>
#include <string.h>

xml_number xml_number_of(double value) {
    xml_number number;
    tacit_number_to_text(value, number.text);
    return number;
}

static void put(xml_writer *x, const char *text, size_t length) {
    if (x->status == TACIT_OK) x->status = tacit_buffer_append(x->out, text, length, x->error);
}

static void put_all(xml_writer *x, const char *text) { put(x, text, strlen(text)); }

/* What stands for a character that may not stand for itself in text or attributes; "" where XML has nothing,
 * NULL for others. A reader turns bare line ends and tabs of an attribute into blanks, so these are
 * numbered. */
static const char *escape_of(char c) {
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\t': return "&#9;";
    case '\n': return "&#10;";
    case '\r': return "&#13;";
    default: return (unsigned char)c < 0x20 ? "" : NULL;
    }
}

static void put_escaped(xml_writer *x, const char *text) {
    size_t plain = 0;
    for (; text[plain] != 0 && x->status == TACIT_OK;) {
        const char *escape = escape_of(text[plain]);
        bool special =
            strncmp(text + plain, "\xEF\xBF\xBE", 3) == 0 || strncmp(text + plain, "\xEF\xBF\xBF", 3) == 0;
        if (special || (escape != NULL && *escape == 0)) {
            char shown[TACIT_CELL_TEXT];
            x->status = tacit_fail(x->error, TACIT_INPUT,
                                   "'%s' holds a control character, which XML cannot: export as onnx, or "
                                   "rename it and fit again",
                                   tacit_text_shown(text, strlen(text), shown));
            return;
        }
        if (escape == NULL) {
            plain++;
            continue;
        }
        put(x, text, plain);
        put_all(x, escape);
        text += plain + 1;
        plain = 0;
    }
    put(x, text, plain);
}

static void start(xml_writer *x, const char *element, va_list attributes) {
    for (unsigned i = 0; i < x->depth; i++) put(x, " ", 1);
    put(x, "<", 1);
    put_all(x, element);
    for (const char *name; (name = va_arg(attributes, const char *)) != NULL;) {
        const char *value = va_arg(attributes, const char *);
        if (value == NULL) continue;
        put(x, " ", 1);
        put_all(x, name);
        put_all(x, "=\"");
        put_escaped(x, value);
        put(x, "\"", 1);
    }
}

void xml_open(xml_writer *x, const char *element, ...) {
    va_list attributes;
    va_start(attributes, element);
    start(x, element, attributes);
    va_end(attributes);
    put_all(x, ">\n");
    x->depth++;
}

void xml_leaf(xml_writer *x, const char *element, ...) {
    va_list attributes;
    va_start(attributes, element);
    start(x, element, attributes);
    va_end(attributes);
    put_all(x, "/>\n");
}

static void end(xml_writer *x, const char *element) {
    put_all(x, "</");
    put_all(x, element);
    put_all(x, ">\n");
}

void xml_close(xml_writer *x, const char *element) {
    x->depth--;
    for (unsigned i = 0; i < x->depth; i++) put(x, " ", 1);
    end(x, element);
}

void xml_text(xml_writer *x, const char *element, const char *text, ...) {
    va_list attributes;
    va_start(attributes, text);
    start(x, element, attributes);
    va_end(attributes);
    put(x, ">", 1);
    put_escaped(x, text);
    end(x, element);
}
