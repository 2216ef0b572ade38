/* Linking files: rows of several sources together, person by person. */
#include <string.h>

#include "data/source/linking.h"
#include "data/source/source_parts.h"
#include "scratch.h"
#include "survive.h"

static const char *written(scratch *place, const char *name, const char *text) {
    return scratch_write(place, name, text, strlen(text));
}

/* The rows as CSV, or what was wrong. */
static tacit_status read_linked(const char *path, tacit_buffer *out, tacit_error *error) {
    tacit_source *source = NULL;
    tacit_row_block block = { .ended = false };
    char digits[TACIT_NUMBER_TEXT];
    tacit_status status;
    TACIT_CHECK(tacit_source_open(&source, path, NULL, error));
    size_t width = source->columns.count;
    for (size_t j = 0; j < width; j++)
        TACIT_CHECK(
            tacit_buffer_print(out, error, "%s%s", source->columns.text[j], j + 1 < width ? "," : "\n"));
    while (!block.ended) {
        TACIT_CHECK(tacit_source_next(source, 3, &block, error));
        for (size_t i = 0; i < block.rows * width; i++) {
            tacit_cell cell = tacit_cell_as_text(&block.cells[i], digits);
            TACIT_CHECK(tacit_buffer_print(out, error, "%s%s", cell.text, (i + 1) % width != 0 ? "," : "\n"));
        }
    }
cleanup:
    tacit_source_free(source);
    return status;
}

static void expect_linked(scratch *place, const char *yaml, const char *rows) {
    tacit_buffer got = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_linked(written(place, "t.link.yaml", yaml), &got, &error), error);
    assert_string_equal(tacit_buffer_text(&got), rows);
    tacit_buffer_clear(&got);
}

static void expect_refused(scratch *place, const char *yaml, const char *says) {
    tacit_buffer got = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = read_linked(written(place, "t.link.yaml", yaml), &got, &error);
    if (status == TACIT_OK || strstr(error.text, says) == NULL)
        fail_msg("expected '%s', not: %s\nof\n%s", says, status == TACIT_OK ? "success" : error.text, yaml);
    tacit_buffer_clear(&got);
}

static void write_clinic(scratch *place) {
    written(place, "people.csv", "id,sex,days,died\nb,f,100,1\na,m,50,0\nc,f,70,1\n");
    written(place, "visits.csv",
            "day,id,bili,note\n30,a,2,x\n0,b,1,y\n10,a,1.5,NA\n40,b,,z\n80,b,3,\n90,z,9,q\n120,b,9,w\n");
}

static void columns_of_a_person_come_to_each_of_their_rows(void **state) {
    write_clinic(*state);
    expect_linked(
        *state,
        "key: id\nsources:\n  - {rows: visits.csv, time: day}\n  - {rows: people.csv, columns: [sex]}\n",
        "day,id,bili,note,sex\n10,a,1.5,NA,m\n30,a,2,x,m\n0,b,1,y,f\n40,b,,z,f\n80,b,3,,f\n"
        "120,b,9,w,f\n90,z,9,q,\n");
}

static void follow_up_is_cut_where_a_value_changes(void **state) {
    write_clinic(*state);
    expect_linked(
        *state,
        "key: id\nsources:\n  - {rows: people.csv}\n  - {rows: visits.csv, time: day, columns: [bili]}\n"
        "intervals: {until: days, event: died}\n",
        "id,sex,died,start,stop,bili\nb,f,0,0,80,1\nb,f,1,80,100,3\na,m,0,0,10,\na,m,0,10,30,1.5\n"
        "a,m,0,30,50,2\nc,f,1,0,70,\n");
}

