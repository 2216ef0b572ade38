/*
 * Coverage of the intervals of dpnewton with purpose=inference: a line for every cell, with the least and
 * largest coverage of a coefficient among the intervals given, where the noise in the curvature is small (kk
 * < .3) apart, and for numbers the width by the plain rule.
 * coverage_table [repeats [seed [spread [logistic|linear [rows [d [epsilon]]]]]]]
 */
#include <stdio.h>

#include "coverage.h"

static void print_range(const size_t *covered, size_t given, size_t d) {
    size_t least = given, most = 0;
    for (size_t j = 0; j < d; j++) {
        if (covered[j] < least) least = covered[j];
        if (covered[j] > most) most = covered[j];
    }
    if (given < 500)
        printf(" %15s |", given == 0 ? "-" : "few");
    else
        printf("   %.4f-%.4f |", (double)least / (double)given, (double)most / (double)given);
}

static void run_cell(coverage_case about, size_t repeats, uint64_t seed) {
    coverage_world *world = coverage_begin(&about);
    coverage_result result = { .repeats = 0 };
    size_t rough[COVERAGE_WIDTH];
    coverage_run(world, repeats, seed, &result);
    for (size_t j = 0; j < about.d; j++) rough[j] = result.covered[j] - result.calm_covered[j];
    double given = (double)(result.given > 0 ? result.given : 1);
    printf("| %-8s | %6zu | %2zu | %-13s | %3g | %5.1f%% |", about.linear ? "linear" : "logistic", about.rows,
           about.d,
           about.intercept < -2 ? "2, and outcome"
           : about.rare > 0     ? "2"
                                : "0",
           about.epsilon, 100 * (1 - (double)result.given / (double)result.repeats));
    print_range(result.calm_covered, result.calm, about.d);
    print_range(rough, result.given - result.calm, about.d);
    printf(" %5.2f | %3.0f%% |", result.width / given, 100 * result.noise / given);
    double plain = about.linear ? coverage_plain_width(world) : 0;
    if (plain > 0)
        printf(" %5.2f |\n", plain);
    else
        printf(" %5s |\n", "-");
    fflush(stdout);
    coverage_end(world);
}

int main(int count, char **words) {
    static const double epsilons[] = { 0.5, 1, 3 };
    static const size_t rows[] = { 10000, 100000 };
    size_t repeats = count > 1 ? strtoul(words[1], NULL, 10) : 2000;
    uint64_t seed = count > 2 ? strtoul(words[2], NULL, 10) : 1;
    double spread = count > 3 ? strtod(words[3], NULL) : COVERAGE_SPREAD;
    size_t only = count > 5 ? strtoul(words[5], NULL, 10) : 0,
           width = count > 6 ? strtoul(words[6], NULL, 10) : 0;
    double price = count > 7 ? strtod(words[7], NULL) : 0;
    const size_t widths[] = { width > 0 ? width : 8, 20 }; /* one that is asked for, alone */
    printf("| model | rows | d | rare columns | epsilon | not estimable | coverage, kk < .3 | coverage, else "
           "| width | noise | width by the plain rule |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int linear = 0; linear < 2; linear++)
        for (int n = 0; n < 2; n++)
            for (int kind = 0; kind < 5 - linear; kind++)
                for (int e = 0; e < 3; e++) {
                    bool outcome = kind == 4,
                         skipped = count > 4 && strcmp(words[4], linear ? "linear" : "logistic") != 0;
                    if (skipped || (only > 0 && only != rows[n]) ||
                        (width > 0 && (outcome ? width != 8 : kind > 1)) ||
                        (price > 0 && price != epsilons[e]))
                        continue;
                    run_cell((coverage_case){ .linear = linear == 1,
                                              .rows = rows[n],
                                              .d = outcome ? 8 : widths[kind / 2],
                                              .rare = outcome || kind % 2 == 1 ? 2 : 0,
                                              .intercept = outcome ? -3.5 : -0.8,
                                              .epsilon = epsilons[e],
                                              .spread = spread },
                             repeats, seed);
                }
    return 0;
}
