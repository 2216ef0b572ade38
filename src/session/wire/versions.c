#include "session/wire/versions.h"

tacit_versions tacit_versions_spoken(void) { return (tacit_versions){ .lowest = 2, .highest = 2 }; }