static void a_value_is_carried_no_longer_than_declared(void **state) {
    scratch *place = *state;
    write_clinic(place);
    expect_linked(place,
                  "key: id\nsources:\n  - {rows: people.csv, columns: [days]}\n"
                  "  - {rows: visits.csv, time: day, columns: [bili], carry: 25}\n"
                  "intervals: {until: days, event: died, start: since, stop: till}\n",
                  "id,died,since,till,bili\nb,0,0,25,1\nb,0,25,80,\nb,1,80,100,3\na,0,0,10,\na,0,10,30,1.5\n"
                  "a,0,30,50,2\nc,1,0,70,\n");
    written(place, "scans.csv", "who,at,size\na,5,7\nb,0,8\nb,41,9\n");
    expect_linked(place,
                  "sources:\n  - {rows: visits.csv, key: id, time: day, columns: [bili]}\n"
                  "  - {rows: scans.csv, key: who, time: at, carry: 25}\n",
                  "day,id,bili,size\n10,a,1.5,7\n30,a,2,7\n0,b,1,8\n40,b,,\n80,b,3,\n120,b,9,\n90,z,9,\n");
    expect_linked(place,
                  "sources:\n  - {rows: visits.csv, key: id, time: day, columns: [bili]}\n"
                  "  - {rows: scans.csv, key: who, time: at, carry: 0, rename: {size: width}}\n",
                  "day,id,bili,width\n10,a,1.5,\n30,a,2,\n0,b,1,8\n40,b,,\n80,b,3,\n120,b,9,\n90,z,9,\n");
}

static void an_event_on_the_way_is_1_from_then_on(void **state) {
    scratch *place = *state;
    write_clinic(place);
    written(place, "transplants.csv", "id,day\nb,60\na,\nc,70\n");
    expect_linked(place,
                  "key: id\nsources:\n  - {rows: people.csv, columns: [days]}\n"
                  "  - {rows: transplants.csv, time: day, since: transplanted}\n"
                  "intervals: {until: days, event: died}\n",
                  "id,died,start,stop,transplanted\nb,0,0,60,0\nb,1,60,100,1\na,0,0,50,0\nc,1,0,70,0\n");
    expect_linked(
        place,
        "key: id\nsources:\n  - {rows: people.csv, columns: [days]}\n"
        "  - {rows: transplants.csv, time: day, since: recent, carry: 15}\n"
        "intervals: {until: days, event: died}\n",
        "id,died,start,stop,recent\nb,0,0,60,0\nb,0,60,75,1\nb,1,75,100,0\na,0,0,50,0\nc,1,0,70,0\n");
}

static void declared_times_cut_too_and_number_the_episodes(void **state) {
    scratch *place = *state;
    written(place, "people.csv", "id,in,out,died\na,10,50,1\nb,40,60,0\n");
    expect_linked(place,
                  "key: id\nsources:\n  - {rows: people.csv}\n"
                  "intervals: {from: in, until: out, event: died, cut: [20, 50], episode: part}\n",
                  "id,died,start,stop,part\na,0,10,20,1\na,1,20,50,2\nb,0,40,50,2\nb,0,50,60,3\n");
}

static void on_a_grid_changes_wait_for_the_end_of_their_cell(void **state) {
    scratch *place = *state;
    written(place, "people.csv", "id,in,out,died\na,0,100,1\nb,35,65,0\nc,0,20,1\n");
    written(place, "visits.csv", "id,day,x\na,0,1\na,30,2\na,40,3\na,50,4\na,95,5\nb,0,6\nb,50,7\nc,10,8\n");
    const char *yaml = "key: id\nsources:\n  - {rows: people.csv}\n  - {rows: visits.csv, time: day}\n"
                       "intervals: {from: in, until: out, event: died, grid: 30}\n";
    expect_linked(place, yaml,
                  "id,died,start,stop,x\na,0,0,30,1\na,0,30,60,2\na,1,60,100,4\nb,0,60,65,7\nc,1,0,20,\n");
    written(place, "people.csv", "id,in,out,died\na,0,100,1\nb,35,60,0\n");
    expect_refused(
        place, yaml,
        "people.csv:3:3 (out): the follow-up ends before it has begun, or at once, or in the same cell");
}

