#include "model/export/export_graph.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tacit/tacit.h"

enum { IR_VERSION = 7, OPSET = 13, ML_OPSET = 2, NAME_SIZE = 96 };
static const size_t FILE_MOST = (size_t)INT32_MAX; /* of any protobuf message */

/* Kinds of attributes. */
enum { KIND_INTEGER = 2, KIND_INTEGERS = 7, KIND_TEXTS = 8 };

struct graph_block {
    graph_block *next;
    max_align_t memory[];
};

void *graph_allocate(onnx_graph *g, size_t count, size_t size) {
    if (g->failed) return NULL;
    graph_block *block = size > 0 && count > (SIZE_MAX - sizeof *block) / size
                             ? NULL
                             : tacit_allocate(1, sizeof *block + count * size);
    if (block == NULL) {
        g->failed = true;
        return NULL;
    }
    block->next = g->blocks;
    g->blocks = block;
    return block->memory;
}

static char *copy_text(onnx_graph *g, const char *text) {
    char *copy = graph_allocate(g, strlen(text) + 1, 1);
    return copy != NULL ? strcpy(copy, text) : NULL;
}

void graph_clear(onnx_graph *g) {
    for (graph_block *next; g->blocks != NULL; g->blocks = next) {
        next = g->blocks->next;
        free(g->blocks);
    }
    free(g->graph.nodes);
    free(g->graph.constants);
    free(g->graph.inputs);
    free(g->graph.outputs);
}

/* Append a pointer to one of the graph's arrays. */
static void append(onnx_graph *g, void *list, size_t *count, size_t *capacity, void *item) {
    if (g->failed) return;
    if (*count == *capacity) {
        size_t more = *capacity > 0 ? 2 * *capacity : 64;
        void *grown = tacit_grow(*(void **)list, more, sizeof(void *));
        if (grown == NULL) {
            g->failed = true;
            return;
        }
        *(void **)list = grown;
        *capacity = more;
    }
    (*(void ***)list)[(*count)++] = item;
}

static char *new_name(onnx_graph *g) {
    char *name = graph_allocate(g, NAME_SIZE, 1);
    if (name != NULL) snprintf(name, NAME_SIZE, "%s%zu", g->plan->prefix, ++g->made);
    return name;
}

/* ---- inputs and outputs ---- */

static Tacit__Onnx__Dimension *new_dimension(onnx_graph *g, size_t size) {
    Tacit__Onnx__Dimension *dimension = graph_allocate(g, 1, sizeof *dimension);
    if (dimension == NULL) return NULL;
    tacit__onnx__dimension__init(dimension);
    dimension->has_size = size > 0;
    dimension->size = (int64_t)size;
    static char rows[] = "rows";
    if (size == 0) dimension->name = rows;
    return dimension;
}

static Tacit__Onnx__Value *new_value(onnx_graph *g, const char *name, graph_element element, size_t columns) {
    Tacit__Onnx__Value *value = graph_allocate(g, 1, sizeof *value);
    Tacit__Onnx__Type *type = graph_allocate(g, 1, sizeof *type);
    Tacit__Onnx__TensorType *tensor = graph_allocate(g, 1, sizeof *tensor);
    Tacit__Onnx__Shape *shape = graph_allocate(g, 1, sizeof *shape);
    Tacit__Onnx__Dimension **dims = graph_allocate(g, 2, sizeof(Tacit__Onnx__Dimension *));
    char *copy = copy_text(g, name);
    if (g->failed) return NULL;
    tacit__onnx__value__init(value);
    tacit__onnx__type__init(type);
    tacit__onnx__tensor_type__init(tensor);
    tacit__onnx__shape__init(shape);
    value->name = copy;
    value->type = type;
    type->tensor = tensor;
    tensor->has_element = true;
    tensor->element = element;
    tensor->shape = shape;
    shape->dims = dims;
    shape->n_dims = columns > 0 ? 2 : 1;
    dims[0] = new_dimension(g, 0);
    if (columns > 0) dims[1] = new_dimension(g, columns);
    return value;
}

graph_value graph_input(onnx_graph *g, const char *name, graph_element element, size_t columns) {
    Tacit__Onnx__Value *value = new_value(g, name, element, columns);
    append(g, &g->graph.inputs, &g->graph.n_inputs, &g->capacity[0], value);
    return g->failed ? "" : value->name;
}

