#include "lab/reproduce/logit_sets.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/table.h"
#include "rand/fast.h"

const tacit_logit_set tacit_logit_sets[TACIT_LOGIT_SETS] = {
    { "Wine", 6497, 13, 0, 0, false, 5, 13, 32, 24, 17 },
    { "Loans", 122578, 27, 0, 0, false, 6, 17, 492, 260, 104 },
    { "Insurance", 9882, 39, 0, 0, false, 7, 28, 843, 520, 144 },
    { "News", 39082, 53, 0, 0, false, 5, 13, 1442, 621, 313 },
    { "SimuX10", 50000, 10, 50000, 50000, false, 6, 20, 26, 24, 13 },
    { "SimuX12", 1000000, 12, 100000, 1000000, false, 6, 22, 38, 37, 17 },
    { "SimuX50", 1000000, 50, 100000, 1000000, false, 6, 32, 1550, 1052, 383 },
    { "SimuX100", 3000000, 100, 100000, 3000000, false, 7, 59, 13138, 7817, 1807 },
    { "SimuX150", 4000000, 150, 100000, 1000000, true, 7, 83, 42951, 25030, 6055 },
    { "SimuX200", 5000000, 200, 100000, 1000000, true, 8, 105, 114522, 56917, 14105 },
    { "SimuX400", 50000000, 400, 100000, 200000, true, 8, 206, 0, 0, 110598 },
};

const tacit_logit_set *tacit_logit_set_find(const char *name) {
    for (size_t i = 0; i < TACIT_LOGIT_SETS; i++)
        if (strcmp(tacit_logit_sets[i].name, name) == 0) return &tacit_logit_sets[i];
    assert(false);
    return NULL;
}

enum { RED, WHITE, LOANS, INSURANCE, INSURANCE_TEST, INSURANCE_TARGETS, NEWS };
const tacit_data_file tacit_logit_files[] = {
    { "wine/winequality-red.csv", "1,599 rows of 11 numbers and the quality" },
    { "wine/winequality-white.csv", "4,898 rows of 11 numbers and the quality" },
    { "lending/full_train_set.csv", "119,987 rows of 19 columns" },
    { "caravan/ticdata2000.txt", "5,822 rows of 86 numbers" },
    { "caravan/ticeval2000.txt", "4,000 rows of 85 numbers" },
    { "caravan/tictgts2000.txt", "4,000 numbers" },
    { "onlinenews/OnlineNewsPopularity_subset_61col.csv", "24,279 rows of 61 columns" },
    { NULL, NULL },
};

/* ---- columns piling up ---- */

typedef struct heap {
    size_t rows, columns, width; /* filled so far; `width` in all */
    double *values;              /* row-major */
    int32_t *label;
} heap;

static tacit_status make_heap(heap *out, size_t rows, size_t width, tacit_error *error) {
    *out = (heap){ .rows = rows,
                   .width = width,
                   .values = TACIT_NEW(double, rows *width),
                   .label = TACIT_NEW(int32_t, rows) };
    return out->values != NULL && out->label != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static void free_heap(heap *self) {
    free(self->values);
    free(self->label);
}

static tacit_status read_table(tacit_table **out, const char *folder, int which, bool no_header,
                               tacit_error *error) {
    char path[PATH_MAX];
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.no_header = no_header;
    TACIT_TRY(tacit_data_find(path, sizeof path, folder, &tacit_logit_files[which], error));
    const tacit_source_options opening = { .no_header = no_header };
    tacit_source *source = NULL;
    TACIT_TRY(tacit_source_open(&source, path, &opening, error));
    tacit_status status = tacit_table_load(out, source, &options, error);
    tacit_source_free(source);
    return status;
}

static tacit_status wrong_shape(int which, tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT, "%s is not what it should be: %s", tacit_logit_files[which].name,
                      tacit_logit_files[which].shape);
}

/* A column of numbers into the heap's next one, from row `first` on. */
static bool add_numbers(heap *self, size_t first, const tacit_table *table, size_t column) {
    const tacit_column *from = &table->columns[column];
    if (from->kind != TACIT_COLUMN_NUMBER || self->columns >= self->width) return false;
    for (size_t i = 0; i < table->rows; i++)
        self->values[(first + i) * self->width + self->columns] =
            isnan(from->number[i]) ? 0 : from->number[i];
    self->columns++;
    return true;
}

/* A feature for each level but the first. */
static bool add_levels(heap *self, const tacit_table *table, size_t column) {
    const tacit_column *from = &table->columns[column];
    if (from->kind != TACIT_COLUMN_CATEGORY || from->overflow) return false;
    for (size_t level = 1; level < from->levels.count; level++, self->columns++) {
        if (self->columns >= self->width) return false;
        for (size_t i = 0; i < table->rows; i++)
            self->values[i * self->width + self->columns] = from->code[i] == (int32_t)level;
    }
    return true;
}

/* ---- the real sets: their columns before the constant ---- */

