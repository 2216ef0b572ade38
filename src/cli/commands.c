#include "cli/commands.h"

#define TACIT_COMMAND_ENTRY(name) &tacit_command_##name,
const tacit_command *const tacit_commands[] = { TACIT_COMMANDS(TACIT_COMMAND_ENTRY) NULL };
#undef TACIT_COMMAND_ENTRY
