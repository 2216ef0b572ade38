/* A lying coordinator (lies.h): whatever it asks, in whatever order and round, it must not win. */
#include <stdio.h>
#include <stdlib.h>

#include "lies.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    size_t used;
    const char *how = NULL;
    const lies_settings settings = lies_read_settings(bytes, length, &used);
    lies *self = lies_open(&settings);
    if (self == NULL) return 0;
    lies_play(self, bytes + used, length - used, &how);
    if (how != NULL) {
        fprintf(stderr, "the coordinator has %s (%zu parties, puppets %#x%s)\n", how, settings.parties,
                (unsigned)settings.puppets, settings.shares ? ", shares of noise" : "");
        abort();
    }
    lies_close(self);
    return 0;
}
