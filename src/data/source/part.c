#include "data/source/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/source/source_parts.h"

tacit_status tacit_deal_files(size_t *part_of, const uint64_t *size, size_t files, size_t parts,
                              tacit_error *error) {
    uint64_t *load = TACIT_NEW(uint64_t, parts);
    bool *dealt = TACIT_NEW(bool, files);
    tacit_status status = load != NULL && dealt != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t k = 0; status == TACIT_OK && k < files; k++) {
        size_t largest = SIZE_MAX, least = 0;
        for (size_t i = 0; i < files; i++)
            if (!dealt[i] && (largest == SIZE_MAX || size[i] > size[largest])) largest = i;
        for (size_t p = 1; p < parts; p++)
            if (load[p] < load[least]) least = p;
        dealt[largest] = true;
        part_of[largest] = least;
        load[least] += size[largest];
    }
    free(load);
    free(dealt);
    return status;
}

bool tacit_deal_fills(const size_t *part_of, const uint64_t *size, size_t files, size_t parts,
                      uint64_t least) {
    bool fills = true;
    for (size_t p = 0; p < parts; p++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < files; i++) sum += part_of[i] == p ? size[i] : 0;
        fills = fills && sum >= least;
    }
    return fills;
}

tacit_status tacit_source_open_part(tacit_source **out, bool *is_part, const char *name,
                                    const tacit_source_options *options, size_t own, size_t count,
                                    tacit_error *error) {
    tacit_source *source = NULL;
    bool done = false;
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_source_open(&source, name, options, error));
#ifdef TACIT_PARTY_ONLY /* which has no ranks, and no source in several files */
    (void)own, (void)count;
#else
    const bool plain = count > 1 && options->link == NULL && options->fill == NULL;
    if (plain && source->kind == &tacit_source_folder)
        status = folder_keep_part(source, own, count, &done, error);
    if (plain && source->kind == &tacit_source_duckdb)
        status = duckdb_keep_part(source, own, count, &done, error);
#endif
    if (status == TACIT_OK) {
        *out = source;
        *is_part = done;
    } else {
        tacit_source_free(source);
    }
    return status;
}
