/* What the files that read a study's definition share. */
#pragma once

#include <limits.h>

#include "data/schema/yaml.h"
#include "study/study_settings.h"

/* How many settings there are. */
enum {
    STUDY_SETTINGS = 0
#define TACIT_STUDY_NUMBER(...) +1
#define TACIT_STUDY_COUNT(...) +1
#define TACIT_STUDY_SWITCH(...) +1
#define TACIT_STUDY_LINE(...) +1
#define TACIT_PLAN_NUMBER(...) +1
#define TACIT_PLAN_COUNT(...) +1
#define TACIT_PLAN_SWITCH(...) +1
#define TACIT_STUDY_MADE(...) +1
#include "study/study_table.h"
};

typedef struct study_reading {
    tacit_yaml yaml;
    const char *folder; /* where files are looked for; NULL: none may be named */
    bool written;       /* now, by whoever makes the study; else agreed on before */
    tacit_study *study;
    const yaml_node_t *values[STUDY_SETTINGS]; /* in the order of the table; NULL: left out */
    tacit_error *error;
} reading;

/* ---- study_settings.c ---- */

/* Spread the definition over `values`; what is required is there. */
tacit_status study_find_values(reading *r, const yaml_node_t *root);
/* Read the settings of a stage. */
tacit_status study_read_stage(reading *r, tacit_study_stage stage);
/* The canonical text. */
tacit_status study_print_settings(const tacit_study *study, tacit_buffer *out, tacit_error *error);
/* What stands for a setting; NULL: left out. */
const yaml_node_t *study_node(const reading *r, const char *name);

tacit_status study_read_range(reading *r, const yaml_node_t *node, const char *what, double least,
                              double most, double *out);
tacit_status study_read_whole(reading *r, const yaml_node_t *node, const char *what, double least,
                              double most, size_t *out);

/* The canonical text holds titles and settings as they are between quotes, so nothing may need an escape
 * there: no control characters, and none of the characters that YAML takes for a line break or a byte order
 * mark, or does not allow. */
bool study_is_plain_line(const char *text, size_t size);

/* Where a file that the study names is. */
tacit_status study_find_file(reading *r, const yaml_node_t *node, const char *text, char path[PATH_MAX]);

/* Fail at the line of a node, or where that is NULL for the whole file, if `status` is a failure. */
tacit_status study_fail_at(reading *r, const yaml_node_t *node, tacit_status status);

/* ---- the settings that are made: read the node, NULL where it is left out; append a part of the canonical
 * text ---- */

#define TACIT_STUDY_MADE(name, ...)                                                                          \
    tacit_status study_read_##name(reading *r, const yaml_node_t *node);                                     \
    tacit_status study_print_##name(const tacit_study *study, tacit_buffer *out, tacit_error *error);
#include "study/study_table.h"

/* Once all of the parties is read: can such sums be computed, and for a method without a center, is there the
 * graph (study_sums.c)? */
tacit_status study_check_sums(reading *r);
tacit_status study_check_neighbours(reading *r);
tacit_status study_read_graph(reading *r);

/* A study about a model has its terms and its subset, where it says nothing else (study_model.c). */
tacit_status study_take_model_terms(reading *r);
/* Once all is read: does the rule fit the method and its parties (stop_read.c)? */
tacit_status study_check_stop(reading *r);

/* A text of several lines stands for itself; one line names a file, which is read into `file`. */
tacit_status study_text_or_file(reading *r, const yaml_node_t *node, const char *key, tacit_buffer *file,
                                const char **text, size_t *length);

/* Append several lines of plain text in one form, whatever ends their lines; `what` names it in errors. */
tacit_status study_take_text(reading *r, const yaml_node_t *node, const char *what, const char *text,
                             size_t length, size_t most, tacit_buffer *out);
/* Indent each line, so that the text is a literal block of YAML. */
tacit_status study_print_block(tacit_buffer *out, const char *text, tacit_error *error);