static void dates_are_counted_from_an_origin(void **state) {
    scratch *place = *state;
    written(place, "people.csv", "id,ill,seen,died\na,2024-02-20,2024-03-10,1\nb,2023-12-31,2024-01-31,0\n");
    written(place, "visits.csv", "id,on,bili\na,2024-03-01,5\nb,2023-12-30,6\n");
    const char *sources = "key: id\nsources:\n  - {rows: people.csv}\n  - {rows: visits.csv, time: on}\n";
    char yaml[400];
    snprintf(yaml, sizeof yaml, "%sintervals: {origin: ill, until: seen, event: died, cut: [14]}\n", sources);
    expect_linked(place, yaml,
                  "id,ill,died,start,stop,bili\na,2024-02-20,0,0,10,\na,2024-02-20,0,10,14,5\n"
                  "a,2024-02-20,1,14,19,5\nb,2023-12-31,0,0,14,6\nb,2023-12-31,0,14,31,6\n");
    snprintf(yaml, sizeof yaml, "%sintervals: {until: seen, event: died}\n", sources);
    expect_refused(place, yaml, "people.csv:2:3 (seen): times are dates: name in intervals the column");
}

static void a_wide_row_becomes_one_for_each_time(void **state) {
    scratch *place = *state;
    written(place, "wide.csv", "id,y8,w8,sex,y10,w10\na,1,2,m,3,4\nb,5,6,f,,8\n");
    const char *wide = "long: {times: [8, 10], distance: [y8, y10], weight: [w8, w10]}";
    char yaml[500];
    snprintf(yaml, sizeof yaml, "key: id\nsources:\n  - {rows: wide.csv, time: age, %s}\n", wide);
    expect_linked(place, yaml, "id,sex,age,distance,weight\na,m,8,1,2\na,m,10,3,4\nb,f,8,5,6\nb,f,10,,8\n");
    written(place, "people.csv", "id,out,died\nb,20,1\n");
    snprintf(
        yaml, sizeof yaml,
        "key: id\nsources:\n  - {rows: people.csv}\n  - {rows: wide.csv, time: age, columns: [sex], %s}\n"
        "intervals: {until: out, event: died}\n",
        wide);
    expect_linked(place, yaml,
                  "id,died,start,stop,sex,distance,weight\nb,0,0,8,,,\nb,0,8,10,f,5,6\nb,1,10,20,f,5,8\n");
}

/* What is promised per person rests on it: nobody's rows depend on another person. */
static void without_a_person_the_rows_of_all_others_stay(void **state) {
    scratch *place = *state;
    const char *yaml = "key: id\nsources:\n  - {rows: people.csv}\n  - {rows: visits.csv, time: day}\n"
                       "intervals: {until: days, event: died}\n";
    write_clinic(place);
    expect_linked(place, yaml,
                  "id,sex,died,start,stop,bili,note\nb,f,0,0,40,1,y\nb,f,0,40,80,1,z\nb,f,1,80,100,3,z\n"
                  "a,m,0,0,10,,\na,m,0,10,30,1.5,\na,m,0,30,50,2,x\nc,f,1,0,70,,\n");
    written(place, "people.csv", "id,sex,days,died\na,m,50,0\nc,f,70,1\n");
    written(place, "visits.csv", "day,id,bili,note\n30,a,2,x\n10,a,1.5,NA\n90,z,9,q\n");
    expect_linked(
        place, yaml,
        "id,sex,died,start,stop,bili,note\na,m,0,0,10,,\na,m,0,10,30,1.5,\na,m,0,30,50,2,x\nc,f,1,0,70,,\n");
}

