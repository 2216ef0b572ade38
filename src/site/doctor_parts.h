/* Shared by the doctor's files only. */
#pragma once

#include <limits.h>

#include "base/buffer.h"
#include "session/carrier/carrier.h"
#include "site/doctor.h"

typedef struct examination {
    const char *folder;
    tacit_finding_visit *visit;
    void *context;
} examination;

/* Report. The text is made from `format`. */
void doctor_find(const examination *self, tacit_finding_level level, const char *check, const char *remedy,
                 const char *format, ...) TACIT_PRINTF(5, 6);

/* Report a check that went well, or failed with this status and sentence, which tells the remedy where there
 * is one. */
void doctor_judge(const examination *self, const char *check, tacit_status status, const tacit_error *error,
                  const char *remedy, const char *well);

/* A private key that must be its owner's alone, if it is there. */
void doctor_check_key(const examination *self, const char *path, const char *name);

/* When does a certificate end? */
void doctor_check_certificate(const examination *self, const char *path, const char *name,
                              const char *remedy);

/* Is the coordinator there, is it the one that `carrier` trusts, does it (`joined`) accept our certificate,
 * and does its clock agree? */
void doctor_check_coordinator(const examination *self, const char *check, const char *url,
                              tacit_carrier *carrier, bool joined);

/* The coordinator's authority: who it is, and which parties have not followed to it yet
 * (doctor_rotation.c). */
struct tacit_registry;
void doctor_check_rotation(const examination *self, struct tacit_registry *registry);

/* A party's home (doctor_party.c). */
void doctor_examine_party(const examination *self);
