/* Texts: words, pairs, vocabularies, the encoding, folders and archives of documents. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "data/dataset.h"
#include "data/schema/vocabulary.h"
#include "data/source/documents.h"

#define assert_ok(call) assert_int_equal((call), TACIT_OK)

typedef struct heard {
    char text[4096];
    size_t length;
} heard;

static tacit_status hear(void *context, const char *term, size_t length, tacit_error *error) {
    (void)error;
    heard *to = context;
    to->length +=
        (size_t)snprintf(to->text + to->length, sizeof to->text - to->length, "%.*s|", (int)length, term);
    return TACIT_OK;
}

static const char *terms_of(heard *to, const char *text, unsigned grams, tacit_strip strip) {
    to->length = 0;
    to->text[0] = 0;
    assert_ok(tacit_text_terms(text, strlen(text), grams, strip, hear, to, NULL));
    return to->text;
}

static void words_are_runs_of_letters_in_lower_case(void **state) {
    (void)state;
    heard to;
    assert_string_equal(terms_of(&to, "The CAT, a cat_2; 3.14", 1, TACIT_STRIP_NOTHING), "the|cat|cat_2|14|");
    assert_string_equal(terms_of(&to, "caf\xC3\xA9 \xE2\x80\x9Cquote\xE2\x80\x9D", 1, TACIT_STRIP_NOTHING),
                        "caf\xC3\xA9|quote|");
    assert_string_equal(terms_of(&to, "bro\xFFken \xC3", 1, TACIT_STRIP_NOTHING), "bro|ken|");
    assert_string_equal(terms_of(&to, "", 2, TACIT_STRIP_NOTHING), "");
}

static void words_of_more_than_40_bytes_are_none(void **state) {
    (void)state;
    heard to;
    char text[128];
    snprintf(text, sizeof text, "%040d x1 %041d", 0, 0);
    terms_of(&to, text, 1, TACIT_STRIP_NOTHING);
    assert_int_equal(to.length, 40 + 1 + 2 + 1);
}

static void pairs_follow_their_second_word(void **state) {
    (void)state;
    heard to;
    assert_string_equal(terms_of(&to, "one two three", 2, TACIT_STRIP_NOTHING),
                        "one|two|one two|three|two three|");
}

static void an_article_loses_header_quotes_and_signature(void **state) {
    (void)state;
    heard to;
    const char *article =
        "From: me@here\nSubject: cars\n\nIn article 5 you said\njoe writes:\n> old words\nnew "
        "words\n\nmore here\n\n--\nJoe Bloggs\n";
    assert_string_equal(terms_of(&to, article, 1, TACIT_STRIP_NEWS), "new|words|more|here|");
    assert_string_equal(terms_of(&to, "A: b\n\nonly text", 1, TACIT_STRIP_NEWS), "only|text|");
    assert_string_equal(terms_of(&to, "A: b\n\nsome text\n\nmore\n-----\n", 1, TACIT_STRIP_NEWS),
                        "some|text|more|"); /* a line of dashes at the very end has no signature after it */
    assert_string_equal(terms_of(&to, "no header at all", 1, TACIT_STRIP_NEWS), "");
}

static void an_article_without_its_frame_keeps_its_quotes(void **state) {
    (void)state;
    heard to;
    const char *article = "From: me@here\n\njoe writes:\n> old words\nnew words\n\n--\nJoe Bloggs\n";
    assert_string_equal(terms_of(&to, article, 1, TACIT_STRIP_FRAME), "joe|writes|old|words|new|words|");
}

static void every_way_to_strip_has_a_name(void **state) {
    (void)state;
    tacit_strip found;
    for (int k = TACIT_STRIP_NOTHING; k <= TACIT_STRIP_NEWS; k++) {
        assert_true(tacit_strip_named(&found, tacit_strip_name((tacit_strip)k)));
        assert_int_equal(found, k);
    }
    assert_false(tacit_strip_named(&found, "quotes"));
}