static tacit_status read_wine(heap *out, size_t width, const char *folder, tacit_error *error) {
    enum { NUMBERS = 11, GOOD = 6 };
    tacit_table *tables[2] = { NULL, NULL };
    tacit_status status;
    TACIT_CHECK(read_table(&tables[0], folder, RED, false, error));
    TACIT_CHECK(read_table(&tables[1], folder, WHITE, false, error));
    TACIT_CHECK(make_heap(out, tables[0]->rows + tables[1]->rows, width, error));
    for (size_t t = 0, first = 0; t < 2; first += tables[t]->rows, t++) {
        out->columns = 0;
        if (tables[t]->cols != NUMBERS + 1 || tables[t]->columns[NUMBERS].kind != TACIT_COLUMN_NUMBER)
            TACIT_CHECK(wrong_shape(t == 0 ? RED : WHITE, error));
        for (size_t c = 0; c < NUMBERS; c++)
            if (!add_numbers(out, first, tables[t], c)) TACIT_CHECK(wrong_shape(t == 0 ? RED : WHITE, error));
        for (size_t i = 0; i < tables[t]->rows; i++) {
            out->values[(first + i) * width + NUMBERS] = (double)t;
            out->label[first + i] = tables[t]->columns[NUMBERS].number[i] >= GOOD;
        }
        out->columns++;
    }
cleanup:
    tacit_table_free(tables[0]);
    tacit_table_free(tables[1]);
    return status;
}

/* Without `status`, which gives the outcome away, and the columns that repeat others. */
static tacit_status read_loans(heap *out, size_t width, const char *folder, tacit_error *error) {
    static const char *const numbers[] = { "loan_amnt",    "annual_inc", "dti",       "payment_inc_ratio",
                                           "revol_bal",    "revol_util", "open_acc",  "delinq_2yrs_zero",
                                           "pub_rec_zero", "grade",      "emp_length" };
    static const char *const levels[] = { "term", "purpose", "home_ownership" };
    tacit_table *table = NULL;
    size_t at;
    tacit_status status;
    TACIT_CHECK(read_table(&table, folder, LOANS, false, error));
    TACIT_CHECK(make_heap(out, table->rows, width, error));
    for (size_t c = 0; c < sizeof numbers / sizeof *numbers; c++) {
        TACIT_CHECK(tacit_table_find(table, numbers[c], "column", &at, error));
        if (!add_numbers(out, 0, table, at)) TACIT_CHECK(wrong_shape(LOANS, error));
    }
    for (size_t c = 0; c < sizeof levels / sizeof *levels; c++) {
        TACIT_CHECK(tacit_table_find(table, levels[c], "column", &at, error));
        if (!add_levels(out, table, at)) TACIT_CHECK(wrong_shape(LOANS, error));
    }
    TACIT_CHECK(tacit_table_find(table, "outcome", "column", &at, error));
    const tacit_column *outcome = &table->columns[at];
    if (outcome->kind != TACIT_COLUMN_CATEGORY || outcome->levels.count != 2)
        TACIT_CHECK(wrong_shape(LOANS, error));
    int32_t lost = tacit_levels_find(&outcome->levels, "default", strlen("default"));
    for (size_t i = 0; i < table->rows; i++) out->label[i] = outcome->code[i] == lost;
cleanup:
    tacit_table_free(table);
    return status;
}

/* The first 38 columns, on who lives where the customer lives; training and evaluation rows. */
static tacit_status read_insurance(heap *out, size_t width, const char *folder, tacit_error *error) {
    enum { USED = 38, LABEL = 85 };
    tacit_table *tables[2] = { NULL, NULL }, *targets = NULL;
    tacit_status status;
    TACIT_CHECK(read_table(&tables[0], folder, INSURANCE, true, error));
    TACIT_CHECK(read_table(&tables[1], folder, INSURANCE_TEST, true, error));
    TACIT_CHECK(read_table(&targets, folder, INSURANCE_TARGETS, true, error));
    if (tables[0]->cols != LABEL + 1 || tables[1]->cols != LABEL || targets->cols != 1 ||
        targets->rows != tables[1]->rows || tables[0]->columns[LABEL].kind != TACIT_COLUMN_NUMBER ||
        targets->columns[0].kind != TACIT_COLUMN_NUMBER)
        TACIT_CHECK(wrong_shape(INSURANCE, error));
    TACIT_CHECK(make_heap(out, tables[0]->rows + tables[1]->rows, width, error));
    for (size_t t = 0, first = 0; t < 2; first += tables[t]->rows, t++) {
        const double *label = t == 0 ? tables[0]->columns[LABEL].number : targets->columns[0].number;
        out->columns = 0;
        for (size_t c = 0; c < USED; c++)
            if (!add_numbers(out, first, tables[t], c)) TACIT_CHECK(wrong_shape(INSURANCE, error));
        for (size_t i = 0; i < tables[t]->rows; i++) out->label[first + i] = label[i] > 0;
    }
cleanup:
    tacit_table_free(tables[0]);
    tacit_table_free(tables[1]);
    tacit_table_free(targets);
    return status;
}