void graph_output(onnx_graph *g, const char *name, graph_value value, graph_element element, size_t columns) {
    Tacit__Onnx__Value *output = new_value(g, name, element, columns);
    append(g, &g->graph.outputs, &g->graph.n_outputs, &g->capacity[1], output);
    GRAPH(g, "Identity", value);
    if (!g->failed) g->graph.nodes[g->graph.n_nodes - 1]->outputs[0] = output->name;
}

/* ---- constants ---- */

static Tacit__Onnx__Tensor *new_constant(onnx_graph *g, graph_element element, size_t dims, size_t rows,
                                         size_t cols) {
    Tacit__Onnx__Tensor *tensor = graph_allocate(g, 1, sizeof *tensor);
    int64_t *dim = graph_allocate(g, 2, sizeof *dim);
    char *name = new_name(g);
    if (g->failed) return NULL;
    tacit__onnx__tensor__init(tensor);
    dim[0] = (int64_t)(dims == 1 ? cols : rows);
    dim[1] = (int64_t)cols;
    tensor->dims = dim;
    tensor->n_dims = dims;
    tensor->has_element = true;
    tensor->element = element;
    tensor->name = name;
    append(g, &g->graph.constants, &g->graph.n_constants, &g->capacity[2], tensor);
    return g->failed ? NULL : tensor;
}

static graph_value new_numbers(onnx_graph *g, size_t dims, size_t rows, size_t cols, const double *numbers) {
    Tacit__Onnx__Tensor *tensor = new_constant(g, GRAPH_NUMBER, dims, rows, cols);
    if (tensor == NULL) return "";
    tensor->numbers = (double *)numbers; /* only read */
    tensor->n_numbers = rows * cols;
    return tensor->name;
}

graph_value graph_matrix(onnx_graph *g, size_t rows, size_t cols, const double *numbers) {
    return new_numbers(g, 2, rows, cols, numbers);
}

graph_value graph_number(onnx_graph *g, double number) {
    double *copy = graph_allocate(g, 1, sizeof *copy);
    if (copy == NULL) return "";
    *copy = number;
    return new_numbers(g, 0, 1, 1, copy);
}

static int64_t *copy_integers(onnx_graph *g, size_t count, const int64_t *numbers) {
    int64_t *copy = graph_allocate(g, count, sizeof *copy);
    if (copy != NULL && count > 0) memcpy(copy, numbers, count * sizeof *copy);
    return copy;
}

static graph_value new_integers(onnx_graph *g, size_t dims, size_t count, const int64_t *numbers) {
    Tacit__Onnx__Tensor *tensor = new_constant(g, GRAPH_INTEGER, dims, 1, count);
    if (tensor == NULL) return "";
    tensor->integers = copy_integers(g, count, numbers);
    tensor->n_integers = count;
    return tensor->name;
}

graph_value graph_integers(onnx_graph *g, size_t count, const int64_t *numbers) {
    return new_integers(g, 1, count, numbers);
}

graph_value graph_integer(onnx_graph *g, int64_t number) { return new_integers(g, 0, 1, &number); }

static ProtobufCBinaryData *copy_texts(onnx_graph *g, size_t count, char *const *texts) {
    ProtobufCBinaryData *copy = graph_allocate(g, count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i].data = (uint8_t *)copy_text(g, texts[i]);
        copy[i].len = strlen(texts[i]);
    }
    return copy;
}

graph_value graph_texts(onnx_graph *g, size_t count, char *const *texts) {
    Tacit__Onnx__Tensor *tensor = new_constant(g, GRAPH_TEXT, 1, 1, count);
    if (tensor == NULL) return "";
    tensor->texts = copy_texts(g, count, texts);
    tensor->n_texts = count;
    return tensor->name;
}

/* ---- operators ---- */