static void limits_choose_terms_by_document_frequency(void **state) {
    (void)state;
    static const char *const documents[] = { "aa bb cc", "aa bb bb", "aa dd", "aa ee" };
    tacit_terms *terms = NULL;
    tacit_vocabulary chosen = TACIT_VOCABULARY_INIT;
    assert_ok(tacit_terms_create(&terms, 1, TACIT_STRIP_NOTHING, NULL));
    for (size_t i = 0; i < 4; i++)
        assert_ok(tacit_terms_add(terms, documents[i], strlen(documents[i]), NULL));
    assert_ok(tacit_terms_choose(terms, &(tacit_term_limits){ 0.25, 0.75, 2 }, &chosen, NULL));
    assert_int_equal(chosen.terms.count, 2); /* bb in two documents; of three in one the first by strcmp */
    assert_string_equal(chosen.terms.text[0], "bb");
    assert_string_equal(chosen.terms.text[1], "cc");
    assert_true(fabs(chosen.idf[0] - (log(5.0 / 3) + 1)) <= 1e-15);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_vocabulary none = TACIT_VOCABULARY_INIT;
    assert_int_equal(tacit_terms_choose(terms, &(tacit_term_limits){ 0.6, 0.9, 0 }, &none, &error),
                     TACIT_INPUT);
    tacit_vocabulary_clear(&chosen);
    tacit_terms_free(terms);
}

static void a_document_has_norm_one_and_no_negative_feature(void **state) {
    (void)state;
    tacit_vocabulary hashed = { 2, TACIT_STRIP_NOTHING, 1000, TACIT_LEVELS_INIT, NULL };
    tacit_bag bag = TACIT_BAG_INIT;
    const char *text = "to be or not to be that is the question";
    assert_ok(tacit_vocabulary_encode(&hashed, text, strlen(text), &bag, NULL));
    double square = 0;
    for (size_t k = 0; k < bag.count; k++) {
        assert_true(bag.value[k] > 0 && bag.feature[k] < 1000 &&
                    (k == 0 || bag.feature[k] > bag.feature[k - 1]));
        square += bag.value[k] * bag.value[k];
    }
    assert_true(fabs(square - (1)) <= 1e-12);
    tacit_bag_clear(&bag);
}

static const char schema_text[] =
    "label: {name: kind, classes: [ham, spam]}\n"
    "columns:\n"
    "  - {name: body, kind: text, terms: [cheap, meet, \"meet me\"], idf: [2, 1, 1], grams: 2}\n"
    "intercept: no\n";

static tacit_status load_rows(tacit_dataset **out, const tacit_schema *schema, const char *rows,
                              tacit_storage storage) {
    tacit_input *input = NULL;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.storage = storage;
    TACIT_TRY(tacit_input_open_memory(&input, rows, strlen(rows), "rows.csv", NULL));
    tacit_status status = tacit_dataset_read(out, NULL, input, schema, &options, NULL);
    tacit_input_free(input);
    return status;
}

static void a_schema_reads_a_text_column(void **state) {
    (void)state;
    tacit_schema *schema = NULL;
    const char *rows = "body,kind\n\"Meet me, Joe\",ham\ncheap CHEAP,spam\n,ham\n";
    assert_ok(tacit_schema_parse(&schema, schema_text, strlen(schema_text), "s", NULL));
    assert_true(tacit_schema_nonnegative(schema));
    for (int dense = 0; dense < 2; dense++) {
        tacit_dataset *data = NULL;
        double row[3];
        assert_ok(load_rows(&data, schema, rows, dense ? TACIT_STORAGE_DENSE : TACIT_STORAGE_SPARSE));
        tacit_rows all = tacit_dataset_rows(data);
        assert_int_equal(data->features, 3);
        assert_string_equal(data->feature_names[2], "body=meet me");
        tacit_rows_copy(&all, 0, row);
        assert_true(fabs(row[1] - (M_SQRT1_2)) <= 1e-12);
        assert_true(fabs(row[2] - (M_SQRT1_2)) <= 1e-12);
        tacit_rows_copy(&all, 1, row);
        assert_true(fabs(row[0] - (1)) <= 1e-12);
        assert_true(tacit_rows_norm(&all, 2) == 0 && data->counts.missing == 1);
        tacit_dataset_free(data);
    }
    tacit_schema_free(schema);
}

static void a_schema_with_a_text_prints_and_reads_back_the_same(void **state) {
    (void)state;
    tacit_schema *schema = NULL, *again = NULL;
    tacit_buffer one = TACIT_BUFFER_INIT, two = TACIT_BUFFER_INIT;
    assert_ok(tacit_schema_parse(&schema, schema_text, strlen(schema_text), "s", NULL));
    assert_ok(tacit_schema_canonical(schema, &one, NULL));
    assert_ok(tacit_schema_parse(&again, tacit_buffer_text(&one), one.length, "s", NULL));
    assert_ok(tacit_schema_canonical(again, &two, NULL));
    assert_string_equal(tacit_buffer_text(&one), tacit_buffer_text(&two));
    tacit_buffer_clear(&one);
    tacit_buffer_clear(&two);
    tacit_schema_free(schema);
    tacit_schema_free(again);
}

