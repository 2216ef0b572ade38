/*
 * liblinear's own library on the files of bench_text, one thread: Debian's build has no more.
 *
 *   peer_text START COLUMNS VALUES LABELS ROWS COLS LAMBDA TOLERANCE SOLVER CLOCK REPEATS WEIGHTS
 *
 * SOLVER is 0 (primal logistic regression) or 7 (dual). CLOCK is `processor` or `wall`. Its objective is
 * |w|^2/2 + C sum loss, so C = 1/(n lambda). The conversion to its rows is not timed. Passes are counted from
 * what it prints: a pass reads every row for a product and for a sum, as a product with the Hessian does, or
 * an epoch of the dual method; a Newton step of the primal one takes half a pass for its value, half for its
 * gradient and half for the preconditioner.
 */
#include <linear.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(int wall) {
    struct timespec t;
    clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double passes; /* of the last fit */

static void count_passes(const char *text) {
    const char *products = strstr(text, " CG "), *epochs = strstr(text, "#iter = ");
    if (products != NULL) passes += 1.5 + strtod(products + 4, NULL);
    if (epochs != NULL) passes += strtod(epochs + 8, NULL);
}

static void *read_array(const char *path, size_t bytes) {
    FILE *file = fopen(path, "rb");
    char *out = malloc(bytes + 1);
    size_t got = file != NULL && out != NULL ? fread(out, 1, bytes, file) : 0;
    if (file != NULL) fclose(file);
    if (got == bytes && out != NULL) return out;
    fprintf(stderr, "peer_text: cannot read %zu bytes from %s\n", bytes, path);
    free(out);
    return NULL;
}

static struct feature_node *to_nodes(const uint64_t *start, const uint32_t *column, const double *value,
                                     size_t rows, struct feature_node **row) {
    struct feature_node *nodes = malloc((start[rows] + rows) * sizeof *nodes), *at = nodes;
    if (nodes == NULL) return NULL;
    for (size_t i = 0; i < rows; i++) {
        row[i] = at;
        for (size_t k = start[i]; k < start[i + 1]; k++)
            *at++ = (struct feature_node){ (int)column[k] + 1, value[k] };
        *at++ = (struct feature_node){ -1, 0 };
    }
    return nodes;
}

static int write_weights(const char *path, const struct model *model, size_t cols) {
    double sign = model->label[0] == 1 ? 1 : -1;
    FILE *file = fopen(path, "wb");
    int good = file != NULL;
    for (size_t j = 0; good && j < cols; j++) {
        double w = sign * model->w[j];
        good = fwrite(&w, sizeof w, 1, file) == 1;
    }
    return file != NULL && fclose(file) == 0 && good;
}

static int fit(struct problem *problem, char **argument) {
    struct parameter parameter = { .solver_type = atoi(argument[9]),
                                   .eps = strtod(argument[8], NULL),
                                   .C = 1 / ((double)problem->l * strtod(argument[7], NULL)) };
    int wall = strcmp(argument[10], "wall") == 0, repeats = atoi(argument[11]), good = 1;
    set_print_string_function(count_passes);
    printf("{\"seconds\": [");
    for (int r = 0; r < repeats; r++) {
        passes = 1;
        double begin = now(wall);
        struct model *model = train(problem, &parameter);
        printf("%s%.6f", r > 0 ? ", " : "", now(wall) - begin);
        if (r + 1 == repeats) good = write_weights(argument[12], model, (size_t)problem->n);
        free_and_destroy_model(&model);
    }
    printf("], \"passes\": %g}\n", passes);
    return good;
}

int main(int count, char **argument) {
    if (count != 13) {
        fprintf(stderr,
                "usage: peer_text START COLUMNS VALUES LABELS ROWS COLS LAMBDA TOLERANCE SOLVER CLOCK "
                "REPEATS WEIGHTS\n");
        return 2;
    }
    size_t rows = strtoull(argument[5], NULL, 10);
    uint64_t *start = read_array(argument[1], (rows + 1) * sizeof *start);
    size_t entries = start != NULL ? start[rows] : 0;
    uint32_t *column = read_array(argument[2], entries * sizeof *column);
    double *value = read_array(argument[3], entries * sizeof *value), *y = malloc(rows * sizeof *y);
    int32_t *label = read_array(argument[4], rows * sizeof *label);
    struct feature_node **row = malloc(rows * sizeof *row), *nodes = NULL;
    int good = start != NULL && column != NULL && value != NULL && label != NULL && y != NULL &&
               row != NULL && (nodes = to_nodes(start, column, value, rows, row)) != NULL;
    for (size_t i = 0; good && i < rows; i++) y[i] = label[i] == 1 ? 1 : -1;
    struct problem problem = { (int)rows, atoi(argument[6]), y, row, -1 };
    good = good && fit(&problem, argument);
    free(nodes);
    free(row);
    free(label);
    free(y);
    free(value);
    free(column);
    free(start);
    return good ? 0 : 1;
}