graph_value graph_apply(onnx_graph *g, const char *op, size_t count, const graph_value *inputs) {
    Tacit__Onnx__Node *node = graph_allocate(g, 1, sizeof *node);
    char **from = graph_allocate(g, count, sizeof *from), **to = graph_allocate(g, 1, sizeof *to);
    char *name = new_name(g), *named = copy_text(g, op);
    if (g->failed) return "";
    tacit__onnx__node__init(node);
    for (size_t i = 0; i < count; i++) from[i] = (char *)inputs[i]; /* only read */
    *to = name;
    node->inputs = from;
    node->n_inputs = count;
    node->outputs = to;
    node->n_outputs = 1;
    node->name = name;
    node->op = named;
    append(g, &g->graph.nodes, &g->graph.n_nodes, &g->capacity[3], node);
    return g->failed ? "" : name;
}

static Tacit__Onnx__Attribute *new_attribute(onnx_graph *g, const char *name, int kind) {
    enum { MOST = 4 };
    Tacit__Onnx__Attribute *attribute = graph_allocate(g, 1, sizeof *attribute);
    char *copy = copy_text(g, name);
    if (g->failed) return NULL;
    Tacit__Onnx__Node *node = g->graph.nodes[g->graph.n_nodes - 1];
    if (node->attributes == NULL)
        node->attributes = graph_allocate(g, MOST, sizeof(Tacit__Onnx__Attribute *));
    if (g->failed) return NULL;
    tacit__onnx__attribute__init(attribute);
    attribute->name = copy;
    attribute->has_kind = true;
    attribute->kind = kind;
    node->attributes[node->n_attributes++] = attribute;
    return attribute;
}

void graph_set(onnx_graph *g, const char *name, int64_t number) {
    Tacit__Onnx__Attribute *attribute = new_attribute(g, name, KIND_INTEGER);
    if (attribute == NULL) return;
    attribute->has_integer = true;
    attribute->integer = number;
}

void graph_set_integers(onnx_graph *g, const char *name, size_t count, const int64_t *numbers) {
    Tacit__Onnx__Attribute *attribute = new_attribute(g, name, KIND_INTEGERS);
    if (attribute == NULL) return;
    attribute->integers = copy_integers(g, count, numbers);
    attribute->n_integers = count;
}

void graph_set_texts(onnx_graph *g, const char *name, size_t count, char *const *texts) {
    Tacit__Onnx__Attribute *attribute = new_attribute(g, name, KIND_TEXTS);
    if (attribute == NULL) return;
    attribute->texts = copy_texts(g, count, texts);
    attribute->n_texts = count;
}

void graph_set_domain(onnx_graph *g, const char *domain) {
    char *copy = copy_text(g, domain);
    if (copy != NULL) g->graph.nodes[g->graph.n_nodes - 1]->domain = copy;
}

graph_value graph_sum(onnx_graph *g, graph_value rows) {
    return GRAPH(g, "ReduceSum", rows, graph_integers(g, 1, (const int64_t[]){ 1 }));
}

graph_value graph_join(onnx_graph *g, size_t count, const graph_value *blocks) {
    if (count == 1 || g->failed) return g->failed ? "" : blocks[0];
    graph_value joined = graph_apply(g, "Concat", count, blocks);
    graph_set(g, "axis", 1);
    return joined;
}

graph_value graph_cast(onnx_graph *g, graph_value value, graph_element element) {
    graph_value cast = GRAPH(g, "Cast", value);
    graph_set(g, "to", element);
    return cast;
}

graph_value graph_gather(onnx_graph *g, graph_value rows, size_t count, const uint32_t *columns) {
    int64_t *wide = graph_allocate(g, count, sizeof *wide);
    if (wide == NULL) return "";
    for (size_t i = 0; i < count; i++) wide[i] = columns[i];
    graph_value gathered = GRAPH(g, "Gather", rows, graph_integers(g, count, wide));
    graph_set(g, "axis", 1);
    return gathered;
}

/* Whether onnxruntime would take a factor for 1 and drop it: it does so within some 1e-8. */
static bool nearly_one(double factor) { return factor != 1 && fabs(factor - 1) < 1e-6; }

/* Doubling is exact. */
graph_value graph_times(onnx_graph *g, graph_value value, double factor) {
    if (!nearly_one(factor)) return GRAPH(g, "Mul", value, graph_number(g, factor));
    return GRAPH(g, "Mul", GRAPH(g, "Mul", value, graph_number(g, 2)), graph_number(g, factor / 2));
}

