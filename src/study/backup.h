/*
 * A coordinator's folder as one file, taken while it serves: the authority, the registry with definitions,
 * parties, journals and secrets, and what was written down of rounds. The file is:
 *
 *   tacit backup 1
 *   {"coordinator": ..., "files": [{"name", "length", "hash"}, ...], ...}     # one line
 *   signature HEX                                                             # of that line, by the
 *                                                                             authority
 *   the files' bytes, one after the other
 *
 * It is as secret as the folder: whoever has it can be the coordinator, and can recompute the noise that the
 * coordinator drew in studies that had not ended. What erases a study's secret at its end does not reach
 * copies: backups should go when the study has ended.
 */
#pragma once

#include "base/buffer.h"

typedef struct tacit_backup_about {
    char coordinator[64], study[64]; /* study "": all of the folder */
    int64_t taken;                   /* seconds since 1970 */
    uint64_t rounds;                 /* finished, of all its studies that have not ended */
    size_t studies;
    char authority[65]; /* fingerprint */
} tacit_backup_about;

/* Back up `folder` to `path`, one study (the others' secrets are not in the file then) or with NULL all.
 * TACIT_NOT_FOUND for an unknown study; a file that is there is replaced only when the new one is whole. */
tacit_status tacit_backup_write(const char *folder, const char *study, const char *path,
                                tacit_backup_about *about, tacit_error *error);

/* Check a backup: TACIT_CORRUPT when a byte was changed or is missing. `folder` NULL: no more than that. Else
 * make it of the backup's files; TACIT_USAGE when there is a coordinator already. `authority` (may be NULL):
 * a file with the certificate that must have signed it, TACIT_REFUSED when another did. */
tacit_status tacit_backup_restore(const char *path, const char *folder, const char *authority,
                                  tacit_backup_about *about, tacit_error *error);
