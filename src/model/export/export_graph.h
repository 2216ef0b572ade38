/*
 * An ONNX graph as it is put together. A value is the name of a tensor, made by one call and given to others,
 * so that code reads like the formulas it writes:
 *
 *     graph_value norm = GRAPH(g, "Sqrt", graph_sum(g, GRAPH(g, "Mul", x, x)));
 *
 * Memory is checked once, at the end: after a failed allocation the calls do nothing and give "". For the
 * export's files only.
 */
#pragma once

#include <stdarg.h>

#include "model/export/export_parts.h"
#include "onnx_subset.pb-c.h"

typedef const char *graph_value;

typedef enum graph_element {
    GRAPH_INTEGER = 7,
    GRAPH_TEXT = 8,
    GRAPH_TRUTH = 9,
    GRAPH_NUMBER = 11, /* double */
} graph_element;

typedef struct graph_block graph_block;

typedef struct onnx_graph {
    const export_plan *plan;
    bool failed;         /* out of memory */
    graph_block *blocks; /* all that was allocated */
    size_t made;         /* values, for their names */
    size_t capacity[4];  /* of the arrays below */
    Tacit__Onnx__Graph graph;
} onnx_graph;

#define ONNX_GRAPH_INIT(the_plan)                                                                            \
    { .plan = (the_plan), .graph = TACIT__ONNX__GRAPH__INIT }

void graph_clear(onnx_graph *g);

/* Zero-filled memory that lives as long as the graph; NULL after a failure. */
void *graph_allocate(onnx_graph *g, size_t count, size_t size);

/* An input of rows x columns, and an output (a copy of `value`); 0 columns: a vector of rows. */
graph_value graph_input(onnx_graph *g, const char *name, graph_element element, size_t columns);
void graph_output(onnx_graph *g, const char *name, graph_value value, graph_element element, size_t columns);

/* Constants: a number, a matrix, whose numbers must outlive the graph, whole numbers and texts as a row. */
graph_value graph_number(onnx_graph *g, double number);
graph_value graph_matrix(onnx_graph *g, size_t rows, size_t cols, const double *numbers);
graph_value graph_integer(onnx_graph *g, int64_t number);
graph_value graph_integers(onnx_graph *g, size_t count, const int64_t *numbers);
graph_value graph_texts(onnx_graph *g, size_t count, char *const *texts);

/* The result of an operator. */
graph_value graph_apply(onnx_graph *g, const char *op, size_t count, const graph_value *inputs);
#define GRAPH(g, op, ...)                                                                                    \
    graph_apply(g, op, sizeof((graph_value[]){ __VA_ARGS__ }) / sizeof(graph_value),                         \
                (graph_value[]){ __VA_ARGS__ })

/* Settings of the operator applied last. */
void graph_set(onnx_graph *g, const char *name, int64_t number);
void graph_set_integers(onnx_graph *g, const char *name, size_t count, const int64_t *numbers);
void graph_set_texts(onnx_graph *g, const char *name, size_t count, char *const *texts);
void graph_set_domain(onnx_graph *g, const char *domain);

/* Often used: the sum of each row as a column; columns side by side; another type; the features named by
 * `columns`. */
graph_value graph_sum(onnx_graph *g, graph_value rows);
graph_value graph_join(onnx_graph *g, size_t count, const graph_value *blocks);
graph_value graph_cast(onnx_graph *g, graph_value value, graph_element element);
graph_value graph_gather(onnx_graph *g, graph_value rows, size_t count, const uint32_t *columns);

/*
 * onnxruntime's optimiser thinks in single precision, and three of its steps would spoil a graph of doubles
 * (versions 1.14 to 1.30, observed):
 *   - a sum of a constant of one element near 0, and a product or quotient by one near 1, are dropped;
 *   - a MatMul takes up constant factors beside it, rounded to single precision;
 *   - a Gemm and the Tanh, Sigmoid or Relu that follows become one operator, which is there for floats only:
 *     the graph is refused.
 * So factors go through graph_times and graph_over, sums are Gemm or graph_weigh, and nothing of the third
 * kind follows a Gemm.
 */
graph_value graph_times(onnx_graph *g, graph_value value, double factor);
graph_value graph_over(onnx_graph *g, graph_value value, double divisor);

/* A Gemm: rows times the transpose of `weights` (units x inputs), plus `biases` when they are not NULL. */
graph_value graph_linear(onnx_graph *g, graph_value rows, size_t units, size_t inputs, const double *weights,
                         const double *biases);

/* The weighted sum of each row, as a column. */
graph_value graph_weigh(onnx_graph *g, graph_value rows, size_t inputs, const double *weights);

/* What a network gives out for encoded rows. */
graph_value graph_network(onnx_graph *g, const tacit_model *model, graph_value rows);

/* What the leaves of a tree say of encoded rows: `each` scores of every node in `scores`. */
graph_value graph_tree(onnx_graph *g, const tacit_tree *tree, size_t each, const double *scores,
                       graph_value rows);

/* Append the file. */
tacit_status graph_write(onnx_graph *g, tacit_buffer *out, tacit_error *error);
