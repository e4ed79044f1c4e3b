/* The functions of rsocket(7), in librdmacm.so.1. All they do is done in Java. The number of an rsocket is a file descriptor
 * that the kernel finds as ready as the rsocket is; a program that waits here does not need that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

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

/* ---- waiting: poll(2) and select(2). Java looks at rsockets, and says what is to be polled while this thread attends to the
 * device; the kernel knows all else. */

enum { FEW = 32, DEVICES = 64 }; /* descriptors: of the program, without malloc; of a device, at most */

static void now(struct timespec *time) { clock_gettime(CLOCK_MONOTONIC, time); }

/* What is left until then; whether that is anything. */
static int is_left(const struct timespec *until, struct timespec *left) {
    now(left);
    left->tv_sec = until->tv_sec - left->tv_sec;
    left->tv_nsec = until->tv_nsec - left->tv_nsec;
    if (left->tv_nsec < 0) {
        left->tv_nsec += 1000000000;
        left->tv_sec--;
    }
    return left->tv_sec > 0 || (left->tv_sec == 0 && left->tv_nsec > 0);
}

static int count_ready(const struct pollfd *fds, nfds_t count) {
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        ready += fds[i].revents != 0;
    }
    return ready;
}

/* What the kernel knows of those that are its own. */
static int add_others(struct pollfd *fds, struct pollfd *asleep, nfds_t count) {
    static const struct timespec none;
    int ready = ppoll(asleep, count, &none, NULL);
    for (nfds_t i = 0; i < count && ready > 0; i++) {
        fds[i].revents |= asleep[i].revents;
    }
    return ready;
}

/* Waits. Signals come while this thread sleeps, and at no other time: one that came before would not end the sleep. */
static int attend(struct pollfd *fds, nfds_t count, struct pollfd *asleep, size_t bytes, const struct timespec *timeout,
    const sigset_t *signals) {
    struct timespec until, left;
    if (timeout) {
        now(&until);
        until.tv_sec += timeout->tv_sec;
        until.tv_nsec += timeout->tv_nsec;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
    }
    int is_waiting = 1;
    while (1) {
        long answer = java(rpoll, fds, count, asleep, bytes, is_waiting);
        int ready = (int) (answer >> 32), kernels = (int) answer;
        if (answer < 0) {
            return number(answer);
        }
        if (ready || !is_waiting) {
            return ready + (kernels ? add_others(fds, asleep, count) : 0);
        }
        is_waiting = !timeout || is_left(&until, &left);
        if (is_waiting) {
            int polled = verbena_poll(asleep, (size_t) kernels, timeout ? &left : NULL, signals);
            if (polled < 0) {
                int error = errno;
                java(rpoll, fds, count, asleep, bytes, 0);
                errno = error;
                return -1;
            }
            is_waiting = polled > 0 && !count_ready(asleep, count);
        }
    }
}

/* Looks, and waits if none is ready. */
static int look(struct pollfd *fds, nfds_t count, struct pollfd *asleep, size_t bytes, const struct timespec *timeout) {
    long answer = java(rpoll, fds, count, asleep, bytes, 0);
    if (answer < 0) {
        return number(answer);
    }
    int ready = (int) (answer >> 32);
    ready += (int) answer ? add_others(fds, asleep, count) : 0;
    if (ready || (timeout && timeout->tv_sec <= 0 && timeout->tv_nsec <= 0)) {
        return ready;
    }
    sigset_t signals;
    verbena_block_signals(&signals);
    ready = attend(fds, count, asleep, bytes, timeout, &signals);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    return ready;
}

static int poll_all(struct pollfd *fds, nfds_t count, const struct timespec *timeout) {
    struct pollfd few[FEW + DEVICES], *asleep = few;
    struct rlimit open;
    if (count > FEW && getrlimit(RLIMIT_NOFILE, &open) == 0 && count > open.rlim_cur) {
        return number(-EINVAL); /* as poll(2) does */
    }
    size_t bytes = (count + DEVICES) * sizeof *asleep;
    if (count > FEW && !(asleep = malloc(bytes))) {
        return number(-ENOMEM);
    }
    int ready = look(fds, count, asleep, bytes, timeout);
    if (asleep != few) {
        free(asleep);
    }
    return ready;
}

EXPORT int rpoll(struct pollfd *fds, nfds_t count, int timeout) {
    struct timespec time = {.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000L};
    return poll_all(fds, count, timeout < 0 ? NULL : &time);
}

static int is_in(int fd, const fd_set *set) { return set && FD_ISSET(fd, set); }

/* Takes it out of the set if it is not so; whether it stays. */
static int stays_in(int fd, fd_set *set, int is_so) {
    if (!is_in(fd, set)) {
        return 0;
    }
    if (!is_so) {
        FD_CLR(fd, set);
    }
    return is_so != 0;
}

static int select_all(int count, fd_set *reads, fd_set *writes, fd_set *errors, struct pollfd *fds, struct timespec *timeout) {
    nfds_t n = 0;
    for (int fd = 0; fd < count; fd++) {
        short events = (short) ((is_in(fd, reads) ? POLLIN : 0) | (is_in(fd, writes) ? POLLOUT : 0)
            | (is_in(fd, errors) ? POLLPRI : 0));
        if (events) {
            fds[n++] = (struct pollfd) {.fd = fd, .events = events};
        }
    }
    if (poll_all(fds, n, timeout) < 0) {
        return -1;
    }
    int ready = 0;
    for (nfds_t i = 0; i < n; i++) {
        int found = fds[i].revents;
        if (found & POLLNVAL) {
            return number(-EBADF);
        }
        ready += stays_in(fds[i].fd, reads, found & (POLLIN | POLLHUP | POLLERR));
        ready += stays_in(fds[i].fd, writes, found & (POLLOUT | POLLERR));
        ready += stays_in(fds[i].fd, errors, found & POLLPRI);
    }
    return ready;
}

EXPORT int rselect(int count, fd_set *reads, fd_set *writes, fd_set *errors, struct timeval *timeout) {
    struct timespec time = {0};
    struct pollfd usual[FD_SETSIZE], *fds = usual;
    if (timeout) {
        time = (struct timespec) {.tv_sec = timeout->tv_sec, .tv_nsec = timeout->tv_usec * 1000L};
    }
    if (count < 0 || time.tv_sec < 0 || time.tv_nsec < 0) {
        return number(-EINVAL);
    }
    if (count > FD_SETSIZE && !(fds = malloc((size_t) count * sizeof *fds))) {
        return number(-ENOMEM);
    }
    int ready = select_all(count, reads, writes, errors, fds, timeout ? &time : NULL);
    if (fds != usual) {
        free(fds);
    }
    return ready;
}
