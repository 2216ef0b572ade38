/* The program after this one, as far as versions go: linked in place of src/session/wire/versions.c. */
#include "session/wire/versions.h"

tacit_versions tacit_versions_spoken(void) { return (tacit_versions){ FIRST_SPOKEN, LAST_SPOKEN }; }
