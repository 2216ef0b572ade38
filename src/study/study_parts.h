/* What the files that read a study's definition share. */
#pragma once

#include <limits.h>

#include "data/yaml.h"
#include "study/study.h"

typedef struct reading {
    tacit_yaml yaml;
    const char *folder; /* where files are looked for; NULL: none may be named */
    tacit_study *study;
    tacit_error *error;
} reading;

/* The canonical text holds titles and settings as they are between quotes, so nothing may need an escape there: no
 * control characters, and none of the characters that YAML takes for a line break or a byte order mark, or does not
 * allow. */
bool study_is_plain_line(const char *text, size_t size);

/* Where a file that the study names is. */
tacit_status study_find_file(reading *r, const yaml_node_t *node, const char *text, char path[PATH_MAX]);

/* The card of server B, for the methods that compute with two (study_center.c), and its part of the canonical text. */
tacit_status study_read_center(reading *r, const yaml_node_t *node, const yaml_node_t *method_node);
tacit_status study_print_center(const tacit_study *study, tacit_buffer *out, tacit_error *error);

/* Of encrypted sums the size of the key, and of masked ones whether all mask with all, also where they are many (study_sums.c). */
tacit_status study_read_key_bits(reading *r, const yaml_node_t *node);
tacit_status study_read_complete(reading *r, const yaml_node_t *node);

/* For methods without a center (study_neighbours.c): `parties` and `sum` are the nodes to point at, `set` holds the graph. */
tacit_status study_check_neighbours(reading *r, const yaml_node_t *parties, const yaml_node_t *sum);
tacit_status study_read_graph(reading *r, const yaml_node_t *set);

/* What people read before they consent (study_about.c): description, approval, consent document, schedule. Each node may be
 * NULL: left out. */
tacit_status study_read_about(reading *r, const yaml_node_t *description, const yaml_node_t *approval,
                              const yaml_node_t *consent, const yaml_node_t *schedule);

/* Their part of the canonical text; nothing where nothing was said. */
tacit_status study_print_about(const tacit_study *study, tacit_buffer *out, tacit_error *error);

/* Indent each line, so that the text is a literal block of YAML. */
tacit_status study_print_block(tacit_buffer *out, const char *text, tacit_error *error);
