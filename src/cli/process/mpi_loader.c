#include "cli/process/mpi_loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/process/mpi.h"

#define MODULE_NAME "tacit-mpi.so"

/* What launchers tell the processes they start: Open MPI's mpirun, and those that speak PMIx or PMI, such as
 * srun. */
static unsigned long told_count(void) {
    static const char *const names[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text != NULL) return strtoul(text, NULL, 10);
    }
    return getenv("PMIX_RANK") != NULL && getenv("PMIX_NAMESPACE") != NULL ? 1 : 0;
}

/* Beside the program, as it was built, or where it was installed. */
static void *load_module(char why[256]) {
    char path[PATH_MAX + sizeof MODULE_NAME + 1];
    void *module = NULL;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    if (slash != NULL) {
        memcpy(slash + 1, MODULE_NAME, sizeof MODULE_NAME);
        /* MPI loads parts of its own, which look for its names among all that are loaded. */
        if (access(path, R_OK) == 0) module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    }
    if (module == NULL) module = dlopen(TACIT_MODULE_FOLDER "/" MODULE_NAME, RTLD_NOW | RTLD_GLOBAL);
    if (module == NULL) snprintf(why, 256, "%s", dlerror());
    return module;
}

static tacit_status start(tacit_mpi_loader *loader, tacit_error *error) {
    tacit_status (*begin)(tacit_link *, tacit_error *) = NULL;
    void *found = dlsym(loader->module, "tacit_mpi_start");
    if (found == NULL)
        return tacit_fail(error, TACIT_INTERNAL, "%s is not what this program was built with", MODULE_NAME);
    memcpy(&begin, &found, sizeof begin);
    TACIT_TRY(begin(&loader->ranks.link, error));
    loader->started = true;
    return TACIT_OK;
}

/* A launcher that MPI has not heard of: each process would be the only one it knows, and do all the work. */
static tacit_status check_count(tacit_mpi_loader *loader, unsigned long count, tacit_error *error) {
    size_t known = loader->ranks.link.count;
    if (count <= 1 || known == count) return TACIT_OK;
    tacit_mpi_loader_end(loader);
    return tacit_fail(error, TACIT_USAGE,
                      "the launcher has started %lu processes, and MPI knows of %zu: start tacit with the "
                      "mpirun of the Open MPI it was built with, or alone",
                      count, known);
}

tacit_status tacit_mpi_loader_start(tacit_mpi_loader *out, tacit_error *error) {
    char why[256] = "";
    *out = (tacit_mpi_loader){ .started = false };
    unsigned long count = told_count();
    if (count == 0) return TACIT_OK;
    out->module = load_module(why);
    if (out->module != NULL) {
        TACIT_TRY(start(out, error));
        return check_count(out, count, error);
    }
    if (count == 1) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "mpirun has started %lu processes, but this tacit runs alone, as it has no MPI (%s): "
                      "start it without mpirun, or install libopenmpi-dev and rebuild it",
                      count, why);
}

void tacit_mpi_loader_end(tacit_mpi_loader *loader) {
    void (*end)(void) = NULL;
    void *found = loader->started ? dlsym(loader->module, "tacit_mpi_end") : NULL;
    memcpy(&end, &found, sizeof end);
    if (end != NULL) end(); /* the module stays: MPI has registered things that run at exit */
    loader->started = false;
}
