/* The functions of rsocket(7), in librdmacm.so.1. All they do is done in Java. The number of an rsocket is a file descriptor
 * that the kernel finds as ready as the rsocket is, so waiting is the kernel's business. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "verbena.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- epoll(7) by names of rdma-core 64, whose librspreload.so takes over the others, and lets us close what we made */

#define EPOLLS_MAX 65536

static unsigned char is_epoll[EPOLLS_MAX];

static int forget_epoll(int s) { return s >= 0 && s < EPOLLS_MAX && __atomic_exchange_n(&is_epoll[s], 0, __ATOMIC_ACQ_REL); }

EXPORT int repoll_create(int flags) {
    int s = (int) syscall(SYS_epoll_create1, flags & EPOLL_CLOEXEC);
    if (s >= EPOLLS_MAX) {
        syscall(SYS_close, s);
        return number(-EMFILE);
    }
    if (s >= 0) {
        __atomic_store_n(&is_epoll[s], 1, __ATOMIC_RELEASE);
    }
    return s;
}
EXPORT int repoll_ctl(int epoll, int operation, int s, struct epoll_event *event) {
    return (int) syscall(SYS_epoll_ctl, epoll, operation, s, event);
}
EXPORT int repoll_wait(int epoll, struct epoll_event *events, int count, int timeout) {
    return (int) syscall(SYS_epoll_pwait, epoll, events, count, timeout, NULL, 0);
}

/* ---- connections */

static const void *home_of(const char *function) {
    Dl_info info;
    void *at = dlsym(RTLD_DEFAULT, function);
    return at && dladdr(at, &info) ? info.dli_fbase : NULL;
}

/* librspreload.so asks here for every socket of the process. Those of other families are not worth a JVM, and the JVM's own
 * stay what they are. Before rdma-core 63 that library leaves accept4(2) alone, which goes with SOCK_CLOEXEC and
 * SOCK_NONBLOCK: such sockets are TCP's then, as over a card. */
EXPORT int rsocket(int domain, int type, int protocol) {
    if (domain != AF_INET && domain != AF_INET6) {
        return number(-EAFNOSUPPORT);
    }
    int has_flags = type & (SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (verbena_is_java() || (has_flags && home_of("socket") != home_of("accept4"))) {
        return number(-EOPNOTSUPP);
    }
    return number(java(rsocket, domain, type, protocol));
}
EXPORT int rbind(int s, const void *address, uint32_t length) { return number(java(rbind, s, address, length)); }
EXPORT int rlisten(int s, int backlog) { return number(java(rlisten, s, backlog)); }
EXPORT int raccept(int s, void *address, uint32_t *length) { return number(java(raccept, s, address, length)); }
EXPORT int rconnect(int s, const void *address, uint32_t length) { return number(java(rconnect, s, address, length)); }
EXPORT int rshutdown(int s, int how) { return number(java(rshutdown, s, how)); }
EXPORT int rclose(int s) {
    if (forget_epoll(s)) {
        return (int) syscall(SYS_close, s);
    }
    return number(java(rclose, s));
}

/* ---- data */

EXPORT ssize_t rrecvfrom(int s, void *into, size_t n, int flags, void *address, uint32_t *length) {
    return bytes(java(rrecvfrom, s, into, n, flags, address, length));
}
EXPORT ssize_t rrecv(int s, void *into, size_t n, int flags) { return bytes(java(rrecvfrom, s, into, n, flags)); }
EXPORT ssize_t rread(int s, void *into, size_t n) { return bytes(java(rrecvfrom, s, into, n)); }
EXPORT ssize_t rreadv(int s, const void *pieces, int count) { return bytes(java(rreadv, s, pieces, count)); }
EXPORT ssize_t rrecvmsg(int s, void *message, int flags) { return bytes(java(rrecvmsg, s, message, flags)); }

EXPORT ssize_t rsendto(int s, const void *from, size_t n, int flags, const void *address, uint32_t length) {
    return bytes(java(rsendto, s, from, n, flags, address, length));
}
EXPORT ssize_t rsend(int s, const void *from, size_t n, int flags) { return bytes(java(rsendto, s, from, n, flags)); }
EXPORT ssize_t rwrite(int s, const void *from, size_t n) { return bytes(java(rsendto, s, from, n)); }
EXPORT ssize_t rwritev(int s, const void *pieces, int count) { return bytes(java(rwritev, s, pieces, count)); }
EXPORT ssize_t rsendmsg(int s, const void *message, int flags) { return bytes(java(rsendmsg, s, message, flags)); }

EXPORT off_t riomap(int s, void *memory, size_t n, int protection, int flags, off_t offset) {
    return bytes(java(riomap, s, memory, n, protection, flags, offset));
}
EXPORT int riounmap(int s, void *memory, size_t n) { return number(java(riounmap, s, memory, n)); }
EXPORT size_t riowrite(int s, const void *from, size_t n, off_t offset, int flags) {
    return (size_t) bytes(java(riowrite, s, from, n, offset, flags));
}

/* ---- names and options */

EXPORT int rgetsockname(int s, void *address, uint32_t *length) { return number(java(rname, s, address, length, 0)); }
EXPORT int rgetpeername(int s, void *address, uint32_t *length) { return number(java(rname, s, address, length, 1)); }
EXPORT int rsetsockopt(int s, int level, int name, const void *value, uint32_t length) {
    return number(java(rsetsockopt, s, level, name, value, length));
}
EXPORT int rgetsockopt(int s, int level, int name, void *value, uint32_t *length) {
    return number(java(rgetsockopt, s, level, name, value, length));
}
EXPORT int rfcntl(int s, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    long argument = va_arg(arguments, long); /* some commands have none; it is not looked at then */
    va_end(arguments);
    return number(java(rfcntl, s, command, (int) argument));
}

/* ---- waiting: poll(2) and select(2) by names that librspreload.so does not take over, for it calls us */

EXPORT int rpoll(struct pollfd *fds, nfds_t count, int timeout) {
    struct timespec time = {.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000L};
    return ppoll(fds, count, timeout < 0 ? NULL : &time, NULL);
}
EXPORT int rselect(int count, fd_set *reads, fd_set *writes, fd_set *errors, struct timeval *timeout) {
    struct timespec time = {0};
    if (timeout) {
        time = (struct timespec) {.tv_sec = timeout->tv_sec, .tv_nsec = timeout->tv_usec * 1000L};
    }
    return pselect(count, reads, writes, errors, timeout ? &time : NULL, NULL);
}
