/*
 * liblinear's primal logistic regression (-s 0) on the same files as bench_glm, one thread: Debian's build
 * has no more.
 *
 *   peer_liblinear X LABELS ROWS COLS LAMBDA TOLERANCE REPEATS WEIGHTS
 *
 * Its objective is |w|^2/2 + C sum loss, so C = 1/(n lambda). The conversion to its rows is not timed.
 */
#include <linear.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say_nothing(const char *text) { (void)text; }

static struct feature_node *to_nodes(const double *x, size_t rows, size_t cols, struct feature_node **start) {
    struct feature_node *nodes = malloc(rows * (cols + 1) * sizeof *nodes), *at = nodes;
    if (nodes == NULL) return NULL;
    for (size_t i = 0; i < rows; i++) {
        start[i] = at;
        for (size_t j = 0; j < cols; j++) *at++ = (struct feature_node){ (int)j + 1, x[i * cols + j] };
        *at++ = (struct feature_node){ -1, 0 };
    }
    return nodes;
}

static int read_exactly(const char *path, void *out, size_t bytes) {
    FILE *file = fopen(path, "rb");
    size_t got = file != NULL ? fread(out, 1, bytes, file) : 0;
    if (file != NULL) fclose(file);
    return got == bytes;
}

int main(int count, char **argument) {
    if (count != 9) {
        fprintf(stderr, "usage: peer_liblinear X LABELS ROWS COLS LAMBDA TOLERANCE REPEATS WEIGHTS\n");
        return 2;
    }
    size_t rows = strtoull(argument[3], NULL, 10), cols = strtoull(argument[4], NULL, 10);
    double *x = malloc(rows * cols * sizeof *x), *y = malloc(rows * sizeof *y);
    int32_t *label = malloc(rows * sizeof *label);
    struct feature_node **start = malloc(rows * sizeof *start), *nodes = NULL;
    if (x == NULL || y == NULL || label == NULL || start == NULL ||
        !read_exactly(argument[1], x, rows * cols * sizeof *x) ||
        !read_exactly(argument[2], label, rows * sizeof *label) ||
        (nodes = to_nodes(x, rows, cols, start)) == NULL) {
        fprintf(stderr, "peer_liblinear: cannot read the data\n");
        return 1;
    }
    for (size_t i = 0; i < rows; i++) y[i] = label[i] == 1 ? 1 : -1;
    struct problem problem = { (int)rows, (int)cols, y, start, -1 };
    struct parameter parameter = { .solver_type = L2R_LR,
                                   .eps = strtod(argument[6], NULL),
                                   .C = 1 / ((double)rows * strtod(argument[5], NULL)) };
    set_print_string_function(say_nothing);
    int repeats = atoi(argument[7]);
    printf("{\"seconds\": [");
    for (int r = 0; r < repeats; r++) {
        double begin = now();
        struct model *model = train(&problem, &parameter);
        printf("%s%.6f", r > 0 ? ", " : "", now() - begin);
        if (r + 1 == repeats) {
            double sign = model->label[0] == 1 ? 1 : -1;
            for (size_t j = 0; j < cols; j++) x[j] = sign * model->w[j];
            FILE *out = fopen(argument[8], "wb");
            if (out == NULL || fwrite(x, sizeof *x, cols, out) != cols || fclose(out) != 0) return 1;
        }
        free_and_destroy_model(&model);
    }
    printf("]}\n");
    free(nodes);
    free(start);
    free(label);
    free(y);
    free(x);
    return 0;
}
