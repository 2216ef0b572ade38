/* Wang 2018, chapter 4: transfer from private sources to a target that mixes them, on 20 Newsgroups and Amazon reviews. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/documents.h"
#include "lab/corpus.h"
#include "lab/reproduce.h"
#include "method/transfer.h"
#include "session/local.h"

enum { MOST_SOURCES = 5, DIMENSIONS = 50 };

/* How the documents of a corpus are dealt out, before the target's mixture. */
typedef struct sizes {
    size_t sources;
    size_t unlabelled, labelled; /* of each source */
    size_t public_each;          /* of each domain */
    size_t target, test;
} sizes;

static const sizes news_sizes = { 5, 1000, 700, 300, 1000, 320 };
static const sizes amazon_sizes = { 4, 500, 500, 150, 750, 350 };

/* ---- reading ---- */

static const tacit_data_file news_files[] = { { "news20/20news-bydate.tar", "18,846 documents of 20 groups" },
                                              { NULL, NULL } };
static const tacit_data_file amazon_files[] = {
    { "amazon/processed_acl_labeled.tar", "4 x 2,000 reviews with counts of terms" }, { NULL, NULL }
};

/* Table 4.1; the first group of each is about computers. */
static const char *const groups[MOST_SOURCES][3] = {
    { "comp.graphics", "rec.autos", "sci.space" },
    { "comp.os.ms-windows.misc", "talk.politics.guns", "sci.med" },
    { "comp.sys.ibm.pc.hardware", "soc.religion.christian", "talk.politics.mideast" },
    { "comp.sys.mac.hardware", "misc.forsale", "rec.sport.baseball" },
    { "comp.windows.x", "talk.religion.misc", "sci.crypt" },
};
static const char *const products[] = { "books", "dvd", "kitchen", "electronics" };

typedef tacit_status document_reader(tacit_corpus *corpus, const tacit_document *document,
                                     tacit_error *error);

static tacit_status count_word(void *context, const char *term, size_t length, tacit_error *error) {
    return tacit_corpus_term(context, term, length, 1, error);
}

static tacit_status add_article(tacit_corpus *corpus, const tacit_document *document, tacit_error *error) {
    for (size_t k = 0; k < MOST_SOURCES; k++)
        for (size_t g = 0; g < 3; g++) {
            if (strcmp(document->folder, groups[k][g]) != 0) continue;
            TACIT_TRY(tacit_text_terms(document->text, document->length, 1, TACIT_STRIP_NEWS, count_word,
                                       corpus, error));
            return tacit_corpus_end_document(corpus, k, g == 0, error);
        }
    return TACIT_OK;
}

/* A line: "term:count term:count ... #label#:positive". */
static tacit_status add_review(tacit_corpus *corpus, const char *line, size_t length, size_t domain,
                               tacit_error *error) {
    int positive = -1;
    for (size_t at = 0; at < length;) {
        size_t size = 0;
        while (at + size < length && line[at + size] != ' ') size++;
        const char *colon = memrchr(line + at, ':', size);
        size_t name = colon != NULL ? (size_t)(colon - (line + at)) : 0;
        if (name == 7 && memcmp(line + at, "#label#", 7) == 0)
            positive = colon[1] == 'p';
        else if (name > 0)
            TACIT_TRY(tacit_corpus_term(corpus, line + at, name, strtod(colon + 1, NULL), error));
        at += size + 1;
    }
    if (positive < 0) return tacit_fail(error, TACIT_INPUT, "a review without a label");
    return tacit_corpus_end_document(corpus, domain, positive, error);
}

static tacit_status add_reviews(tacit_corpus *corpus, const tacit_document *document, tacit_error *error) {
    for (size_t k = 0; k < 4; k++) {
        if (strcmp(document->folder, products[k]) != 0) continue;
        const char *end = document->text + document->length;
        for (const char *at = document->text; at < end;) {
            const char *stop = memchr(at, '\n', (size_t)(end - at));
            size_t length = stop != NULL ? (size_t)(stop - at) : (size_t)(end - at);
            if (length > 0) TACIT_TRY(add_review(corpus, at, length, k, error));
            at += length + 1;
        }
    }
    return TACIT_OK;
}

