/*
 * libmicrohttpd, loaded when the first server is started. In libtacit.so these functions stand for its own,
 * so that a program which serves nothing neither needs nor loads it; the program tacit is linked with it.
 */
#include <dlfcn.h>
#include <string.h>

#include "net/server_parts.h"

#define FUNCTIONS(X)                                                                                         \
    X(MHD_add_response_header)                                                                               \
    X(MHD_create_response_from_buffer)                                                                       \
    X(MHD_create_response_from_buffer_with_free_callback_cls)                                                \
    X(MHD_create_response_from_iovec)                                                                        \
    X(MHD_destroy_response)                                                                                  \
    X(MHD_get_connection_info)                                                                               \
    X(MHD_get_daemon_info)                                                                                   \
    X(MHD_lookup_connection_value)                                                                           \
    X(MHD_queue_response)                                                                                    \
    X(MHD_resume_connection)                                                                                 \
    X(MHD_start_daemon_va)                                                                                   \
    X(MHD_stop_daemon)                                                                                       \
    X(MHD_suspend_connection)

static struct {
    pthread_once_t once;
    bool loaded;
#define MEMBER(name) __typeof__(&(name)) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} library = { .once = PTHREAD_ONCE_INIT };

static void load(void) {
    void *handle = dlopen(TACIT_LIBMICROHTTPD, RTLD_NOW | RTLD_LOCAL), *found = NULL; /* never closed */
    library.loaded = handle != NULL;
    if (handle == NULL) return;
#define FIND(name)                                                                                           \
    found = dlsym(handle, #name);                                                                            \
    library.loaded = library.loaded && found != NULL;                                                        \
    memcpy(&library.name, &found, sizeof found);
    FUNCTIONS(FIND)
#undef FIND
}

tacit_status tacit_server_library(tacit_error *error) {
    pthread_once(&library.once, load);
    if (library.loaded) return TACIT_OK;
    return tacit_fail(error, TACIT_NOT_FOUND,
                      TACIT_LIBMICROHTTPD
                      " is not there, or too old: install libmicrohttpd to serve anything");
}

/* All of these are called after that, by a server. */

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *header,
                                        const char *content) {
    return library.MHD_add_response_header(response, header, content);
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer,
                                                     enum MHD_ResponseMemoryMode mode) {
    return library.MHD_create_response_from_buffer(size, buffer, mode);
}

struct MHD_Response *MHD_create_response_from_buffer_with_free_callback_cls(
    size_t size, void *buffer, MHD_ContentReaderFreeCallback free_callback, void *context) {
    return library.MHD_create_response_from_buffer_with_free_callback_cls(size, buffer, free_callback,
                                                                          context);
}

struct MHD_Response *MHD_create_response_from_iovec(const struct MHD_IoVec *parts, unsigned int count,
                                                    MHD_ContentReaderFreeCallback free_callback,
                                                    void *context) {
    return library.MHD_create_response_from_iovec(parts, count, free_callback, context);
}

void MHD_destroy_response(struct MHD_Response *response) { library.MHD_destroy_response(response); }

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *connection,
                                                        enum MHD_ConnectionInfoType type, ...) {
    return library.MHD_get_connection_info(connection, type);
}

const union MHD_DaemonInfo *MHD_get_daemon_info(struct MHD_Daemon *daemon, enum MHD_DaemonInfoType type,
                                                ...) {
    return library.MHD_get_daemon_info(daemon, type);
}

const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                                        const char *key) {
    return library.MHD_lookup_connection_value(connection, kind, key);
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned int status,
                                   struct MHD_Response *response) {
    return library.MHD_queue_response(connection, status, response);
}

void MHD_resume_connection(struct MHD_Connection *connection) { library.MHD_resume_connection(connection); }
void MHD_suspend_connection(struct MHD_Connection *connection) { library.MHD_suspend_connection(connection); }
void MHD_stop_daemon(struct MHD_Daemon *daemon) { library.MHD_stop_daemon(daemon); }

struct MHD_Daemon *MHD_start_daemon(unsigned int flags, uint16_t port, MHD_AcceptPolicyCallback accept,
                                    void *accept_context, MHD_AccessHandlerCallback handler,
                                    void *handler_context, ...) {
    va_list options;
    va_start(options, handler_context);
    struct MHD_Daemon *daemon =
        library.MHD_start_daemon_va(flags, port, accept, accept_context, handler, handler_context, options);
    va_end(options);
    return daemon;
}
