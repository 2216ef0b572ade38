/* What the files that read a study's definition share. */
#pragma once

#include "data/yaml.h"
#include "service/study.h"

typedef struct reading {
    tacit_yaml yaml;
    const char *folder; /* where files are looked for; NULL: none may be named */
    tacit_study *study;
    tacit_error *error;
} reading;

/* One line of fewer than `size` bytes that the canonical text can quote. */
bool study_is_plain_line(const char *text, size_t size);

/* Where a file that the study names is; `path` has PATH_MAX bytes. */
tacit_status study_find_file(reading *r, const yaml_node_t *node, const char *text, char *path);

/* The card of server B, for the methods that compute with two. */
tacit_status study_read_center(reading *r, const yaml_node_t *node, const yaml_node_t *method_node);

/* For methods without a centre: `parties` and `sum` are the nodes to point at, `set` holds the graph. */
tacit_status study_check_neighbours(reading *r, const yaml_node_t *parties, const yaml_node_t *sum);
tacit_status study_read_graph(reading *r, const yaml_node_t *set);