/* Without the columns that follow from others (a day and the weekend, one of five shares) or hardly vary. */
static tacit_status read_news(heap *out, size_t width, const char *folder, tacit_error *error) {
    static const char *const left_out[] = { "url",
                                            "timedelta",
                                            "n_non_stop_words",
                                            "n_non_stop_unique_tokens",
                                            "weekday_is_saturday",
                                            "weekday_is_sunday",
                                            "is_weekend",
                                            "LDA_04",
                                            "shares" };
    enum { POPULAR = 1400 };
    tacit_table *table = NULL;
    size_t shares;
    tacit_status status;
    TACIT_CHECK(read_table(&table, folder, NEWS, false, error));
    TACIT_CHECK(make_heap(out, table->rows, width, error));
    for (size_t c = 0; c < table->cols; c++) {
        bool used = true;
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
            used = used && strcmp(table->columns[c].name, left_out[k]) != 0;
        if (used && !add_numbers(out, 0, table, c)) TACIT_CHECK(wrong_shape(NEWS, error));
    }
    TACIT_CHECK(tacit_table_find(table, "shares", "column", &shares, error));
    if (table->columns[shares].kind != TACIT_COLUMN_NUMBER) TACIT_CHECK(wrong_shape(NEWS, error));
    for (size_t i = 0; i < table->rows; i++) out->label[i] = table->columns[shares].number[i] >= POPULAR;
cleanup:
    tacit_table_free(table);
    return status;
}

/* ---- into the ball ---- */

static void standardise(heap *self) {
    for (size_t j = 0; j < self->columns; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < self->rows; i++)
            mean += self->values[i * self->width + j] / (double)self->rows;
        for (size_t i = 0; i < self->rows; i++) square += pow(self->values[i * self->width + j] - mean, 2);
        double deviation = sqrt(square / (double)self->rows);
        for (size_t i = 0; i < self->rows; i++) {
            double *value = &self->values[i * self->width + j];
            *value = deviation > 0 ? (*value - mean) / deviation : 0;
        }
    }
    for (size_t i = 0; self->columns < self->width && i < self->rows; i++)
        self->values[i * self->width + self->columns] = 1;
}

static tacit_status into_ball(tacit_dataset **out, double *scale, const heap *self, tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    double largest = 0;
    for (size_t i = 0; i < self->rows; i++) {
        double square = 0;
        for (size_t j = 0; j < self->width; j++) square += pow(self->values[i * self->width + j], 2);
        largest = fmax(largest, square);
    }
    *scale = sqrt(largest) * (1 + 1e-12);
    tacit_dataset *data = NULL;
    TACIT_TRY(tacit_dataset_create(&data, self->rows, self->width, classes, 2, error));
    for (size_t k = 0; k < self->rows * self->width; k++) data->dense.values[k] = self->values[k] / *scale;
    memcpy(data->label, self->label, self->rows * sizeof *data->label);
    *out = data;
    return TACIT_OK;
}

/* z ~ N(0, I), coefficients ~ N(0, 0.35^2 I), so that the margin widens with the number of columns; Bernoulli
 * responses. */
static tacit_status simulate(heap *out, size_t rows, size_t width, const tacit_stream *stream,
                             tacit_error *error) {
    static const double DEVIATION = 0.35;
    tacit_stream own = tacit_stream_fork(stream, "simulated set", width, rows);
    double *beta = TACIT_NEW(double, width);
    tacit_status status = beta != NULL ? make_heap(out, rows, width, error) : tacit_fail_memory(error);
    if (status == TACIT_OK) {
        tacit_fast_normals(&own, beta, width);
        tacit_fast_normals(&own, out->values, rows * width);
        for (size_t i = 0; i < rows; i++) {
            double margin = 0;
            for (size_t j = 0; j < width; j++) margin += DEVIATION * beta[j] * out->values[i * width + j];
            out->label[i] = tacit_stream_unit(&own) < 1 / (1 + exp(-margin));
        }
        out->columns = width;
    }
    free(beta);
    return status;
}

tacit_status tacit_logit_read_nothing(tacit_material *out, const tacit_reading_context *context,
                                      tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    (void)context;
    return tacit_dataset_create(&out->train, 10, 1, classes, 2, error);
}

tacit_status tacit_logit_set_read(tacit_dataset **out, double *scale, const tacit_logit_set *set, bool full,
                                  const char *folder, const tacit_stream *stream, tacit_error *error) {
    typedef tacit_status reader(heap *, size_t, const char *, tacit_error *);
    static reader *const readers[] = { read_wine, read_loans, read_insurance, read_news };
    heap self = { .rows = 0 };
    size_t at = (size_t)(set - tacit_logit_sets);
    tacit_status status =
        at < sizeof readers / sizeof *readers
            ? readers[at](&self, set->columns, folder, error)
            : simulate(&self, full ? set->full_rows : set->rows, set->columns, stream, error);
    if (status == TACIT_OK && self.rows > 0) {
        if (set->rows == 0) standardise(&self);
        status = into_ball(out, scale, &self, error);
    }
    free_heap(&self);
    return status;
}
