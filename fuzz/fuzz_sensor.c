/* A mapping of a device's export and, after a NUL byte, a time by it; and the same bytes as a time by themselves. */
#include <stdlib.h>
#include <string.h>

#include "person/sensor/sensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const uint8_t *end = length > 0 ? memchr(bytes, 0, length) : NULL;
    size_t text = end != NULL ? (size_t)(end - bytes) : length;
    tacit_sensor sensor;
    tacit_error error = TACIT_ERROR_INIT;
    int64_t time_ms;
    int32_t day;
    char *time = end != NULL ? strndup((const char *)end + 1, length - text - 1)
                             : strndup(length > 0 ? (const char *)bytes : "", length);
    if (time == NULL) abort();
    if (tacit_sensor_parse(&sensor, (const char *)bytes, text, "fuzz.yaml", &error) == TACIT_OK) {
        if (sensor.count == 0 || sensor.name[0] == 0) abort();
        (void)tacit_sensor_time(&sensor, time, &time_ms, &day);
    } else if (error.text[0] == 0) {
        abort();
    }
    tacit_sensor_clear(&sensor);
    for (int form = 0; form < 3; form++) {
        const tacit_sensor plain = { .form = (tacit_time_form)form, .as_written = true };
        (void)tacit_sensor_time(&plain, time, &time_ms, &day);
    }
    free(time);
    return 0;
}