static void errors_in_rows_name_place_and_remedy(void **state) {
    scratch *place = *state;
    const char *both =
        "key: id\nsources:\n  - {rows: people.csv}\n  - {rows: visits.csv, time: day, columns: [bili]}\n"
        "intervals: {until: days, event: died}\n";
    write_clinic(place);
    written(place, "visits.csv", "day,id,bili\n10,a,1\n20,b,2\n10,a,3\n");
    expect_refused(place, both, "visits.csv:4:1 (day): this person has a row of the same time already (");
    written(place, "visits.csv", "day,id,bili\nlater,a,1\n");
    expect_refused(place, both, "visits.csv:2:1 (day): this is no time: write a number, or a date");
    written(place, "visits.csv", "day,id,bili\n1,a,1\n,b,1\n");
    expect_refused(place, both, "visits.csv:3:1 (day): the time is missing. Give it, or leave the row out");
    written(place, "visits.csv", "day,id,bili\n1,,1\n");
    expect_refused(place, both, "visits.csv:2:2 (id): a row has no key");
    written(place, "visits.csv", "day,id,bili\n1,A,1\n");
    expect_refused(place, both, "visits.csv: no row is about a person of the first source. Is 'id' its key");
    written(place, "visits.csv", "day,id,bili\n2024-01-01,a,1\n");
    expect_refused(place, both, "some times are dates and some are numbers");
    written(place, "visits.csv", "day,id,bili\n1,a,1\n");
    written(place, "people.csv", "id,sex,days,died\na,m,50,0\na,m,70,1\n");
    expect_refused(place, both, "people.csv:3:3 (days): two rows of this person overlap");
    written(place, "people.csv", "id,sex,days,died\na,m,0,0\n");
    expect_refused(place, both, "people.csv:2:3 (days): the follow-up ends before it has begun, or at once");
    written(place, "people.csv", "id,sex,days,died\na,m,7,\n");
    expect_refused(place, both, "people.csv:2:4 (died): the event is missing");
    expect_refused(place, "key: id\nsources:\n  - {rows: visits.csv, time: day}\n  - {rows: none.csv}\n",
                   "none.csv");
    written(place, "people.csv", "id,sex\na,m\na,f\n");
    expect_refused(place, "key: id\nsources:\n  - {rows: visits.csv, time: day}\n  - {rows: people.csv}\n",
                   "people.csv:3:1 (id): this person has a row already (");
}

