/*
 * XML as it is written: elements, attributes, numbers that read back as the same double. A failure is kept
 * and found at the end; after it the calls do nothing. For the export's files only.
 */
#pragma once

#include "base/buffer.h"
#include "data/schema/text.h"

typedef struct xml_writer {
    tacit_buffer *out;
    tacit_error *error;
    tacit_status status;
    unsigned depth;
} xml_writer;

/* An element with attributes, pairs of name and value up to XML_END; a pair whose value is NULL is left out.
 * Elements that hold others are closed by xml_close. TACIT_INPUT for a control character, which XML cannot
 * have. */
#define XML_END ((const char *)NULL)
void xml_open(xml_writer *x, const char *element, ...) __attribute__((sentinel));
void xml_leaf(xml_writer *x, const char *element, ...) __attribute__((sentinel));
void xml_close(xml_writer *x, const char *element);

/* An element that holds a text. */
void xml_text(xml_writer *x, const char *element, const char *text, ...) __attribute__((sentinel));

typedef struct xml_number {
    char text[TACIT_NUMBER_TEXT];
} xml_number;

/* A number as text, for an attribute: XML_NUMBER(x).text. */
xml_number xml_number_of(double value);
#define XML_NUMBER(value) (xml_number_of(value).text)