static void a_text_without_a_vocabulary_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "{name: b, kind: text}",
        "{name: b, kind: text, hash: 10, terms: [a]}",
        "{name: b, kind: text, hash: 0}",
        "{name: b, kind: text, terms: []}",
        "{name: b, kind: text, terms: [aa], idf: [1, 2]}",
        "{name: b, kind: text, hash: 10, idf: [1]}",
        "{name: b, kind: text, hash: 10, grams: 3}",
        "{name: b, kind: text, hash: 10, strip: quotes}",
        "{name: b, kind: skip, hash: 10}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[256];
        tacit_schema *schema = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        int length =
            snprintf(text, sizeof text, "label: {name: y, classes: [a, b]}\ncolumns:\n  - %s\n", wrong[i]);
        assert_int_equal(tacit_schema_parse(&schema, text, (size_t)length, "s", &error), TACIT_INPUT);
        assert_true(error.text[0] != 0);
    }
}

/* A member of a tar archive. */
static void add_member(tacit_buffer *tar, const char *name, const char *text) {
    char block[512] = { 0 };
    size_t length = strlen(text);
    unsigned sum = 0;
    snprintf(block, 100, "%s", name);
    snprintf(block + 124, 24, "%011o", (unsigned)length);
    block[135] = 0;
    memset(block + 148, ' ', 8);
    block[156] = '0';
    memcpy(block + 257, "ustar", 6);
    for (size_t i = 0; i < sizeof block; i++) sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    assert_ok(tacit_buffer_append(tar, block, sizeof block, NULL));
    memset(block, 0, sizeof block);
    assert_true(length <= sizeof block);
    memcpy(block, text, length);
    if (length > 0) assert_ok(tacit_buffer_append(tar, block, sizeof block, NULL));
}

static void an_archive_gives_its_documents_with_their_folders(void **state) {
    (void)state;
    tacit_buffer tar = TACIT_BUFFER_INIT;
    tacit_documents *documents = NULL;
    tacit_document one;
    add_member(&tar, "news/sci.med/17", "fever\n");
    add_member(&tar, "news/rec.autos/4", "");
    assert_ok(tacit_documents_open_memory(&documents, tar.bytes, tar.length, "a.tar", NULL));
    assert_ok(tacit_documents_next(documents, &one, NULL));
    assert_string_equal(one.path, "news/sci.med/17");
    assert_string_equal(one.folder, "sci.med");
    assert_string_equal(one.text, "fever\n");
    assert_ok(tacit_documents_next(documents, &one, NULL));
    assert_string_equal(one.folder, "rec.autos");
    assert_int_equal(one.length, 0);
    assert_ok(tacit_documents_next(documents, &one, NULL));
    assert_null(one.path);
    tacit_documents_free(documents);
    documents = NULL;
    assert_ok(tacit_documents_open_memory(&documents, tar.bytes, 700, "a.tar", NULL)); /* cut in a member */
    assert_int_equal(tacit_documents_next(documents, &one, NULL), TACIT_INPUT);
    tacit_documents_free(documents);
    tacit_buffer_clear(&tar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_runs_of_letters_in_lower_case),
        cmocka_unit_test(words_of_more_than_40_bytes_are_none),
        cmocka_unit_test(pairs_follow_their_second_word),
        cmocka_unit_test(an_article_loses_header_quotes_and_signature),
        cmocka_unit_test(an_article_without_its_frame_keeps_its_quotes),
        cmocka_unit_test(every_way_to_strip_has_a_name),
        cmocka_unit_test(limits_choose_terms_by_document_frequency),
        cmocka_unit_test(a_document_has_norm_one_and_no_negative_feature),
        cmocka_unit_test(a_schema_reads_a_text_column),
        cmocka_unit_test(a_schema_with_a_text_prints_and_reads_back_the_same),
        cmocka_unit_test(a_text_without_a_vocabulary_is_refused),
        cmocka_unit_test(an_archive_gives_its_documents_with_their_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
