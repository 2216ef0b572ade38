#include "fault.h"

#include <signal.h>
#include <sqlite3.h>
#include <string.h>

typedef struct fault_file {
    sqlite3_file base;
    bool is_log;
    sqlite3_file *real; /* directly behind this struct */
} fault_file;

static struct {
    sqlite3_vfs layer, *real;
    fault_kind kind;
    long step, steps;
    bool again, log_unsynced;
} fault;

void fault_at(fault_kind kind, long step, bool again) {
    fault.kind = kind;
    fault.step = step;
    fault.again = again;
    fault.steps = 0;
}

long fault_steps(void) { return fault.steps; }

bool fault_log_is_unsynced(void) { return fault.log_unsynced; }

static bool due(void) {
    fault.steps++;
    if (fault.kind == FAULT_NONE) return false;
    bool now = fault.steps == fault.step || (fault.again && fault.steps > fault.step);
    if (now && fault.kind == FAULT_KILL) raise(SIGKILL);
    return now;
}

static sqlite3_file *real_of(sqlite3_file *file) { return ((fault_file *)file)->real; }
static const sqlite3_io_methods *methods_of(sqlite3_file *file) { return real_of(file)->pMethods; }

static int fault_close(sqlite3_file *file) { return methods_of(file)->xClose(real_of(file)); }

static int fault_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 at) {
    return methods_of(file)->xRead(real_of(file), bytes, length, at);
}

static int fault_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 at) {
    if (due()) {
        if (fault.kind == FAULT_TEAR) {
            methods_of(file)->xWrite(real_of(file), bytes, length / 2, at);
            raise(SIGKILL);
        }
        return fault.kind == FAULT_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
    if (((fault_file *)file)->is_log) fault.log_unsynced = true;
    return methods_of(file)->xWrite(real_of(file), bytes, length, at);
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size) {
    if (due()) return SQLITE_IOERR_TRUNCATE;
    return methods_of(file)->xTruncate(real_of(file), size);
}

static int fault_sync(sqlite3_file *file, int flags) {
    if (due()) return SQLITE_IOERR_FSYNC;
    if (((fault_file *)file)->is_log) fault.log_unsynced = false;
    return methods_of(file)->xSync(real_of(file), flags);
}

static int fault_size(sqlite3_file *file, sqlite3_int64 *size) {
    return methods_of(file)->xFileSize(real_of(file), size);
}

static int fault_lock(sqlite3_file *file, int level) { return methods_of(file)->xLock(real_of(file), level); }
static int fault_unlock(sqlite3_file *file, int level) {
    return methods_of(file)->xUnlock(real_of(file), level);
}
static int fault_check_lock(sqlite3_file *file, int *out) {
    return methods_of(file)->xCheckReservedLock(real_of(file), out);
}
static int fault_control(sqlite3_file *file, int operation, void *argument) {
    return methods_of(file)->xFileControl(real_of(file), operation, argument);
}
static int fault_sector(sqlite3_file *file) { return methods_of(file)->xSectorSize(real_of(file)); }
static int fault_traits(sqlite3_file *file) {
    return methods_of(file)->xDeviceCharacteristics(real_of(file));
}
static int fault_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    return methods_of(file)->xShmMap(real_of(file), page, size, extend, out);
}
static int fault_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return methods_of(file)->xShmLock(real_of(file), offset, count, flags);
}
static void fault_shm_barrier(sqlite3_file *file) { methods_of(file)->xShmBarrier(real_of(file)); }
static int fault_shm_unmap(sqlite3_file *file, int delete) {
    return methods_of(file)->xShmUnmap(real_of(file), delete);
}

static const sqlite3_io_methods fault_methods = {
    .iVersion = 2,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_check_lock,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector,
    .xDeviceCharacteristics = fault_traits,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

static int fault_open(sqlite3_vfs *layer, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    (void)layer;
    fault_file *self = (fault_file *)file;
    memset(self, 0, sizeof *self);
    self->real = (sqlite3_file *)(self + 1);
    self->is_log = (flags & SQLITE_OPEN_WAL) != 0;
    int code = fault.real->xOpen(fault.real, name, self->real, flags, out_flags);
    if (self->real->pMethods != NULL) self->base.pMethods = &fault_methods;
    return code;
}

static int fault_delete(sqlite3_vfs *layer, const char *name, int sync) {
    (void)layer;
    if (due()) return SQLITE_IOERR_DELETE;
    return fault.real->xDelete(fault.real, name, sync);
}

void fault_install(void) {
    fault.real = sqlite3_vfs_find(NULL);
    fault.layer = *fault.real;
    fault.layer.zName = "fault";
    fault.layer.szOsFile = (int)sizeof(fault_file) + fault.real->szOsFile;
    fault.layer.xOpen = fault_open;
    fault.layer.xDelete = fault_delete;
    sqlite3_vfs_register(&fault.layer, 1);
}
