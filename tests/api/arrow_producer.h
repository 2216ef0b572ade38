/* Arrow arrays as another library would hand them over: each structure with its own buffers, which are gone
 * when it is released. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "tacit/arrow.h"

enum { ARROW_BUFFERS = 6, ARROW_COLUMNS = 16 };

typedef struct arrow_made {
    void *buffer[ARROW_BUFFERS];
    const void *given[ARROW_BUFFERS];
    struct ArrowArray *child[ARROW_COLUMNS];
    int *released; /* counted here */
} arrow_made;

static inline void arrow_release_array(struct ArrowArray *array) {
    arrow_made *made = array->private_data;
    for (int64_t j = 0; j < ARROW_COLUMNS; j++)
        if (made->child[j] != NULL) {
            if (made->child[j]->release != NULL) made->child[j]->release(made->child[j]);
            free(made->child[j]);
        }
    if (array->dictionary != NULL) {
        if (array->dictionary->release != NULL) array->dictionary->release(array->dictionary);
        free(array->dictionary);
    }
    for (size_t k = 0; k < ARROW_BUFFERS; k++) free(made->buffer[k]);
    ++*made->released;
    free(made);
    array->release = NULL;
}

/* An array of `length` values from `offset` on, without buffers yet. */
static inline struct ArrowArray arrow_array(int64_t length, int64_t offset, int *released) {
    arrow_made *made = calloc(1, sizeof *made);
    if (made == NULL) abort();
    made->released = released;
    return (struct ArrowArray){ .length = length,
                                .offset = offset,
                                .buffers = made->given,
                                .children = made->child,
                                .release = arrow_release_array,
                                .private_data = made };
}

/* One buffer more, a copy of `bytes`; NULL bytes: none is there. */
static inline void arrow_add_buffer(struct ArrowArray *array, const void *bytes, size_t length) {
    arrow_made *made = array->private_data;
    if (bytes != NULL) {
        made->buffer[array->n_buffers] = malloc(length > 0 ? length : 1);
        if (made->buffer[array->n_buffers] == NULL) abort();
        memcpy(made->buffer[array->n_buffers], bytes, length);
    }
    made->given[array->n_buffers] = made->buffer[array->n_buffers];
    array->n_buffers++;
}

static inline void arrow_add_child(struct ArrowArray *array, struct ArrowArray child) {
    arrow_made *made = array->private_data;
    made->child[array->n_children] = malloc(sizeof child);
    if (made->child[array->n_children] == NULL) abort();
    *made->child[array->n_children++] = child;
}

static inline void arrow_set_dictionary(struct ArrowArray *array, struct ArrowArray dictionary) {
    array->dictionary = malloc(sizeof dictionary);
    if (array->dictionary == NULL) abort();
    *array->dictionary = dictionary;
}

/* ---- schemas ---- */

typedef struct arrow_said {
    struct ArrowSchema *child[ARROW_COLUMNS];
    int *released;
} arrow_said;

static inline void arrow_release_schema(struct ArrowSchema *schema) {
    arrow_said *said = schema->private_data;
    for (size_t j = 0; j < ARROW_COLUMNS; j++)
        if (said->child[j] != NULL) {
            said->child[j]->release(said->child[j]);
            free(said->child[j]);
        }
    if (schema->dictionary != NULL) {
        schema->dictionary->release(schema->dictionary);
        free(schema->dictionary);
    }
    ++*said->released;
    free(said);
    schema->release = NULL;
}

/* Texts are borrowed. `levels`: the format of a dictionary, or NULL. */
static inline struct ArrowSchema arrow_schema(const char *format, const char *name, const char *levels,
                                              int *released) {
    arrow_said *said = calloc(1, sizeof *said);
    if (said == NULL) abort();
    said->released = released;
    struct ArrowSchema schema = { .format = format,
                                  .name = name,
                                  .flags = ARROW_FLAG_NULLABLE,
                                  .children = said->child,
                                  .release = arrow_release_schema,
                                  .private_data = said };
    if (levels != NULL) {
        schema.dictionary = malloc(sizeof schema);
        if (schema.dictionary == NULL) abort();
        *schema.dictionary = arrow_schema(levels, "", NULL, released);
    }
    return schema;
}

static inline void arrow_schema_add(struct ArrowSchema *schema, struct ArrowSchema child) {
    arrow_said *said = schema->private_data;
    said->child[schema->n_children] = malloc(sizeof child);
    if (said->child[schema->n_children] == NULL) abort();
    *said->child[schema->n_children++] = child;
}
