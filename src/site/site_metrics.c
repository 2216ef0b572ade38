/* A party's figures for Prometheus. Budgets are the owner's matter, and so is who may read this. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "net/certificate.h"
#include "privacy/ledger/ledger.h"
#include "site/site_parts.h"
#include "study/home.h"
#include "web/prometheus.h"

typedef struct gathering {
    const char *home, *path;
    tacit_buffer *out;
    tacit_buffer *spent, *limit, *charges;
    const char *source;
    size_t counts[TACIT_ENTRY_KINDS]; /* of entries, by kind */
} gathering;

static tacit_status count_entry(void *context, const tacit_entry *entry, tacit_error *error) {
    gathering *self = context;
    (void)error;
    self->counts[entry->kind]++;
    return TACIT_OK;
}

static tacit_status gather_source(void *context, const char *source, tacit_error *error) {
    static const char *const units[TACIT_UNITS] = {
        [TACIT_UNIT_RECORD] = "record", [TACIT_UNIT_PARTY] = "party"
    };
    gathering *self = context;
    tacit_ledger *ledger = NULL;
    char shown[TACIT_SOURCE_SHOWN_SIZE];
    tacit_status status;
    memset(self->counts, 0, sizeof self->counts);
    TACIT_CHECK(tacit_ledger_open(&ledger, self->path, source, TACIT_LEDGER_READING, error));
    source = tacit_source_shown(shown, source);
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        tacit_account account;
        TACIT_CHECK(tacit_ledger_account(&account, ledger, NULL, (tacit_unit)unit, error));
        TACIT_CHECK(tacit_metrics_sample(self->spent, "tacit_ledger_spent_epsilon", "source", source, "unit",
                                         units[unit], account.spent_epsilon, error));
        if (account.limited)
            TACIT_CHECK(tacit_metrics_sample(self->limit, "tacit_ledger_limit_epsilon", "source", source,
                                             "unit", units[unit], account.limit_epsilon, error));
    }
    TACIT_CHECK(tacit_ledger_list(ledger, 0, count_entry, self, error));
    for (int kind = TACIT_ENTRY_CHARGE; kind < TACIT_ENTRY_KINDS; kind++)
        TACIT_CHECK(tacit_metrics_sample(self->charges, "tacit_ledger_entries_total", "source", source,
                                         "entry", tacit_entry_kind_name((tacit_entry_kind)kind),
                                         (double)self->counts[kind], error));
cleanup:
    tacit_ledger_free(ledger);
    return status;
}

static tacit_status gather_ledger(gathering *self, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer spent = TACIT_BUFFER_INIT, limit = TACIT_BUFFER_INIT, charges = TACIT_BUFFER_INIT;
    tacit_ledger *ledger = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_path_join(path, sizeof path, self->home, TACIT_LEDGER_NAME, error));
    if (access(path, F_OK) != 0) goto cleanup;
    self->path = path;
    self->spent = &spent;
    self->limit = &limit;
    self->charges = &charges;
    TACIT_CHECK(tacit_ledger_open(&ledger, path, "-", TACIT_LEDGER_READING, error));
    TACIT_CHECK(tacit_ledger_sources(ledger, gather_source, self, error));
    TACIT_CHECK(tacit_metrics_begin(self->out, "tacit_ledger_spent_epsilon", "gauge",
                                    "What is spent of a data source's budget, composed.", error));
    TACIT_CHECK(tacit_buffer_append(self->out, spent.bytes, spent.length, error));
    TACIT_CHECK(tacit_metrics_begin(self->out, "tacit_ledger_limit_epsilon", "gauge",
                                    "The owner's limit of a data source's budget.", error));
    TACIT_CHECK(tacit_buffer_append(self->out, limit.bytes, limit.length, error));
    TACIT_CHECK(tacit_metrics_begin(self->out, "tacit_ledger_entries_total", "counter",
                                    "Entries of the ledger, by kind.", error));
    TACIT_CHECK(tacit_buffer_append(self->out, charges.bytes, charges.length, error));
cleanup:
    tacit_ledger_free(ledger);
    tacit_buffer_clear(&spent);
    tacit_buffer_clear(&limit);
    tacit_buffer_clear(&charges);
    return status;
}

static tacit_status gather_study(void *context, const tacit_site_summary *joined, tacit_error *error) {
    gathering *self = context;
    tacit_site *site = NULL;
    tacit_buffer pem = TACIT_BUFFER_LIMITED(TACIT_CERTIFICATE_BYTES_MAX);
    tacit_certificate_info info;
    tacit_status status;
    TACIT_CHECK(site_open_folder(&site, self->home, joined->id, error));
    TACIT_CHECK(site_read_file(site, SITE_CERTIFICATE_FILE, &pem, error));
    TACIT_CHECK(tacit_certificate_inspect(&info, pem.bytes, pem.length, error));
    TACIT_CHECK(tacit_metrics_sample(self->out, "tacit_certificate_end_seconds", "study", joined->id, NULL,
                                     NULL, (double)info.valid_until, error));
cleanup:
    tacit_buffer_clear(&pem);
    tacit_site_free(site);
    return status;
}

tacit_status tacit_metrics_home(void *home, tacit_buffer *out, tacit_error *error) {
    gathering self = { .home = home, .out = out };
    TACIT_TRY(gather_ledger(&self, error));
    TACIT_TRY(tacit_metrics_begin(out, "tacit_certificate_end_seconds", "gauge",
                                  "When this party's certificate of a study ends, seconds since 1970.",
                                  error));
    return tacit_site_list(home, gather_study, &self, error);
}
