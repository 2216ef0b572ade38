#include "lab/reproduce/mixture.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/projection.h"
#include "data/source/documents.h"
#include "lab/reproduce/corpus.h"

/* ---- reading ---- */

const tacit_data_file tacit_mixture_news_files[] = {
    { "news20/20news-bydate.tar", "18,846 documents of 20 groups" }, { NULL, NULL }
};
const tacit_data_file tacit_mixture_amazon_files[] = {
    { "amazon/processed_acl_labeled.tar", "4 x 2,000 reviews with counts of terms" }, { NULL, NULL }
};

/* Table 4.1; the first group of each is about computers. */
static const char *const groups[TACIT_MIXTURE_SOURCES][3] = {
    { "comp.graphics", "rec.autos", "sci.space" },
    { "comp.os.ms-windows.misc", "talk.politics.guns", "sci.med" },
    { "comp.sys.ibm.pc.hardware", "soc.religion.christian", "talk.politics.mideast" },
    { "comp.sys.mac.hardware", "misc.forsale", "rec.sport.baseball" },
    { "comp.windows.x", "talk.religion.misc", "sci.crypt" },
};
static const char *const products[] = { "books", "dvd", "kitchen", "electronics" };

typedef tacit_status document_reader(tacit_corpus *corpus, const tacit_document *document, tacit_strip strip,
                                     tacit_error *error);

static tacit_status count_word(void *context, const char *term, size_t length, tacit_error *error) {
    return tacit_corpus_term(context, term, length, 1, error);
}

static tacit_status add_article(tacit_corpus *corpus, const tacit_document *document, tacit_strip strip,
                                tacit_error *error) {
    for (size_t k = 0; k < TACIT_MIXTURE_SOURCES; k++)
        for (size_t g = 0; g < 3; g++) {
            if (strcmp(document->folder, groups[k][g]) != 0) continue;
            TACIT_TRY(
                tacit_text_terms(document->text, document->length, 1, strip, count_word, corpus, error));
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
            TACIT_TRY(tacit_corpus_term(corpus, line + at, name, tacit_read_double(colon + 1, NULL), error));
        at += size + 1;
    }
    if (positive < 0) return tacit_fail(error, TACIT_INPUT, "a review without a label");
    return tacit_corpus_end_document(corpus, domain, positive, error);
}

static tacit_status add_reviews(tacit_corpus *corpus, const tacit_document *document, tacit_strip strip,
                                tacit_error *error) {
    (void)strip; /* the terms are counted already */
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
        TACIT_CHECK(add(&corpus, &one, context->strip, error));
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

tacit_status tacit_mixture_read_news(tacit_material *out, const tacit_reading_context *context,
                                     tacit_error *error) {
    static const tacit_corpus_rule rule = { 0.005, 0.5, 0 };
    return read_corpus(out, context, tacit_mixture_news_files, add_article, TACIT_MIXTURE_SOURCES, &rule,
                       error);
}

tacit_status tacit_mixture_read_amazon(tacit_material *out, const tacit_reading_context *context,
                                       tacit_error *error) {
    static const tacit_corpus_rule rule = { 0, 1, 1500 };
    return read_corpus(out, context, tacit_mixture_amazon_files, add_reviews, 4, &rule, error);
}

/* ---- dealing out ---- */

void tacit_mixture_clear(tacit_mixture *self) {
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

static tacit_status take(tacit_mixture *self, deck *from, size_t count, tacit_error *error) {
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
static tacit_status take_mixture(tacit_mixture *self, deck *decks, const double *mixture, size_t sources,
                                 double total, tacit_stream *stream, tacit_error *error) {
    size_t begin = self->end;
    for (size_t k = 0; k < sources; k++)
        TACIT_TRY(take(self, &decks[k], (size_t)(mixture[k] * total + 0.5), error));
    shuffle(self->index + begin, self->end - begin, stream);
    return TACIT_OK;
}

static tacit_status deal(tacit_mixture *self, const tacit_dataset *all, const tacit_mixture_sizes *how,
                         const double *mixture, tacit_stream *stream, tacit_error *error) {
    deck decks[TACIT_MIXTURE_SOURCES] = { { NULL, 0, 0 } };
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
    for (size_t k = 0; k < TACIT_MIXTURE_SOURCES; k++) free(decks[k].row);
    return status;
}

static const char *const class_names[] = { "0", "1" };

/* All documents with two classes. */
static tacit_status copy_wide(tacit_mixture *self, const tacit_dataset *all, tacit_error *error) {
    tacit_row_builder builder = TACIT_ROW_BUILDER_INIT;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < all->rows; i++) {
        for (size_t e = all->sparse.start[i]; e < all->sparse.start[i + 1]; e++)
            TACIT_CHECK(
                tacit_row_builder_entry(&builder, all->sparse.column[e], all->sparse.value[e], error));
        TACIT_CHECK(tacit_row_builder_end_row(&builder, all->label[i] % 2, error));
    }
    TACIT_CHECK(tacit_row_builder_finish(&self->wide, &builder, all->features, class_names, 2, error));
cleanup:
    tacit_row_builder_clear(&builder);
    return status;
}

/* The same along the public documents' directions: what project=public:50 does, once instead of in every
 * answer. */
static tacit_status project(tacit_mixture *self, tacit_error *error) {
    tacit_projection projection = TACIT_PROJECTION_INIT;
    tacit_view public_rows =
        tacit_dataset_subset(self->wide, self->index + self->public_at, self->target_at - self->public_at);
    tacit_rows rows = tacit_dataset_rows(self->wide);
    tacit_status status;
    TACIT_CHECK(tacit_projection_of(&projection, &public_rows.rows, TACIT_MIXTURE_DIMENSIONS, error));
    TACIT_CHECK(tacit_dataset_create(&self->narrow, self->wide->rows, TACIT_MIXTURE_DIMENSIONS, class_names,
                                     2, error));
    for (size_t i = 0; i < self->end; i++) {
        uint32_t row = self->index[i];
        tacit_projection_row(&projection, &rows, row,
                             self->narrow->dense.values + row * (size_t)TACIT_MIXTURE_DIMENSIONS);
        self->narrow->label[row] = self->wide->label[row];
    }
cleanup:
    tacit_projection_clear(&projection);
    return status;
}

/* Rows of norm 1 without negative features are those of a text column. */
static tacit_status describe(tacit_mixture *self, tacit_error *error) {
    tacit_schema_column *column;
    TACIT_TRY(tacit_schema_create(&self->schema, error));
    TACIT_TRY(tacit_schema_add_column(self->schema, &column, "text", TACIT_SCHEMA_TEXT, error));
    column->text.buckets = self->wide->features;
    self->schema->intercept = false;
    return TACIT_OK;
}

tacit_status tacit_mixture_make(tacit_mixture *self, const tacit_dataset *all, const tacit_mixture_sizes *how,
                                const double *mixture, uint64_t seed, tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    TACIT_TRY(deal(self, all, how, mixture, &stream, error));
    TACIT_TRY(copy_wide(self, all, error));
    TACIT_TRY(describe(self, error));
    return project(self, error);
}
