/* A person's store with the rows of the CSV form, one a day. */
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "data/schema/date.h"
#include "person/personal.h"
#include "source_forms.h"

static char store_path[160], passphrase_path[160];
static const char passphrase[] = "three quiet rivers";

static tacit_vault *new_store(void) {
    const tacit_vault_cost cheap = { 1, 8192 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_vault *vault = NULL;
    char beside[192];
    assert_true(sodium_init() >= 0);
    int folder = (int)(strrchr(csv_path, '/') - csv_path);
    snprintf(store_path, sizeof store_path, "%.*s/personal.store", folder, csv_path);
    snprintf(passphrase_path, sizeof passphrase_path, "%.*s/passphrase", folder, csv_path);
    for (const char *const *end = (const char *const[]){ "", "-wal", "-shm", NULL }; *end != NULL; end++) {
        snprintf(beside, sizeof beside, "%s%s", store_path, *end);
        unlink(beside);
    }
    CHECK_OK(tacit_file_write(passphrase_path, passphrase, strlen(passphrase), 0600, &error), error);
    assert_int_equal(setenv(TACIT_PASSPHRASE_VARIABLE, passphrase_path, 1), 0);
    CHECK_OK(tacit_vault_create(store_path, passphrase, &cheap, &error), error);
    CHECK_OK(tacit_vault_open(&vault, store_path, passphrase, &error), error);
    return vault;
}

/* Every row of the CSV file at csv_path. */
static void fill(tacit_vault *vault) {
    tacit_collection_column columns[COLUMNS] = { { .name = "" } };
    tacit_collection wanted = { .kind = TACIT_COLLECTION_MEASURED,
                                .name = "t",
                                .count = COLUMNS,
                                .columns = columns },
                     held = { .id = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_source *rows = NULL;
    int32_t day = 0;
    for (size_t j = 0; j < COLUMNS; j++) strcpy(columns[j].name, reference_columns[j]);
    CHECK_OK(tacit_vault_begin(vault, &error), error);
    CHECK_OK(tacit_collection_prepare(&held, vault, &wanted, &error), error);
    CHECK_OK(tacit_source_open(&rows, csv_path, NULL, &error), error);
    for (tacit_row_block block = { .ended = false }; !block.ended;) {
        CHECK_OK(tacit_source_next(rows, 1000, &block, &error), error);
        for (size_t i = 0; i < block.rows; i++) {
            const char *cells[COLUMNS];
            int64_t id;
            for (size_t j = 0; j < COLUMNS; j++)
                cells[j] = block.cells[i * COLUMNS + j].length > 0 ? block.cells[i * COLUMNS + j].text : NULL;
            const tacit_collection_row row = { .day = day++, .time_ms = 1, .cells = cells };
            CHECK_OK(tacit_row_add(vault, &held, &row, &id, &error), error);
        }
    }
    CHECK_OK(tacit_vault_commit(vault, &error), error);
    tacit_source_free(rows);
    tacit_collection_clear(&held);
}

void make_personal(char name[512], size_t rows, bool with_long) {
    make(&forms[FORM_CSV], name, rows, with_long);
    tacit_vault *vault = new_store();
    fill(vault);
    tacit_vault_close(vault);
    snprintf(name, 512, "store:%s?t", store_path);
}

void expect_personal(tacit_buffer *out, size_t row, bool is_long) {
    char day[TACIT_DAY_TEXT];
    tacit_buffer_print(out, NULL, "%s|", tacit_day_text((int32_t)row, day));
    forms[FORM_CSV].expect(out, row, is_long);
}

void spoil_personal(char name[512]) {
    forms[FORM_CSV].spoil(name);
    tacit_vault *vault = new_store();
    fill(vault);
    tacit_vault_close(vault);
    snprintf(name, 512, "store:%s?t", store_path);
}

void change_personal(size_t rows) {
    tacit_vault *vault = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    (void)rows;
    CHECK_OK(tacit_vault_open(&vault, store_path, passphrase, &error), error);
    tacit_collection held = { .id = 0 };
    CHECK_OK(tacit_collection_find(&held, vault, "t", &error), error);
    CHECK_OK(tacit_vault_remove(vault, held.id, &error), error);
    tacit_collection_clear(&held);
    tacit_vault_close(vault);
}

void vanish_personal(void) { assert_int_equal(unlink(store_path), 0); }
