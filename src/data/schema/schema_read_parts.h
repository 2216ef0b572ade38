/* Reading a schema: shared by schema_read.c and schema_read_label.c. */
#pragma once

#include "data/schema/schema.h"
#include "data/schema/yaml.h"

typedef struct schema_reading {
    tacit_yaml *yaml;
    tacit_error *error;
    tacit_schema *schema;
} schema_reading;

/* One of two words; the first means true. */
tacit_status schema_read_choice(const schema_reading *r, const yaml_node_t *node, const char *what,
                                const char *yes, const char *no, bool *out);

/* The mark of what was read off rows; absent (NULL) for what is public. */
tacit_status schema_read_mark(const schema_reading *r, const yaml_node_t *node, bool *out);

/* Distinct texts, at most `limit`. */
tacit_status schema_read_list(const schema_reading *r, const yaml_node_t *node, const char *what,
                              size_t limit, tacit_levels *out);

tacit_status schema_read_bounds(const schema_reading *r, const yaml_node_t *node, const yaml_node_t *low,
                                const yaml_node_t *high, const char *name, double *from, double *to);

/* The one of `list` that all other texts count as. */
tacit_status schema_read_others(const schema_reading *r, const yaml_node_t *node, const tacit_levels *list,
                                const char *list_name, int32_t *out);

/* Texts that stand for one of `list`. */
tacit_status schema_read_recode(const schema_reading *r, const yaml_node_t *node, const tacit_levels *list,
                                const char *list_name, tacit_recode *out);

/* label: {...}. */
tacit_status schema_read_label(const schema_reading *r, const yaml_node_t *node);
