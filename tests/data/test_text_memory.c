/* Every allocation fails once while texts become features: vocabularies, schemas with texts, archives and
 * folders of documents, and the public directions. */
#include "check.h"
#include "scratch.h"
#include "survive.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/dataset.h"
#include "data/projection.h"
#include "data/schema/vocabulary.h"
#include "data/source/documents.h"

static const char *const articles[] = { "A: b\n\nnew words\n> old words\n\n--\nme", "A: c\n\nmore words here",
                                        "A: d\n\nhere and there" };

static tacit_status count_terms(tacit_terms *terms, tacit_error *error) {
    for (size_t i = 0; i < 3; i++) TACIT_TRY(tacit_terms_add(terms, articles[i], strlen(articles[i]), error));
    return TACIT_OK;
}

/* From documents to two vocabularies, and a document seen with the larger one. */
static tacit_status vocabularies(tacit_error *error) {
    static const tacit_term_limits all = { 0, 1, 0 }, few = { 0.5, 1, 2 };
    tacit_terms *terms = NULL;
    tacit_vocabulary one = TACIT_VOCABULARY_INIT, two = TACIT_VOCABULARY_INIT, copy = TACIT_VOCABULARY_INIT;
    tacit_vocabulary hashed = { 2, TACIT_STRIP_FRAME, 50, TACIT_LEVELS_INIT, NULL };
    tacit_bag bag = TACIT_BAG_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_terms_create(&terms, 2, TACIT_STRIP_FRAME, error));
    TACIT_CHECK(count_terms(terms, error));
    TACIT_CHECK(tacit_terms_choose(terms, &few, &one, error));
    TACIT_CHECK(tacit_terms_choose(terms, &all, &two, error));
    TACIT_CHECK(tacit_terms_weigh(terms, &two, error));
    TACIT_CHECK(tacit_vocabulary_copy(&copy, &two, error));
    TACIT_CHECK(tacit_vocabulary_encode(&copy, articles[0], strlen(articles[0]), &bag, error));
    assert_true(bag.count > 4);
    TACIT_CHECK(tacit_vocabulary_encode(&hashed, articles[1], strlen(articles[1]), &bag, error));
cleanup:
    tacit_bag_clear(&bag);
    tacit_vocabulary_clear(&one);
    tacit_vocabulary_clear(&two);
    tacit_vocabulary_clear(&copy);
    tacit_terms_free(terms);
    return status;
}

static const char rows[] = "note,y\nfever and cough,a\ncough,b\n\"short of, breath\",a\nfever,b\n";

static tacit_status read_rows(const tacit_schema *schema, const tacit_load_options *options,
                              tacit_error *error) {
    tacit_input *input = NULL;
    tacit_dataset *dataset = NULL;
    TACIT_TRY(tacit_input_open_memory(&input, rows, sizeof rows - 1, "t", error));
    tacit_status status = tacit_dataset_read(&dataset, NULL, input, schema, options, error);
    assert_true((dataset != NULL) == (status == TACIT_OK));
    tacit_dataset_free(dataset);
    tacit_input_free(input);
    return status;
}

static tacit_status schema_of_texts(tacit_error *error) {
    static const char *const columns[] = { "{name: note, kind: text, hash: 64, grams: 2, strip: nothing}",
                                           "{name: note, kind: text, terms: [cough, fever], idf: [1, 2]}" };
    for (size_t k = 0; k < 2; k++) {
        char text[256];
        tacit_schema *schema = NULL;
        tacit_load_options options = TACIT_LOAD_DEFAULTS;
        tacit_buffer printed = TACIT_BUFFER_INIT;
        options.storage = k == 0 ? TACIT_STORAGE_SPARSE : TACIT_STORAGE_DENSE;
        int length =
            snprintf(text, sizeof text, "label: {name: y, classes: [a, b]}\ncolumns: [%s]\n", columns[k]);
        TACIT_TRY(tacit_schema_parse(&schema, text, (size_t)length, "s.yaml", error));
        tacit_status status = tacit_schema_canonical(schema, &printed, error);
        if (status == TACIT_OK) status = read_rows(schema, &options, error);
        tacit_buffer_clear(&printed);
        tacit_schema_free(schema);
        TACIT_TRY(status);
    }
    return TACIT_OK;
}

