/* What a program that serves as a classifier answers: a class a line. */
#pragma once

#include "base/buffer.h"

/* One line a point, each a number from 0 to below `classes`; the last may lack its end. TACIT_INPUT when it
 * is anything else. `shown` is the program, for messages. The bytes are changed. */
tacit_status exec_labels_read(int32_t *labels, size_t points, tacit_buffer *output, size_t classes,
                              const char *shown, tacit_error *error);