graph_value graph_over(onnx_graph *g, graph_value value, double divisor) {
    if (!nearly_one(divisor)) return GRAPH(g, "Div", value, graph_number(g, divisor));
    return GRAPH(g, "Div", GRAPH(g, "Mul", value, graph_number(g, 2)), graph_number(g, 2 * divisor));
}

graph_value graph_linear(onnx_graph *g, graph_value rows, size_t units, size_t inputs, const double *weights,
                         const double *biases) {
    graph_value matrix = graph_matrix(g, units, inputs, weights);
    graph_value sums = biases == NULL ? GRAPH(g, "Gemm", rows, matrix)
                                      : GRAPH(g, "Gemm", rows, matrix, graph_matrix(g, 1, units, biases));
    graph_set(g, "transB", 1);
    return sums;
}

graph_value graph_weigh(onnx_graph *g, graph_value rows, size_t inputs, const double *weights) {
    if (inputs == 1) return graph_times(g, rows, weights[0]);
    return graph_sum(g, GRAPH(g, "Mul", rows, graph_matrix(g, 1, inputs, weights)));
}

/* ---- the file ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A constant that no operator takes is no part of the model, and readers complain of it. */
static void drop_unused(onnx_graph *g) {
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < g->graph.n_nodes; i++) count += g->graph.nodes[i]->n_inputs;
    char **names = graph_allocate(g, count, sizeof *names);
    if (g->failed) return;
    count = 0;
    for (size_t i = 0; i < g->graph.n_nodes; i++)
        for (size_t k = 0; k < g->graph.nodes[i]->n_inputs; k++)
            names[count++] = g->graph.nodes[i]->inputs[k];
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < g->graph.n_constants; i++) {
        Tacit__Onnx__Tensor *one = g->graph.constants[i];
        if (bsearch(&one->name, names, count, sizeof *names, compare_names) != NULL)
            g->graph.constants[kept++] = one;
    }
    g->graph.n_constants = kept;
}

static void add_facts(onnx_graph *g, Tacit__Onnx__Model *model) {
    size_t count = g->plan->facts;
    model->facts = graph_allocate(g, count, sizeof(Tacit__Onnx__Fact *));
    Tacit__Onnx__Fact *facts = graph_allocate(g, count, sizeof *facts);
    if (g->failed) return;
    for (size_t i = 0; i < count; i++) {
        tacit__onnx__fact__init(&facts[i]);
        facts[i].key = (char *)g->plan->fact[i].key;
        facts[i].value = g->plan->fact[i].value;
        model->facts[i] = &facts[i];
    }
    model->n_facts = count;
}

tacit_status graph_write(onnx_graph *g, tacit_buffer *out, tacit_error *error) {
    static char name[] = "tacit", empty[] = "", learning[] = "ai.onnx.ml";
    Tacit__Onnx__OperatorSet sets[] = { TACIT__ONNX__OPERATOR_SET__INIT, TACIT__ONNX__OPERATOR_SET__INIT };
    Tacit__Onnx__OperatorSet *both[] = { &sets[0], &sets[1] };
    Tacit__Onnx__Model model = TACIT__ONNX__MODEL__INIT;
    sets[0].domain = empty;
    sets[1].domain = learning;
    sets[0].has_version = sets[1].has_version = true;
    sets[0].version = OPSET;
    sets[1].version = ML_OPSET;
    model.operators = both;
    model.n_operators = 2;
    model.has_ir_version = model.has_model_version = true;
    model.ir_version = IR_VERSION;
    model.model_version = 1;
    model.producer = name;
    model.producer_version = (char *)tacit_version(); /* only read */
    model.words = (char *)tacit_buffer_text(&g->plan->words);
    g->graph.name = name;
    model.graph = &g->graph;
    add_facts(g, &model);
    drop_unused(g);
    if (g->failed) return tacit_fail_memory(error);
    size_t size = tacit__onnx__model__get_packed_size(&model);
    if (size > FILE_MOST)
        return tacit_fail(
            error, TACIT_LIMIT,
            "the model would take %zu bytes, and an ONNX file has at most 2 GiB: export it as json", size);
    uint8_t *at = NULL;
    TACIT_TRY(tacit_buffer_reserve(out, size, &at, error));
    tacit__onnx__model__pack(&model, at);
    out->length += size;
    return TACIT_OK;
}