static char rows_path[512];

/* A vocabulary read off the rows, which are read twice. */
static tacit_status drafted_texts(tacit_error *error) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_dataset *dataset = NULL;
    tacit_schema *drafted = NULL;
    options.text = "note";
    options.text_draft = (tacit_text_draft){ 2, TACIT_STRIP_NOTHING, 0, { 0, 1, 0 } };
    tacit_status status = tacit_dataset_load(&dataset, &drafted, rows_path, NULL, &options, error);
    assert_true((dataset != NULL && drafted != NULL) == (status == TACIT_OK));
    tacit_dataset_free(dataset);
    tacit_schema_free(drafted);
    return status;
}

/* A file of a tar archive: its header, then the text in a block. */
static void put_member(char *at, const char *name, const char *text) {
    unsigned sum = 0;
    snprintf(at, 100, "%s", name);
    snprintf(at + 124, 12, "%011o", (unsigned)strlen(text));
    memset(at + 148, ' ', 8);
    at[156] = '0';
    memcpy(at + 257, "ustar", 6);
    for (size_t i = 0; i < 512; i++) sum += (unsigned char)at[i];
    snprintf(at + 148, 8, "%06o", sum);
    memcpy(at + 512, text, strlen(text));
}

static tacit_status read_documents(tacit_documents *documents, size_t least, tacit_error *error) {
    tacit_document one;
    size_t count = 0;
    for (;; count++) {
        TACIT_TRY(tacit_documents_next(documents, &one, error));
        if (one.path == NULL) break;
    }
    assert_true(count >= least);
    return TACIT_OK;
}

static tacit_status archive(tacit_error *error) {
    static char tar[6 * 512];
    tacit_documents *documents = NULL;
    memset(tar, 0, sizeof tar);
    put_member(tar, "news/sci.med/17", articles[0]);
    put_member(tar + 1024, "news/sci.space/4", articles[1]);
    TACIT_TRY(tacit_documents_open_memory(&documents, tar, sizeof tar, "a.tar", error));
    tacit_status status = read_documents(documents, 2, error);
    tacit_documents_free(documents);
    return status;
}

static char folder_path[512];

static tacit_status folder(tacit_error *error) {
    tacit_documents *documents = NULL;
    TACIT_TRY(tacit_documents_open(&documents, folder_path, error));
    tacit_status status = read_documents(documents, 1, error);
    tacit_documents_free(documents);
    return status;
}

static tacit_status directions(tacit_error *error) {
    static double values[] = { 1, 0, 0, 0.6, 0.8, 0, 0, 0.6, 0.8 };
    tacit_matrix points = { .rows = 3, .cols = 3, .values = values };
    tacit_rows all = tacit_rows_of_matrix(&points);
    tacit_projection made = TACIT_PROJECTION_INIT;
    tacit_status status = tacit_projection_of(&made, &all, 2, error);
    assert_true((made.axes != NULL) == (status == TACIT_OK));
    tacit_projection_clear(&made);
    return status;
}

SURVIVES(vocabularies)
SURVIVES(schema_of_texts)
SURVIVES(archive)
SURVIVES(directions)

static void drafted_texts_survives_any_failed_allocation(void **state) {
    strcpy(rows_path, scratch_write(*state, "rows.csv", rows, sizeof rows - 1));
    survive(drafted_texts);
}

static void folder_survives_any_failed_allocation(void **state) {
    char *end;
    strcpy(folder_path, scratch_write(*state, "17", articles[0], strlen(articles[0])));
    end = strrchr(folder_path, '/');
    assert_non_null(end);
    *end = 0;
    survive(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vocabularies_survives_any_failed_allocation),
        cmocka_unit_test(schema_of_texts_survives_any_failed_allocation),
        cmocka_unit_test(drafted_texts_survives_any_failed_allocation),
        cmocka_unit_test(archive_survives_any_failed_allocation),
        cmocka_unit_test(folder_survives_any_failed_allocation),
        cmocka_unit_test(directions_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
