/* The rows of three made-up sites as a program has them: numbers, codes of categories and texts in arrays, some missing. */
#pragma once

#include <math.h>
#include <stdint.h>

enum { SITES = 3, PATIENTS = 90 };

static const char *const kinds[] = { "ductal", "lobular", "other" };

typedef struct patients {
    const char *site;
    int8_t kind[PATIENTS]; /* of histology: a place in `kinds`; below 0: not known */
    const char *stage[PATIENTS];
    double age[PATIENTS]; /* NAN: not known */
    const char *relapse[PATIENTS];
} patients;

/* The same numbers in each language. */
static inline int patients_draw(int64_t *state, int below) {
    *state = *state * 16807 % 2147483647;
    return (int)(*state / 1000 % below);
}

/* Of site 0, 1 or 2; they stay for as long as the program runs. */
static inline const patients *patients_of(int site) {
    static const char *const names[SITES] = { "Vienna", "Graz", "Linz" };
    static patients all[SITES];
    patients *out = &all[site];
    int64_t state = 1000 + site;
    out->site = names[site];
    for (int i = 0; i < PATIENTS; i++) {
        int kind = patients_draw(&state, 3), stage = patients_draw(&state, 2),
            age = 30 + patients_draw(&state, 50);
        int relapse = age + 20 * stage + 10 * kind + patients_draw(&state, 100) > 130;
        out->kind[i] = (int8_t)(patients_draw(&state, 20) == 0 ? -1 : kind);
        out->stage[i] = stage == 1 ? "II" : "I";
        out->age[i] = patients_draw(&state, 20) == 0 ? NAN : age;
        out->relapse[i] = relapse ? "yes" : "no";
    }
    return out;
}
