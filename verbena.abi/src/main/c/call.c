/* How a call reaches Java: on the caller's own stack, wherever that will do.
 *
 * A thread that runs on a stack of the program's making (a coroutine), or on a very small one, has a companion: a thread with a
 * stack that the JVM knows, which carries out this and all later calls of that thread. A call that comes while another
 * of the same thread is under way comes from a signal handler; the JVM is in the middle of something, so it is refused. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unwind.h>

#include "verbena.h"

/* Java needs so much; less leads to StackOverflowError. */
#define STACK_MIN (192 << 10)

/* Where a thread is: in a call; or asleep for the device, between two calls. */
enum where { OUTSIDE, INSIDE, VISITING };

/* Where the program has called: addresses behind its calls, innermost first. */
struct place {
    size_t depth;
    uintptr_t frames[4];
};

enum state { IDLE, ASKED, ANSWERED, ENDED };

struct companion {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    enum verbena_call which;
    struct place place;
    long arguments[6];
    long answer;
};

struct caller {
    uintptr_t low; /* of the stack that the thread was made with */
    size_t size;   /* 0: not known yet */
    volatile sig_atomic_t where;
    struct companion *companion;
    struct place place; /* of the last call, where places are kept */
    enum { UNKNOWN, AGREED, AT_ODDS } handlers; /* of signals, about system calls that they interrupt */
};

static __thread struct caller self __attribute__((tls_model("initial-exec")));

static pthread_key_t ending;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- places in the program, for those who check it */

VERBENA_OWN_CODE

static struct {
    uintptr_t from, to;
} own_code[2]; /* libibverbs.so.1 and librdmacm.so.1 */
static size_t own_count;
static int are_places_kept;

__attribute__((visibility("default"))) void verbena_own_code(const void *from, const void *to) {
    if (own_count < sizeof own_code / sizeof *own_code) {
        own_code[own_count].from = (uintptr_t) from;
        own_code[own_count++].to = (uintptr_t) to;
    }
}

static int is_own(uintptr_t code) {
    for (size_t i = 0; i < own_count; i++) {
        if (code - own_code[i].from < own_code[i].to - own_code[i].from) {
            return 1;
        }
    }
    return 0;
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *to) {
    struct place *place = to;
    uintptr_t behind = _Unwind_GetIP(context);
    if (!is_own(behind)) {
        place->frames[place->depth++] = behind;
    }
    return place->depth < sizeof place->frames / sizeof *place->frames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* From now on each call notes its place. */
long keep_places(void) { return are_places_kept = 1; }

/* Where the program has made the call that this thread carries out; 0 when the stack is not so deep, and on threads of the JVM. */
long call_place(long depth) { return (size_t) depth < self.place.depth ? (long) self.place.frames[depth] : 0; }

/* In the child, which raises no SIGCHLD as long as it executes nothing. So a child of its own does that. */
static void run(char *const *arguments, int answers) {
    pid_t other = (pid_t) syscall(SYS_clone, (long) SIGCHLD, 0L, 0L, 0L, 0L);
    if (other == 0) {
        sigset_t none;
        sigemptyset(&none);
        int nothing = open("/dev/null", O_RDWR);
        dup2(answers, STDOUT_FILENO);
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDERR_FILENO);
        syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        execvp(arguments[0], arguments);
    }
    while (other > 0 && waitpid(other, NULL, 0) < 0 && errno == EINTR) {
    }
    _exit(0);
}

/* Runs a program, and returns how many bytes of what it prints are in `answer`; -1 when there can be no child. The program that
 * is checked may count its children: this one raises no SIGCHLD, and no wait(2) sees it that does not ask for such (__WCLONE). */
long ask_unseen(char *const *arguments, char *answer, size_t room) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        return -1;
    }
    sigset_t before; /* the child runs no handler of the program */
    verbena_block_signals(&before);
    pid_t child = (pid_t) syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
    if (child == 0) {
        run(arguments, ends[1]);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    size_t got = 0;
    for (ssize_t more = 1; child > 0 && more != 0 && got < room;) {
        more = read(ends[0], answer + got, room - got);
        if (more > 0) {
            got += (size_t) more;
        } else if (more < 0 && errno != EINTR) {
            break;
        }
    }
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR) {
    }
    return child > 0 ? (long) got : -1;
}

static long carry_out(enum verbena_call which, const long *with) {
    return verbena_java()[which](with[0], with[1], with[2], with[3], with[4], with[5]);
}

/* ---- the companion */

static void *accompany(void *of) {
    struct companion *me = of;
    verbena_attach();
    pthread_mutex_lock(&me->lock);
    while (me->state != ENDED) {
        if (me->state == ASKED) {
            self.place = me->place;
            pthread_mutex_unlock(&me->lock);
            long answer = carry_out(me->which, me->arguments);
            pthread_mutex_lock(&me->lock);
            me->answer = answer;
            me->state = ANSWERED;
            pthread_cond_signal(&me->changed);
        } else {
            pthread_cond_wait(&me->changed, &me->lock);
        }
    }
    pthread_mutex_unlock(&me->lock);
    free(me);
    return NULL;
}

static void end(void *of) {
    struct companion *companion = of;
    verbena_end_visit();
    pthread_mutex_lock(&companion->lock);
    companion->state = ENDED;
    pthread_cond_signal(&companion->changed);
    pthread_mutex_unlock(&companion->lock);
}

static void make_key(void) { pthread_key_create(&ending, end); }

