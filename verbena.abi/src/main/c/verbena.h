/* Between libibverbs.so.1, which starts the JVM, and what calls into it. */
#ifndef VERBENA_H
#define VERBENA_H

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

enum verbena_call {
#define CALL(name, arguments) VERBENA_##name,
    VERBENA_CALLS(CALL)
#undef CALL
    VERBENA_CALL_COUNT
};

/* Any call: the caller casts its arguments. With up to six arguments in registers, more or fewer do no harm. */
typedef long (*verbena_function)(long, long, long, long, long, long);

/* The calls, with the JVM started; each answers -ENODEV when there is none. Any thread. */
const verbena_function *verbena_java(void);

/* Makes this thread known to the JVM, started if need be, until it ends. On a stack that Java knows. */
void verbena_attach(void);

/* One of them, on a stack that Java knows. Any thread; -EDEADLK in a signal handler that has interrupted another call. */
long verbena_call(enum verbena_call which, long a, long b, long c, long d, long e, long f);
void verbena_call_in_child(void);

/* From here to there is code of ours, and not the program's. */
void verbena_own_code(const void *from, const void *to);

/* In one file of each library: says where its code is. The linker knows. */
#define VERBENA_OWN_CODE \
    extern const char __ehdr_start[] __attribute__((visibility("hidden"))), etext[] __attribute__((visibility("hidden"))); \
    __attribute__((constructor)) static void tell_own_code(void) { verbena_own_code(__ehdr_start, etext); }

/* Sleeps by poll(2) in place of the device's own thread, as await_cq_event has asked for. -1 and errno when a signal is to end the
 * wait: then that is over; 0 when to ask again. */
int verbena_sleep(struct pollfd *what, size_t count);
int verbena_may_sleep(void);
/* ppoll(2) in place of the device's own thread; any signal ends it. */
int verbena_poll(struct pollfd *what, size_t count, const struct timespec *timeout, const sigset_t *signals);
void verbena_end_visit(void); /* if there is one: this thread will not ask again */
int verbena_is_inside(void); /* whether this thread is in one */

/* The JVM's library, a copy of it in the child of a fork; NULL when there is none, and why. */
void *verbena_load_jvm(const char *path, int is_forked);
const char *verbena_why_no_jvm(void);
/* Once the JVM has started that this function is of, and before it has loaded more: its sockets are not the program's. */
void verbena_keep_sockets(void *function);

/* Blocks the program's signals in this thread; `before` is the mask to return to. */
void verbena_block_signals(sigset_t *before);

/* The signals of faults: before the JVM starts, whose code is at this address; when it has; when there is none any more. */
void verbena_take_faults(void *jvm);
void verbena_settle_faults(void);
void verbena_give_faults_back(void);

/* Whether a fault was in memory of the program that Java has asked for (memory.c); then the access ends when the handler returns. */
int verbena_recover(const siginfo_t *fault, void *context);

/* Whether some of this is where the JVM's heap and classes are. */
int verbena_is_jvms(uintptr_t from, uintptr_t to);

/* Whether the JVM knows this thread: its own threads, and those that have made a call. */
int verbena_is_known(void);
/* Whether it is Java that runs on this thread: in a call that is under way, or on a thread of the JVM's own. */
int verbena_is_java(void);

#define VERBENA_6(name, a, b, c, d, e, f) \
    (verbena_call(VERBENA_##name, (long) (a), (long) (b), (long) (c), (long) (d), (long) (e), (long) (f)))
#define VERBENA_PICK(_1, _2, _3, _4, _5, _6, ...) _1, _2, _3, _4, _5, _6
/* java(name, up to six arguments) */
#define java(name, ...) VERBENA_APPLY(name, VERBENA_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0))
#define VERBENA_APPLY(name, ...) VERBENA_6(name, __VA_ARGS__)

/* The answer as a pointer: NULL and errno when it is an error. */
static inline void *pointer(long answer) {
    if (answer < 0 && answer > -4096) {
        errno = (int) -answer;
        return NULL;
    }
    return (void *) answer;
}

/* The answer as most verbs give it: 0, or the errno itself. */
static inline int code(long answer) {
    if (answer < 0) {
        errno = (int) -answer;
        return (int) -answer;
    }
    return 0;
}

/* The answer as librdmacm, and some verbs, give it: a number, or -1 and errno. */
static inline int number(long answer) {
    if (answer < 0) {
        errno = (int) -answer;
        return -1;
    }
    return (int) answer;
}

/* The answer as read(2) and write(2) give it: a number of bytes, or -1 and errno. */
static inline ssize_t bytes(long answer) {
    if (answer < 0 && answer > -4096) {
        errno = (int) -answer;
        return -1;
    }
    return (ssize_t) answer;
}

/* Waits until a descriptor says that there is an event. 0, or -1 and errno. What makes it readable stays there: Java takes that
 * away together with the event. A channel that is destroyed while a thread waits for its events keeps it waiting for ever, as the
 * kernel's do. */
static inline int verbena_await_event(int fd) {
    char one;
    ssize_t n = recv(fd, &one, 1, MSG_PEEK);
    while (n == 0) {
        pause();
    }
    return n < 0 ? -1 : 0;
}

#endif
