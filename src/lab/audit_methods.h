/* Audits of methods that have files of their own; the table is in audit_table.c. */
#pragma once

#include "lab/audit.h"

extern const tacit_auditable tacit_audit_histogram;