/* It ends with its thread. NULL when there cannot be one. */
static struct companion *new_companion(void) {
    struct companion *made = calloc(1, sizeof *made);
    if (!made) {
        return NULL;
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    sigset_t before; /* signals are for the program's threads */
    verbena_block_signals(&before);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, accompany, made);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        free(made);
        return NULL;
    }
    pthread_detach(thread);
    pthread_once(&once, make_key);
    pthread_setspecific(ending, made);
    return made;
}

static long ask(struct companion *of, enum verbena_call which, const long *with) {
    pthread_mutex_lock(&of->lock);
    of->which = which;
    of->place = self.place;
    for (int i = 0; i < 6; i++) {
        of->arguments[i] = with[i];
    }
    of->state = ASKED;
    pthread_cond_signal(&of->changed);
    while (of->state != ANSWERED) {
        pthread_cond_wait(&of->changed, &of->lock);
    }
    of->state = IDLE;
    long answer = of->answer;
    pthread_mutex_unlock(&of->lock);
    return answer;
}

/* ---- the caller */

static void learn_stack(struct caller *me) {
    pthread_attr_t attributes;
    void *low;
    size_t size;
    me->size = 1; /* whatever happens: known */
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &size) == 0 && size >= STACK_MIN) {
            me->low = (uintptr_t) low;
            me->size = size;
        }
        pthread_attr_destroy(&attributes);
    }
}

/* Learns what has to be known of a thread for its first call. Whether a companion is needed and cannot be had. */
static int lacks_companion(struct caller *me) {
    int error = errno;
    if (!me->size) {
        learn_stack(me);
    }
    int is_foreign = (uintptr_t) __builtin_frame_address(0) - me->low >= me->size;
    if (is_foreign) {
        me->companion = new_companion();
    } else {
        verbena_attach();
    }
    errno = error;
    return is_foreign && !me->companion;
}

__attribute__((visibility("default"))) long verbena_call(enum verbena_call which, long a, long b, long c, long d, long e, long f) {
    struct caller *me = &self;
    if (__builtin_expect(me->where, 0)) {
        if (me->where == INSIDE) {
            return -EDEADLK;
        }
        verbena_end_visit(); /* in a signal handler, or out of it by a long jump */
    }
    int cancellation; /* no unwinding through Java */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    me->where = INSIDE;
    if (__builtin_expect(are_places_kept, 0)) {
        me->place.depth = 0;
        _Unwind_Backtrace(add_frame, &me->place);
    }
    long answer;
    if (__builtin_expect(!me->companion && (uintptr_t) __builtin_frame_address(0) - me->low < me->size, 1)) {
        answer = verbena_java()[which](a, b, c, d, e, f);
    } else if (!me->companion && lacks_companion(me)) {
        answer = -ENOMEM;
    } else {
        long with[] = {a, b, c, d, e, f};
        answer = me->companion ? ask(me->companion, which, with) : carry_out(which, with);
    }
    me->where = OUTSIDE;
    pthread_setcancelstate(cancellation, NULL);
    return answer;
}

int verbena_is_inside(void) { return self.where == INSIDE; }

__attribute__((visibility("default"))) int verbena_is_java(void) {
    return self.where == INSIDE || (!self.size && verbena_is_known());
}

/* ---- sleep */

void verbena_end_visit(void) {
    if (self.where == VISITING) {
        self.where = OUTSIDE;
        int error = errno;
        java(end_visit, 0);
        errno = error;
    }
}

/* Handlers of this thread that ask for system calls to be started again, and those that ask for EINTR. The faults are the
 * business of a thread at work. */
static void count_handlers(int *restarting, int *interrupting) {
    sigset_t blocked;
    struct sigaction action;
    *restarting = *interrupting = 0;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        int is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP;
        if (is_fault || sigismember(&blocked, signal) || sigaction(signal, NULL, &action) != 0
            || (!(action.sa_flags & SA_SIGINFO) && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN))) {
            continue;
        }
        ++*(action.sa_flags & SA_RESTART ? restarting : interrupting);
    }
}

/* A signal has ended poll(2), which no handler starts again. read(2) does what the handler says; poll does not tell which one that
 * was. So this thread sleeps in poll as long as its handlers agree. */
int verbena_may_sleep(void) {
    struct caller *me = &self;
    if (!me->handlers) {
        int restarting, interrupting;
        count_handlers(&restarting, &interrupting);
        me->handlers = restarting && interrupting ? AT_ODDS : AGREED;
    }
    return me->handlers == AGREED;
}

int verbena_sleep(struct pollfd *what, size_t count) {
    struct caller *me = &self;
    me->where = VISITING;
    int ready = poll(what, count, -1);
    if (me->where != VISITING) {
        return 0; /* a handler has made calls */
    }
    if (ready < 0 && errno == EINTR) {
        int restarting, interrupting;
        count_handlers(&restarting, &interrupting);
        if (interrupting) {
            me->handlers = restarting ? AT_ODDS : AGREED;
            errno = EINTR;
            verbena_end_visit();
            return -1;
        }
    }
    me->where = OUTSIDE;
    return 0;
}

__attribute__((visibility("default"))) int verbena_poll(struct pollfd *what, size_t count, const struct timespec *timeout,
    const sigset_t *signals) {
    struct caller *me = &self;
    me->where = VISITING; /* a handler that makes calls ends the visit */
    int ready = ppoll(what, count, timeout, signals);
    me->where = OUTSIDE;
    return ready;
}

/* In the child of a fork, which has this thread only. */
void verbena_call_in_child(void) { self = (struct caller) {0}; }
