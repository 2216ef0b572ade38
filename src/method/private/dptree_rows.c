/* A question of dptree as it travels, and what a party counts for it. Counts are whole numbers: nothing is
 * rounded. */
#include <string.h>

#include "base/memory.h"
#include "method/private/dptree.h"

/* ---- questions ---- */

tacit_status dptree_question_create(dptree_question *out, size_t nodes, size_t columns, size_t open,
                                    tacit_error *error) {
    *out = (dptree_question){ .columns = columns, .open = open };
    tacit_status status = tacit_tree_create(&out->tree, nodes, error);
    out->column = TACIT_NEW(size_t, columns + 1);
    out->leaf = TACIT_NEW(size_t, open + 1);
    if (status == TACIT_OK && (out->column == NULL || out->leaf == NULL)) status = tacit_fail_memory(error);
    if (status != TACIT_OK) dptree_question_clear(out);
    return status;
}

void dptree_question_clear(dptree_question *question) {
    tacit_tree_free(question->tree);
    free(question->column);
    free(question->leaf);
    *question = (dptree_question){ .tree = NULL };
}

static tacit_status add_places(tacit_message *message, const char *name, const size_t *places, size_t count,
                               tacit_error *error) {
    int64_t *values = TACIT_NEW(int64_t, count + 1);
    if (values == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) values[i] = (int64_t)places[i];
    tacit_status status = tacit_message_add_integers(message, name, values, count, error);
    free(values);
    return status;
}

void dptree_nodes_write(const tacit_tree *tree, int64_t *parts, double *thresholds) {
    for (size_t v = 0; v < tree->nodes; v++) {
        const tacit_tree_node *node = &tree->node[v];
        parts[3 * v] = (int64_t)node->feature;
        parts[3 * v + 1] = (int64_t)node->left;
        parts[3 * v + 2] = (int64_t)node->right;
        thresholds[v] = node->threshold;
    }
}

tacit_status dptree_question_write(const dptree_question *question, tacit_message *message,
                                   tacit_error *error) {
    const size_t nodes = question->tree->nodes, sizes[] = { nodes, question->columns, question->open };
    int64_t *parts = TACIT_NEW(int64_t, 3 * nodes);
    double *threshold = TACIT_NEW(double, nodes);
    tacit_status status = parts != NULL && threshold != NULL ? TACIT_OK : tacit_fail_memory(error);
    TACIT_CHECK(status);
    dptree_nodes_write(question->tree, parts, threshold);
    TACIT_CHECK(add_places(message, "sizes", sizes, 3, error));
    TACIT_CHECK(tacit_message_add_integers(message, "nodes", parts, 3 * nodes, error));
    TACIT_CHECK(tacit_message_add_numbers(message, "thresholds", threshold, nodes, error));
    TACIT_CHECK(add_places(message, "columns", question->column, question->columns, error));
    TACIT_CHECK(add_places(message, "leaves", question->leaf, question->open, error));
cleanup:
    free(parts);
    free(threshold);
    return status;
}

static tacit_status refuse(tacit_error *error) {
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator asks about more columns or leaves than the study defines, or about "
                      "one twice");
}

/* Ascending places below `limit`. */
static tacit_status read_places(size_t *out, const tacit_message *message, const char *name, size_t count,
                                size_t limit, tacit_error *error) {
    const int64_t *values;
    TACIT_TRY(tacit_message_integers(message, name, count, &values, error));
    for (size_t i = 0; i < count; i++) {
        if (values[i] < 0 || (uint64_t)values[i] >= limit || (i > 0 && values[i] <= values[i - 1]))
            return refuse(error);
        out[i] = (size_t)values[i];
    }
    return TACIT_OK;
}

tacit_status dptree_nodes_read(tacit_tree *tree, size_t features, const int64_t *parts,
                               const double *thresholds, tacit_error *error) {
    for (size_t i = 0; i < 3 * tree->nodes; i++)
        if (parts[i] < 0 || parts[i] > UINT32_MAX)
            return tacit_fail(error, TACIT_PROTOCOL, "the tree in the message is none");
    for (size_t v = 0; v < tree->nodes; v++)
        tree->node[v] = (tacit_tree_node){ .feature = (uint32_t)parts[3 * v],
                                           .left = (uint32_t)parts[3 * v + 1],
                                           .right = (uint32_t)parts[3 * v + 2],
                                           .threshold = thresholds[v] };
    return tacit_tree_check(tree, features, error);
}

