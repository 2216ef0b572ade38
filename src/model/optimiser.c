#include "model/optimiser.h"

#include <math.h>

size_t tacit_optimiser_memory(const tacit_optimiser *optimiser, size_t size) {
    return optimiser->rule == TACIT_RULE_ADAM ? 2 * size : size;
}

double tacit_optimiser_rate(const tacit_optimiser *optimiser, uint64_t step) {
    double t = (double)step, share = optimiser->steps > 0 ? fmin(1, t / (double)optimiser->steps) : 0;
    switch (optimiser->schedule) {
    case TACIT_SCHEDULE_CONSTANT: return optimiser->rate;
    case TACIT_SCHEDULE_LINEAR: return optimiser->rate * (1 - share);
    case TACIT_SCHEDULE_COSINE: return optimiser->rate * (1 + cos(M_PI * share)) / 2;
    case TACIT_SCHEDULE_ROOT: return optimiser->rate / sqrt(1 + t);
    }
    return 0;
}

/* Heavy ball: m <- momentum m + g, w <- w - rate m. */
static void sgd_step(const tacit_optimiser *optimiser, double rate, const double *gradient, double *memory,
                     double *parameters, size_t size) {
    for (size_t j = 0; j < size; j++) {
        memory[j] = optimiser->momentum * memory[j] + gradient[j];
        parameters[j] -= rate * memory[j];
    }
}

/* Kingma and Ba 2015, algorithm 1, with their second decay and floor. */
static void adam_step(const tacit_optimiser *optimiser, double rate, uint64_t step, const double *gradient,
                      double *memory, double *parameters, size_t size) {
    const double first = optimiser->momentum, second = 0.999, floor = 1e-8;
    double *mean = memory, *square = memory + size, t = (double)step + 1;
    double of_mean = 1 / (1 - pow(first, t)), of_square = 1 / (1 - pow(second, t));
    for (size_t j = 0; j < size; j++) {
        mean[j] = first * mean[j] + (1 - first) * gradient[j];
        square[j] = second * square[j] + (1 - second) * gradient[j] * gradient[j];
        parameters[j] -= rate * of_mean * mean[j] / (sqrt(of_square * square[j]) + floor);
    }
}

void tacit_optimiser_step(const tacit_optimiser *optimiser, uint64_t step, const double *gradient,
                          double *memory, double *parameters, size_t size) {
    double rate = tacit_optimiser_rate(optimiser, step);
    if (optimiser->rule == TACIT_RULE_ADAM)
        adam_step(optimiser, rate, step, gradient, memory, parameters, size);
    else
        sgd_step(optimiser, rate, gradient, memory, parameters, size);
}
