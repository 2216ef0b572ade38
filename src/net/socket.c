#include "net/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/channel_parts.h"

static tacit_status find_address(struct addrinfo **out, const char *host, uint16_t port, int flags,
                                 tacit_error *error) {
    char service[8];
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV };
    snprintf(service, sizeof service, "%u", port);
    int code = getaddrinfo(host, service, &hints, out);
    if (code == 0) return TACIT_OK;
    if (code == EAI_MEMORY) return tacit_fail_memory(error);
    return tacit_fail(error, TACIT_NETWORK, "cannot find the address %s: %s", host, gai_strerror(code));
}

static uint16_t port_of(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof four);
        return ntohs(four.sin_port);
    }
    struct sockaddr_in6 six;
    memcpy(&six, address, sizeof six);
    return ntohs(six.sin6_port);
}

tacit_status tacit_socket_listen(int *out, uint16_t *port, const char *address, uint16_t wanted,
                                 tacit_error *error) {
    struct addrinfo *found = NULL;
    struct sockaddr_storage bound = { .ss_family = AF_UNSPEC };
    socklen_t length = sizeof bound;
    int listener = -1, on = 1;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(find_address(&found, address, wanted, AI_NUMERICHOST | AI_PASSIVE, error));
    listener = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(listener, found->ai_addr, found->ai_addrlen) != 0 || listen(listener, 16) != 0 ||
        getsockname(listener, (struct sockaddr *)&bound, &length) != 0)
        TACIT_CHECK(tacit_fail_errno(error, "listening on", address));
    *port = port_of(&bound);
    *out = listener;
    listener = -1;
cleanup:
    if (listener >= 0) close(listener);
    if (found != NULL) freeaddrinfo(found);
    return status;
}

/* Connect without blocking, so that the deadline holds. */
static tacit_status connect_to(int *out, const struct addrinfo *to, const char *host, int64_t deadline,
                               tacit_error *error) {
    int dialled = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (dialled < 0) return tacit_fail_errno(error, "dialling", host);
    tacit_status status = TACIT_OK;
    int problem = connect(dialled, to->ai_addr, to->ai_addrlen) == 0 ? 0 : errno;
    if (problem == EINPROGRESS || problem == EINTR) {
        socklen_t length = sizeof problem;
        status = tacit_channel_wait(dialled, POLLOUT, deadline, error);
        if (status == TACIT_OK && getsockopt(dialled, SOL_SOCKET, SO_ERROR, &problem, &length) != 0)
            problem = errno;
    }
    if (status == TACIT_OK && problem != 0)
        status = tacit_fail(error, TACIT_NETWORK, "cannot reach %s: nobody answers there (error %d)", host,
                            problem);
    if (status == TACIT_OK)
        *out = dialled;
    else
        close(dialled);
    return status;
}

tacit_status tacit_socket_connect(int *out, const char *host, uint16_t port, int64_t deadline,
                                  tacit_error *error) {
    struct addrinfo *found = NULL;
    TACIT_TRY(find_address(&found, host, port, 0, error));
    tacit_status status = TACIT_NETWORK;
    /* The error told is that of the last address. */
    for (struct addrinfo *to = found; to != NULL && status != TACIT_OK; to = to->ai_next)
        status = connect_to(out, to, host, deadline, to->ai_next == NULL ? error : NULL);
    freeaddrinfo(found);
    return status;
}

static tacit_status local_address(struct sockaddr_un *out, const char *path, tacit_error *error) {
    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof out->sun_path)
        return tacit_fail(error, TACIT_USAGE, "%s is too long for the name of a socket; choose a shorter one",
                          path);
    memcpy(out->sun_path, path, strlen(path));
    return TACIT_OK;
}

tacit_status tacit_socket_listen_local(int *out, const char *path, tacit_error *error) {
    struct sockaddr_un address;
    TACIT_TRY(local_address(&address, path, error));
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return tacit_fail_errno(error, "listening on", path);
    /* Nobody can connect before listen(), so there is no moment in which others may. */
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0600) != 0 ||
        listen(listener, 16) != 0) {
        tacit_status status = tacit_fail_errno(error, "listening on", path);
        close(listener);
        return status;
    }
    *out = listener;
    return TACIT_OK;
}

tacit_status tacit_socket_connect_local(int *out, const char *path, tacit_error *error) {
    struct sockaddr_un address;
    TACIT_TRY(local_address(&address, path, error));
    int dialled = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (dialled < 0) return tacit_fail_errno(error, "dialling", path);
    if (connect(dialled, (struct sockaddr *)&address, sizeof address) != 0) {
        tacit_status status =
            tacit_fail(error, TACIT_NETWORK, "cannot reach %s: nobody listens there (error %d)", path, errno);
        close(dialled);
        return status;
    }
    *out = dialled;
    return TACIT_OK;
}

tacit_status tacit_socket_accept(int *out, int listener, int64_t deadline, tacit_error *error) {
    for (;;) {
        int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (accepted >= 0) {
            *out = accepted;
            return TACIT_OK;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            TACIT_TRY(tacit_channel_wait(listener, POLLIN, deadline, error));
        else if (errno != EINTR && errno != ECONNABORTED)
            return tacit_fail_errno(error, "answering", "a caller");
    }
}