static tacit_status read_corpus(tacit_material *out, const tacit_reading_context *context,
                                const tacit_data_file *file, document_reader *add, size_t domains,
                                const tacit_corpus_rule *rule, tacit_error *error) {
    char path[PATH_MAX];
    tacit_documents *documents = NULL;
    tacit_corpus corpus = TACIT_CORPUS_INIT;
    tacit_document one;
    tacit_status status;
    TACIT_CHECK(tacit_data_find(path, sizeof path, context->folder, file, error));
    TACIT_CHECK(tacit_documents_open(&documents, path, error));
    for (;;) {
        TACIT_CHECK(tacit_documents_next(documents, &one, error));
        if (one.path == NULL) break;
        TACIT_CHECK(add(&corpus, &one, error));
        tacit_progress_report(context->progress, "reading", corpus.counts.rows, 0);
        if (tacit_progress_cancelled(context->progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
    }
    TACIT_CHECK(tacit_corpus_finish(&out->train, &corpus, domains, rule, error));
cleanup:
    tacit_corpus_clear(&corpus);
    tacit_documents_free(documents);
    return status;
}

static tacit_status read_news(tacit_material *out, const tacit_reading_context *context, tacit_error *error) {
    static const tacit_corpus_rule rule = { 0.005, 0.5, 0 };
    return read_corpus(out, context, news_files, add_article, MOST_SOURCES, &rule, error);
}

static tacit_status read_amazon(tacit_material *out, const tacit_reading_context *context,
                                tacit_error *error) {
    static const tacit_corpus_rule rule = { 0, 1, 1500 };
    return read_corpus(out, context, amazon_files, add_reviews, 4, &rule, error);
}

/* ---- dealing out ---- */

/* One draw: who has which documents, full width and projected on the public ones. */
typedef struct draw {
    tacit_dataset *wide, *narrow; /* all documents, with classes 0 and 1 */
    tacit_schema *schema;         /* says that no feature of `wide` is negative */
    uint32_t *index;              /* sources one after the other, then public, target and test documents */
    size_t start[MOST_SOURCES + 1];
    size_t public_at, target_at, test_at, end;
} draw;

static void draw_clear(draw *self) {
    tacit_dataset_free(self->wide);
    tacit_dataset_free(self->narrow);
    tacit_schema_free(self->schema);
    free(self->index);
}

/* The documents of a domain in random order; `next` goes through them. */
typedef struct deck {
    uint32_t *row;
    size_t count, next;
} deck;

static tacit_status take(draw *self, deck *from, size_t count, tacit_error *error) {
    if (from->count - from->next < count)
        return tacit_fail(error, TACIT_INPUT,
                          "a domain has %zu documents and %zu are needed: is the file whole?", from->count,
                          from->next + count);
    memcpy(self->index + self->end, from->row + from->next, count * sizeof *from->row);
    from->next += count;
    self->end += count;
    return TACIT_OK;
}

static void shuffle(uint32_t *row, size_t count, tacit_stream *stream) {
    for (size_t i = 0; i + 1 < count; i++) {
        size_t j = i + (size_t)tacit_stream_below(stream, count - i);
        uint32_t kept = row[i];
        row[i] = row[j];
        row[j] = kept;
    }
}

/* Documents of the target's mixture, in random order. */
static tacit_status take_mixture(draw *self, deck *decks, const double *mixture, size_t sources, double total,
                                 tacit_stream *stream, tacit_error *error) {
    size_t begin = self->end;
    for (size_t k = 0; k < sources; k++)
        TACIT_TRY(take(self, &decks[k], (size_t)(mixture[k] * total + 0.5), error));
    shuffle(self->index + begin, self->end - begin, stream);
    return TACIT_OK;
}

static tacit_status deal(draw *self, const tacit_dataset *all, const sizes *how, const double *mixture,
                         tacit_stream *stream, tacit_error *error) {
    deck decks[MOST_SOURCES] = { { NULL, 0, 0 } };
    tacit_status status = TACIT_OK;
    self->index = TACIT_NEW(uint32_t, 2 * all->rows);
    for (size_t k = 0; k < how->sources; k++) decks[k].row = TACIT_NEW(uint32_t, all->rows);
    for (size_t k = 0; k < how->sources; k++)
        if (decks[k].row == NULL || self->index == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < all->rows; i++) {
        deck *one = &decks[(size_t)all->label[i] / 2];
        if (all->sparse.start[i] == all->sparse.start[i + 1]) continue; /* no term of it is left */
        one->row[one->count++] = (uint32_t)i;
    }
    for (size_t k = 0; k < how->sources; k++) {
        shuffle(decks[k].row, decks[k].count, stream);
        TACIT_CHECK(take(self, &decks[k], how->labelled + how->unlabelled, error));
        self->start[k + 1] = self->end;
    }
    self->public_at = self->end;
    for (size_t k = 0; k < how->sources; k++) TACIT_CHECK(take(self, &decks[k], how->public_each, error));
    self->target_at = self->end;
    double part = 1; /* of the target's and the test documents, where a domain has not enough for all */
    for (size_t k = 0; k < how->sources; k++)
        part = fmin(part, (double)(decks[k].count - decks[k].next - 2) /
                              fmax(1, mixture[k] * (double)(how->target + how->test)));
    TACIT_CHECK(take_mixture(self, decks, mixture, how->sources, part * (double)how->target, stream, error));
    self->test_at = self->end;
    TACIT_CHECK(take_mixture(self, decks, mixture, how->sources, part * (double)how->test, stream, error));
cleanup:
    for (size_t k = 0; k < MOST_SOURCES; k++) free(decks[k].row);
    return status;
}

static const char *const class_names[] = { "0", "1" };

/* All documents with two classes. */
static tacit_status copy_wide(draw *self, const tacit_dataset *all, tacit_error *error) {
    tacit_pile pile = TACIT_PILE_INIT;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < all->rows; i++) {
        for (size_t e = all->sparse.start[i]; e < all->sparse.start[i + 1]; e++)
            TACIT_CHECK(tacit_pile_entry(&pile, all->sparse.column[e], all->sparse.value[e], error));
        TACIT_CHECK(tacit_pile_end_row(&pile, all->label[i] % 2, error));
    }
    TACIT_CHECK(tacit_pile_finish(&self->wide, &pile, all->features, class_names, 2, error));
cleanup:
    tacit_pile_clear(&pile);
    return status;
}

/* The same along the public documents' directions: what project=public:50 does, once instead of in every answer. */
static tacit_status project(draw *self, tacit_error *error) {
    tacit_projection projection = TACIT_PROJECTION_INIT;
    tacit_view public_rows =
        tacit_dataset_subset(self->wide, self->index + self->public_at, self->target_at - self->public_at);
    tacit_rows rows = tacit_dataset_rows(self->wide);
    tacit_status status;
    TACIT_CHECK(tacit_projection_of(&projection, &public_rows.rows, DIMENSIONS, error));
    TACIT_CHECK(tacit_dataset_create(&self->narrow, self->wide->rows, DIMENSIONS, class_names, 2, error));
    for (size_t i = 0; i < self->end; i++) {
        uint32_t row = self->index[i];
        tacit_projection_row(&projection, &rows, row, self->narrow->dense.values + row * (size_t)DIMENSIONS);
        self->narrow->label[row] = self->wide->label[row];
    }
cleanup:
    tacit_projection_clear(&projection);
    return status;
}

/* Rows of norm 1 without negative features are those of a text column. */
static tacit_status describe(draw *self, tacit_error *error) {
    tacit_schema_column *column;
    TACIT_TRY(tacit_schema_create(&self->schema, error));
    TACIT_TRY(tacit_schema_add_column(self->schema, &column, "text", TACIT_SCHEMA_TEXT, error));
    column->text.buckets = self->wide->features;
    self->schema->intercept = false;
    return TACIT_OK;
}

static tacit_status make_draw(draw *self, const tacit_dataset *all, const sizes *how, const double *mixture,
                              uint64_t seed, tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    TACIT_TRY(deal(self, all, how, mixture, &stream, error));
    TACIT_TRY(copy_wide(self, all, error));
    TACIT_TRY(describe(self, error));
    return project(self, error);
}

/* A simulation over the draw, in either width. */
static tacit_simulation simulate_draw(const draw *self, const tacit_simulation *base, bool narrow,
                                      const tacit_split *split) {
    const tacit_dataset *data = narrow ? self->narrow : self->wide;
    tacit_simulation made = *base;
    made.dataset = data;
    made.schema = narrow ? NULL : self->schema;
    made.split = split;
    made.auxiliary =
        tacit_dataset_subset(data, self->index + self->public_at, self->target_at - self->public_at);
    made.target = tacit_dataset_subset(data, self->index + self->target_at, self->test_at - self->target_at);
    made.test = tacit_dataset_subset(data, self->index + self->test_at, self->end - self->test_at);
    return made;
}

static tacit_split split_of(draw *self, const sizes *how) {
    return (tacit_split){ how->sources, self->start, self->index };
}

/* Curves whose label ends so are run on projected rows. */
#define NARROW ", p = 50"
static bool is_narrow(const tacit_variant *variant) {
    size_t length = strlen(variant->label), tail = strlen(NARROW);
    return length > tail && strcmp(variant->label + length - tail, NARROW) == 0;
}

/* ---- tables: accuracy ---- */

static tacit_status run_table(const tacit_simulation *base, const sizes *how, const double *mixture,
                              tacit_run *runs, tacit_error *error) {
    draw self = { .wide = NULL };
    tacit_status status;
    TACIT_CHECK(make_draw(&self, base->dataset, how, mixture, base->seed, error));
    tacit_split split = split_of(&self, how);
    for (size_t m = 0; m < base->method_count; m++) {
        tacit_simulation one = simulate_draw(&self, base, is_narrow(&base->variants[m]), &split);
        one.methods = base->methods + m;
        one.method_count = 1;
        one.variants = base->variants + m;
        one.progress = NULL;
        TACIT_CHECK(tacit_simulate(&one, runs + m * base->epsilon_count, NULL, error));
        tacit_progress_report(base->progress, base->variants[m].label, m + 1, base->method_count);
        if (tacit_progress_cancelled(base->progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
    }
cleanup:
    draw_clear(&self);
    return status;
}

/* ---- figures: the error of the hypotheses' weights ---- */

static tacit_status weights_error(const tacit_simulation *one, const tacit_points *points,
                                  const tacit_variant *variant, double epsilon, uint64_t seed,
                                  const double *mixture, double *out, tacit_error *error) {
    tacit_local *local = NULL;
    tacit_stream stream = tacit_stream_from_seed(seed);
    tacit_session session;
    double weights[MOST_SOURCES];
    size_t sources;
    tacit_plan plan = { .method = tacit_method_find("dphtl"),
                        .study = "simulation",
                        .epsilon = epsilon,
                        .lambda = variant->lambda,
                        .features = one->dataset->features,
                        .classes = 2,
                        .parties = one->split->parts,
                        .minimum_parties = 1,
                        .minimum_rows = tacit_split_count(one->split, 0),
                        .points = points,
                        .schema = one->schema };
    tacit_status status;
    for (size_t s = 0; s < TACIT_VARIANT_SETTINGS && variant->settings[s].name != NULL; s++)
        TACIT_CHECK(tacit_plan_set(&plan, variant->settings[s].name, variant->settings[s].value, error));
    TACIT_CHECK(tacit_local_create(&local, one->dataset, one->split, one->pool, error));
    TACIT_CHECK(tacit_local_begin(local, &plan, &stream, NULL, &session, error));
    session.own = &one->target;
    TACIT_CHECK(dphtl_weights(&session, weights, &sources, error));
    *out = 0;
    for (size_t k = 0; k < sources; k++)
        *out += (weights[k] - mixture[k]) * (weights[k] - mixture[k]) / (double)sources;
cleanup:
    tacit_local_free(local);
    return status;
}

static tacit_status run_figure(const tacit_simulation *base, const sizes *how, const double *mixture,
                               tacit_run *runs, tacit_error *error) {
    draw self = { .wide = NULL };
    tacit_points points = TACIT_POINTS_INIT;
    size_t done = 0;
    tacit_status status;
    TACIT_CHECK(make_draw(&self, base->dataset, how, mixture, base->seed, error));
    tacit_split split = split_of(&self, how);
    for (size_t m = 0; m < base->method_count; m++) {
        tacit_simulation one = simulate_draw(&self, base, is_narrow(&base->variants[m]), &split);
        tacit_points_clear(&points);
        TACIT_CHECK(tacit_points_of(&points, &one.auxiliary.rows, one.pool, error));
        for (size_t e = 0; e < base->epsilon_count; e++) {
            double value = 0;
            TACIT_CHECK(weights_error(&one, &points, &base->variants[m], base->epsilons[e], base->seed + e,
                                      mixture, &value, error));
            runs[done++] = (tacit_run){ .method = base->methods[m],
                                        .epsilon = base->epsilons[e],
                                        .trials = 1,
                                        .accuracy = { value, 0 },
                                        .lambda = base->variants[m].lambda };
        }
        tacit_progress_report(base->progress, base->variants[m].label, m + 1, base->method_count);
        if (tacit_progress_cancelled(base->progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
    }
cleanup:
    tacit_points_clear(&points);
    draw_clear(&self);
    return status;
}

/* ---- the experiments ---- */

#define CURVE(name, kind, lambda_lr, iw, part, tail, ...)                                                    \
    {                                                                                                        \
        .method = "dphtl", .label = name tail,                                                               \
        .settings = { { "model", kind }, { "lambda_iw", iw }, { "labelled", part }, __VA_ARGS__ },           \
        .lambda = lambda_lr                                                                                  \
    }
#define CURVES(lambda_lr, iw, part, tail, ...)                                                               \
    CURVE("WEAK", "weak", lambda_lr, iw, part, tail, __VA_ARGS__),                                           \
        { .method = "dphtl",                                                                                 \
          .label = "SOURCE" tail,                                                                            \
          .settings = { { "model", "sources" }, { "lambda_iw", iw }, { "labelled", part }, __VA_ARGS__ },    \
          .lambda = lambda_lr,                                                                               \
          .best = true },                                                                                    \
        CURVE("AVERAGE", "average", lambda_lr, iw, part, tail, __VA_ARGS__),                                 \
        CURVE("SOFT", "soft", lambda_lr, iw, part, tail, __VA_ARGS__),                                       \
        CURVE("DPHTL", "dphtl", lambda_lr, iw, part, tail, __VA_ARGS__),                                     \
        CURVE("TARGET", "target", lambda_lr, iw, part, tail, __VA_ARGS__)

/* As printed in full width, with noise of the printed constants; ours along 50 public directions. */
#define PRINTED                                                                                              \
    { "calibration", "paper" }, { "prior", "paper" }
#define OURS                                                                                                 \
    { "prior", "aware" }

static const tacit_variant news_curves[] = { CURVES(0.003, "0.001", "0.4118", "", PRINTED),
                                             CURVES(0.01, "0.05", "0.4118", NARROW, OURS),
                                             { .method = NULL } };
static const tacit_variant amazon_curves[] = { CURVES(0.005, "0.001", "0.5", "", PRINTED),
                                               CURVES(0.01, "0.05", "0.5", NARROW, OURS),
                                               { .method = NULL } };

#define WEIGHTS(iw, part, tail, ...) CURVE("DPIW", "dphtl", 0.01, iw, part, tail, __VA_ARGS__)
static const tacit_variant news_weights[] = { WEIGHTS("0.001", "0.4118", "", { "calibration", "paper" }),
                                              WEIGHTS("0.001", "0.4118", ", tight",
                                                      { "calibration", "tight" }),
                                              WEIGHTS("0.05", "0.4118", NARROW, { "calibration", "tight" }),
                                              { .method = NULL } };
static const tacit_variant amazon_weights[] = { WEIGHTS("0.001", "0.5", "", { "calibration", "paper" }),
                                                WEIGHTS("0.001", "0.5", ", tight",
                                                        { "calibration", "tight" }),
                                                WEIGHTS("0.05", "0.5", NARROW, { "calibration", "tight" }),
                                                { .method = NULL } };

static const double epsilons[] = { 0.1, 0.5, 1, 3, 5, INFINITY };

#define MIXTURE(text)                                                                                        \
    { "target mixture " text, NULL, 5, "even" }
static const tacit_setup table43_setups[] = { MIXTURE("[0, .6, .2, 0, .2]"), MIXTURE("[.5, 0, 0, .5, 0]"),
                                              MIXTURE("[.2, 0, .3, .3, .2]") };
static const double table43_mixtures[][MOST_SOURCES] = { { 0, 0.6, 0.2, 0, 0.2 },
                                                         { 0.5, 0, 0, 0.5, 0 },
                                                         { 0.2, 0, 0.3, 0.3, 0.2 } };
static const tacit_setup table42_setups[] = { { "target mixture [.25, 0, .75, 0]", NULL, 4, "even" },
                                              { "target mixture [0, .5, 0, .5]", NULL, 4, "even" } };
static const double table42_mixtures[][MOST_SOURCES] = { { 0.25, 0, 0.75, 0 }, { 0, 0.5, 0, 0.5 } };
static const tacit_setup fig42_setups[] = { MIXTURE("[.2, 0, .4, 0, .4]"), MIXTURE("[.2, .2, .2, .2, .2]"),
                                            MIXTURE("[.2, 0, 0, .8, 0]"), MIXTURE("[0, 0, .6, 0, .4]") };
static const double fig42_mixtures[][MOST_SOURCES] = {
    { 0.2, 0, 0.4, 0, 0.4 }, { 0.2, 0.2, 0.2, 0.2, 0.2 }, { 0.2, 0, 0, 0.8, 0 }, { 0, 0, 0.6, 0, 0.4 }
};
static const tacit_setup fig43_setups[] = { { "target mixture [.75, 0, .25, 0]", NULL, 4, "even" },
                                            { "target mixture [.1, .2, .4, .3]", NULL, 4, "even" },
                                            { "target mixture [0, .5, .5, 0]", NULL, 4, "even" },
                                            { "target mixture [0, .2, .4, .4]", NULL, 4, "even" } };
static const double fig43_mixtures[][MOST_SOURCES] = {
    { 0.75, 0, 0.25, 0 }, { 0.1, 0.2, 0.4, 0.3 }, { 0, 0.5, 0.5, 0 }, { 0, 0.2, 0.4, 0.4 }
};

static tacit_status run_table42(const tacit_simulation *base, const tacit_setup *setup, tacit_run *runs,
                                tacit_error *error) {
    return run_table(base, &amazon_sizes, table42_mixtures[setup - table42_setups], runs, error);
}

static tacit_status run_table43(const tacit_simulation *base, const tacit_setup *setup, tacit_run *runs,
                                tacit_error *error) {
    return run_table(base, &news_sizes, table43_mixtures[setup - table43_setups], runs, error);
}

static tacit_status run_fig42(const tacit_simulation *base, const tacit_setup *setup, tacit_run *runs,
                              tacit_error *error) {
    return run_figure(base, &news_sizes, fig42_mixtures[setup - fig42_setups], runs, error);
}

static tacit_status run_fig43(const tacit_simulation *base, const tacit_setup *setup, tacit_run *runs,
                              tacit_error *error) {
    return run_figure(base, &amazon_sizes, fig43_mixtures[setup - fig43_setups], runs, error);
}

/* One mixture of a printed table: rows epsilon, columns WEAK SOURCE AVERAGE SOFT DPHTL TARGET. */
#define ROW(at, eps, weak, source, average, soft, dphtl, target)                                             \
    { at, "WEAK", eps, weak }, { at, "SOURCE", eps, source }, { at, "AVERAGE", eps, average },               \
        { at, "SOFT", eps, soft }, { at, "DPHTL", eps, dphtl }, {                                            \
        at, "TARGET", eps, target                                                                            \
    }
static const tacit_printed table42_printed[] = {
    ROW(0, 0.1, .650, .523, .563, .554, .555, .780), ROW(0, 0.5, .650, .574, .623, .625, .614, .780),
    ROW(0, 1, .650, .629, .681, .676, .670, .780),   ROW(0, 3, .650, .723, .751, .744, .755, .780),
    ROW(0, 5, .650, .753, .767, .754, .773, .780),   ROW(0, INFINITY, .650, .770, .776, .764, .788, .780),
    ROW(1, 0.1, .718, .521, .586, .549, .575, .834), ROW(1, 0.5, .718, .598, .662, .646, .657, .834),
    ROW(1, 1, .718, .672, .729, .726, .734, .834),   ROW(1, 3, .718, .786, .801, .786, .814, .834),
    ROW(1, 5, .718, .808, .815, .792, .829, .834),   ROW(1, INFINITY, .718, .823, .818, .794, .838, .834),
};
static const tacit_printed table43_printed[] = {
    ROW(0, 0.1, .735, .537, .639, .533, .636, .848), ROW(0, 0.5, .735, .651, .740, .659, .732, .848),
    ROW(0, 1, .735, .740, .777, .768, .779, .848),   ROW(0, 3, .735, .821, .813, .784, .832, .848),
    ROW(0, 5, .735, .832, .819, .777, .840, .848),   ROW(0, INFINITY, .735, .840, .824, .771, .853, .848),
    ROW(1, 0.1, .704, .540, .588, .533, .585, .792), ROW(1, 0.5, .704, .602, .671, .628, .664, .792),
    ROW(1, 1, .704, .654, .714, .725, .716, .792),   ROW(1, 3, .704, .745, .747, .734, .765, .792),
    ROW(1, 5, .704, .771, .751, .730, .778, .792),   ROW(1, INFINITY, .704, .781, .764, .728, .788, .792),
    ROW(2, 0.1, .703, .544, .609, .547, .608, .790), ROW(2, 0.5, .703, .625, .703, .657, .694, .790),
    ROW(2, 1, .703, .688, .741, .752, .742, .790),   ROW(2, 3, .703, .753, .773, .748, .779, .790),
    ROW(2, 5, .703, .765, .775, .742, .784, .790),   ROW(2, INFINITY, .703, .779, .782, .738, .791, .790),
};

#define NEWS_DIFFERS                                                                                         \
    "Sources have 1,000 unlabelled and 700 labelled documents (the paper: 800), because topics have fewer "  \
    "than 1,000 documents. As in the paper the vocabulary is read off the documents of all domains. No "     \
    "stop words are removed but by frequency, and documents of which no term is left are dropped. "
#define AMAZON_DIFFERS                                                                                       \
    "The unlabelled reviews are not to be had: of 2,000 labelled reviews of a product each source has 500 "  \
    "taken as unlabelled and 500 labelled (the paper: 1,000 each), 150 are public (500), the target has "    \
    "750 (1,500) and the test 350 (600). As in the paper the terms are chosen from the documents of all "    \
    "domains. "
#define REGIMES                                                                                              \
    "Two regimes: the printed one, full width with noise of the printed constants, drawn with the proper "   \
    "law; and ours (p = 50), rows along the public documents' first 50 singular vectors, lambda = .01, "     \
    "lambda_iw = .05, the tight constants and the prior that knows the noise. Gamma-norm noise, delta = 0. " \
    "SOURCE is the best of the hypotheses on the test documents, as in the paper."
#define TABLE_SAYS                                                                                           \
    "DPHTL and AVERAGE emerge as better performers at an intermediate privacy level; without a concern for " \
    "privacy DPHTL performs as well as TARGET."
#define FIGURE_SAYS                                                                                          \
    "As epsilon increases the error approaches zero: the weights of the hypotheses estimate the proportion " \
    "of the sources in the target."

/* Rows are dealt out by the runs themselves, so the framework's own dealing is of one row each. */
#define COMMON(corpus, setups_)                                                                              \
    .paper = "Wang 2018", .source = "TACIT_DATA: see docs/reproduce.md", .files = corpus##_files,            \
    .setups = setups_, .setup_count = sizeof setups_ / sizeof *setups_, .epsilons = epsilons,                \
    .epsilon_count = sizeof epsilons / sizeof *epsilons, .rows_each = 1, .held_out_rows = 1,                 \
    .is_in_ball = true, .read = read_##corpus, .quick = { 2, 1, 0 }, .full = { 20, 1, 0 }
#define MEASURES "mean squared error of the hypotheses' weights"

const tacit_experiment tacit_experiment_wang_table42 = {
    .id = "wang-table42",
    .figure = "table 4.2",
    .title = "Transfer to a mixture of product reviews",
    .differs = AMAZON_DIFFERS REGIMES,
    .says = TABLE_SAYS,
    .curves = amazon_curves,
    .printed = table42_printed,
    .printed_count = sizeof table42_printed / sizeof *table42_printed,
    .run = run_table42,
    COMMON(amazon, table42_setups),
};

const tacit_experiment tacit_experiment_wang_table43 = {
    .id = "wang-table43",
    .figure = "table 4.3",
    .title = "Transfer to a mixture of newsgroups",
    .differs = NEWS_DIFFERS REGIMES,
    .says = TABLE_SAYS,
    .curves = news_curves,
    .printed = table43_printed,
    .printed_count = sizeof table43_printed / sizeof *table43_printed,
    .run = run_table43,
    COMMON(news, table43_setups),
};

const tacit_experiment tacit_experiment_wang_fig42 = {
    .id = "wang-fig42",
    .figure = "figure 4.2",
    .title = "Which sources a mixture of newsgroups is made of",
    .differs = NEWS_DIFFERS "The figure's numbers are not printed. " REGIMES,
    .says = FIGURE_SAYS,
    .curves = news_weights,
    .measures = MEASURES,
    .run = run_fig42,
    COMMON(news, fig42_setups),
};

const tacit_experiment tacit_experiment_wang_fig43 = {
    .id = "wang-fig43",
    .figure = "figure 4.3",
    .title = "Which sources a mixture of product reviews is made of",
    .differs = AMAZON_DIFFERS "The figure's numbers are not printed. " REGIMES,
    .says = FIGURE_SAYS,
    .curves = amazon_weights,
    .measures = MEASURES,
    .run = run_fig43,
    COMMON(amazon, fig43_setups),
};