static void a_linking_file_that_cannot_be_is_refused_with_its_line(void **state) {
    scratch *place = *state;
    static const struct {
        const char *yaml, *says;
    } cases[] = {
        { "", "is empty" },
        { "key: id\n", "a linking file needs sources" },
        { "key: id\nsources: []\n", "t.link.yaml:2: sources must be a list" },
        { "key: id\nsources:\n  - {row: people.csv}\n", "t.link.yaml:3: unknown key 'row' in a source" },
        { "key: id\nsources:\n  - {time: day}\n", "a source needs rows" },
        { "sources:\n  - {rows: people.csv}\n",
          "which column says whom a row is about? Name it, key: COLUMN" },
        { "key: who\nsources:\n  - {rows: people.csv}\n", "no column 'who' (key)" },
        { "key: id\nsources:\n  - {rows: visits.csv, time: dya}\n", "did you mean 'day'?" },
        { "key: id\nsources:\n  - {rows: people.csv, columns: [size]}\n", "no column 'size' (columns)" },
        { "key: id\nsources:\n  - {rows: people.csv, rename: {size: x}}\n", "no column 'size' (rename)" },
        { "key: id\nsources:\n  - {rows: t.link.yaml}\n", "is a linking file" },
        { "key: id\nsources:\n  - {rows: people.csv}\n  - {rows: visits.csv, time: day}\n",
          "t.link.yaml:4: values with times need rows with times" },
        { "key: id\nsources:\n  - {rows: people.csv, carry: 3}\n", "are for a source with a time" },
        { "key: id\nsources:\n  - {rows: visits.csv, time: day, carry: -1}\n", "carry must be at least 0" },
        { "key: id\nsources:\n  - {rows: visits.csv, time: day, since: x}\n",
          "the first source has the rows" },
        { "key: id\nsources:\n  - {rows: visits.csv, time: day}\nintervals: {until: day, event: bili}\n",
          "with intervals the first source has no time" },
        { "key: id\nsources:\n  - {rows: people.csv}\nintervals: {until: days}\n",
          "intervals need two columns" },
        { "key: id\nsources:\n  - {rows: people.csv}\nintervals: {until: years, event: died}\n",
          "no column 'years' (until)" },
        { "key: id\nsources:\n  - {rows: people.csv}\nintervals: {until: days, event: died, cut: [2, 1]}\n",
          "cut must ascend: 1 comes after 2" },
        { "key: id\nsources:\n  - {rows: people.csv}\nintervals: {until: days, event: died, grid: 0}\n",
          "grid must be above 0" },
        { "key: id\nsources:\n  - {rows: people.csv}\nintervals: {until: days, event: died, episode: e}\n",
          "an episode needs times to cut at" },
        { "key: id\nsources:\n  - {rows: people.csv}\n  - {rows: visits.csv, time: day, carry: 0}\n"
          "intervals: {until: days, event: died}\n",
          "with intervals carry must be above 0" },
        { "key: id\nsources:\n  - {rows: people.csv, time: t, long: {times: [2, 1], x: [sex, days]}}\n",
          "times must ascend" },
        { "key: id\nsources:\n  - {rows: people.csv, time: t, long: {times: [1, 2], x: [sex]}}\n",
          "'x' has 1 columns for 2 times" },
        { "key: id\nsources:\n  - {rows: people.csv, long: {times: [1], x: [sex]}}\n", "long needs times" },
        { "key: id\nsources:\n  - {rows: people.csv}\n  - {rows: people.csv}\n", "'sex' is a column of" },
    };
    write_clinic(place);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(place, cases[i].yaml, cases[i].says);
}

static scratch *memory_place;

static tacit_status reading_all_that_there_is(tacit_error *error) {
    tacit_buffer got = TACIT_BUFFER_INIT;
    char path[512];
    snprintf(path, sizeof path, "%s/t.link.yaml", memory_place->folder);
    tacit_status status = read_linked(path, &got, error);
    tacit_buffer_clear(&got);
    return status;
}

static void any_failed_allocation_is_survived(void **state) {
    memory_place = *state;
    write_clinic(memory_place);
    written(memory_place, "wide.csv", "id,y8,y10\na,1,3\nb,5,\n");
    written(memory_place, "t.link.yaml",
            "key: id\nsources:\n  - {rows: people.csv, rename: {sex: gender}}\n"
            "  - {rows: visits.csv, time: day, columns: [bili], carry: 20, since: seen}\n"
            "  - {rows: wide.csv, time: age, long: {times: [8, 10], distance: [y8, y10]}}\n"
            "intervals: {until: days, event: died, cut: [15, 35], episode: part}\n");
    survive(reading_all_that_there_is);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_a_person_come_to_each_of_their_rows),
        cmocka_unit_test(follow_up_is_cut_where_a_value_changes),
        cmocka_unit_test(a_value_is_carried_no_longer_than_declared),
        cmocka_unit_test(an_event_on_the_way_is_1_from_then_on),
        cmocka_unit_test(declared_times_cut_too_and_number_the_episodes),
        cmocka_unit_test(on_a_grid_changes_wait_for_the_end_of_their_cell),
        cmocka_unit_test(dates_are_counted_from_an_origin),
        cmocka_unit_test(a_wide_row_becomes_one_for_each_time),
        cmocka_unit_test(without_a_person_the_rows_of_all_others_stay),
        cmocka_unit_test(errors_in_rows_name_place_and_remedy),
        cmocka_unit_test(a_linking_file_that_cannot_be_is_refused_with_its_line),
        cmocka_unit_test(any_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