static tacit_status read_tree(tacit_tree *tree, size_t features, const tacit_message *message,
                              tacit_error *error) {
    const int64_t *parts;
    const double *thresholds;
    TACIT_TRY(tacit_message_integers(message, "nodes", 3 * tree->nodes, &parts, error));
    TACIT_TRY(tacit_message_numbers(message, "thresholds", tree->nodes, &thresholds, error));
    return dptree_nodes_read(tree, features, parts, thresholds, error);
}

tacit_status dptree_question_read(dptree_question *out, const dptree_design *design, size_t t,
                                  const tacit_message *message, tacit_error *error) {
    const int64_t *sizes;
    const int64_t leaves = (int64_t)1 << t, nodes = 2 * leaves - 1;
    tacit_status status;
    *out = (dptree_question){ .tree = NULL };
    TACIT_TRY(tacit_message_integers(message, "sizes", 3, &sizes, error));
    if (sizes[0] < 1 || sizes[0] > nodes || sizes[1] < 0 || sizes[1] > (int64_t)dptree_asked(design, t) ||
        sizes[2] < 0 || sizes[2] > leaves)
        return refuse(error);
    TACIT_TRY(dptree_question_create(out, (size_t)sizes[0], (size_t)sizes[1], (size_t)sizes[2], error));
    TACIT_CHECK(read_tree(out->tree, design->features, message, error));
    TACIT_CHECK(read_places(out->column, message, "columns", out->columns, design->columns, error));
    TACIT_CHECK(read_places(out->leaf, message, "leaves", out->open, out->tree->nodes, error));
cleanup:
    if (status != TACIT_OK) dptree_question_clear(out);
    return status;
}

/* ---- counts ---- */

size_t dptree_offset(const dptree_design *design, const dptree_question *question, size_t j) {
    size_t offset = 0;
    for (size_t i = 0; i < j; i++) offset += design->classes * design->column[question->column[i]].cells;
    return offset;
}

/* Without columns a leaf has a count a class. */
size_t dptree_stride(const dptree_design *design, const dptree_question *question) {
    return question->columns == 0 ? design->classes : dptree_offset(design, question, question->columns);
}

typedef struct counting {
    const dptree_design *design;
    const dptree_question *question;
    size_t stride;
    size_t *slot; /* of each node of the tree among the leaves asked about; SIZE_MAX: it is none */
    double *row, *counts;
} counting;

static size_t cell_of(const dptree_column *column, const double *row) {
    const size_t last = column->cells - 1;
    if (column->number) {
        /* By the thresholds themselves, so that a row is counted where the tree would send it. */
        for (size_t c = 0; c < last; c++)
            if (row[column->first] <= column->low + (double)(c + 1) * column->width) return c;
        return last;
    }
    for (size_t c = 0; c < last; c++)
        if (row[column->first + c] > 0) return c;
    return last;
}

static tacit_status count_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    const counting *self = context;
    const dptree_question *question = self->question;
    const size_t classes = self->design->classes;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        tacit_rows_copy(&block->rows, i, self->row);
        const size_t slot = self->slot[tacit_tree_leaf(question->tree, self->row)];
        if (slot == SIZE_MAX) continue;
        double *counts = self->counts + slot * self->stride + (size_t)tacit_view_label(block, i);
        if (question->columns == 0) ++*counts;
        for (size_t j = 0; j < question->columns; j++) {
            const dptree_column *column = &self->design->column[question->column[j]];
            counts[cell_of(column, self->row) * classes]++;
            counts += column->cells * classes;
        }
    }
    return TACIT_OK;
}

tacit_status dptree_count(tacit_party *party, const dptree_design *design, const dptree_question *question,
                          double *out, size_t length, tacit_error *error) {
    const size_t nodes = question->tree->nodes;
    counting self = { .design = design,
                      .question = question,
                      .stride = dptree_stride(design, question),
                      .slot = TACIT_NEW(size_t, nodes),
                      .row = TACIT_NEW(double, design->features),
                      .counts = out };
    tacit_status status = self.slot != NULL && self.row != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK && self.stride * question->open > length) status = refuse(error);
    for (size_t v = 0; v < nodes && status == TACIT_OK; v++) self.slot[v] = SIZE_MAX;
    for (size_t s = 0; s < question->open && status == TACIT_OK; s++) self.slot[question->leaf[s]] = s;
    if (status == TACIT_OK) status = tacit_dataset_map(&party->rows, 0, count_block, &self, error);
    if (status == TACIT_OK && party->reducer != NULL)
        status = party->reducer->sum(party->reducer->context, out, length, error);
    free(self.slot);
    free(self.row);
    return status;
}
