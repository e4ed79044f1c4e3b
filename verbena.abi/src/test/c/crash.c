/* Faults: a program that crashes dies as it would without us, and one that handles faults itself does so before and after
 * its first call. Without an argument: all of it; the others are processes of the test's own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define SAID_MAX 4096

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define FAULTS (sizeof faults / sizeof *faults)

static volatile int zero;

/* A page of a file that is too short for it. */
static volatile int *beyond_a_file(void) {
    int file = memfd_create("short", 0);
    volatile int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return page;
}

__attribute__((noinline)) static void commit(int fault) {
    switch (fault) {
        case SIGSEGV:
            *(volatile int *) (uintptr_t) (16 + zero) = 1;
            break;
        case SIGBUS:
            *beyond_a_file() = 1;
            break;
        case SIGFPE:
#ifdef __x86_64__
            zero = SIGFPE / zero;
#else
            raise(SIGFPE);
#endif
            break;
        default:
            __builtin_trap();
    }
}

/* ---- death */

/* How another process of this program ends within twenty seconds, and what it says. */
static int ended(const char *program, const char *what, char *said) {
    int out[2];
    EXPECT_CODE(0, pipe(out));
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        execl(program, program, what, NULL);
        _exit(127);
    }
    close(out[1]);
    int status = -1;
    for (int i = 0; i < 2000 && waitpid(child, &status, WNOHANG) == 0; i++) {
        nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
    }
    if (kill(child, SIGKILL) == 0) { /* it hangs */
        waitpid(child, &status, 0);
        status = -1;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    ssize_t n = read(out[0], said, SAID_MAX - 1);
    said[n > 0 ? n : 0] = 0;
    close(out[0]);
    return status < 0 ? -1 : WIFSIGNALED(status) ? WTERMSIG(status) : 128 + WEXITSTATUS(status);
}

static void dies_in_silence_by(int signal, const char *program, const char *what) {
    char said[SAID_MAX];
    int by = ended(program, what, said);
    if (by != signal || said[0]) {
        printf("%s: ended by %d, not %d, and said: %s\n", what, by, signal, said);
        failures++;
    }
}

/* Of a child that does not call the library, by each fault, caused and sent. */
static void children_die(void) {
    for (size_t i = 0; i < 2 * FAULTS; i++) {
        pid_t child = fork();
        if (child == 0) {
            i < FAULTS ? commit(faults[i]) : (void) raise(faults[i - FAULTS]);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == faults[i % FAULTS]);
    }
}

/* Of one that does, too. */
static void child_with_a_device_dies(void) {
    pid_t child = fork();
    if (child == 0) {
        ibv_close_device(open_first());
        commit(SIGSEGV);
    }
    int status;
    waitpid(child, &status, 0);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* ---- handlers */

static sigjmp_buf back;
static volatile sig_atomic_t seen, seen_mask, seen_on_stack;
static void *volatile seen_at;
static char stack[64 << 10];

static void look(void) {
    sigset_t mask;
    char here;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    seen_mask = sigismember(&mask, SIGUSR1) | sigismember(&mask, SIGUSR2) << 1;
    seen_on_stack = &here >= stack && &here < stack + sizeof stack;
}

static void recover(int signal) {
    look();
    seen = signal;
    siglongjmp(back, 1);
}

static void recover_from(int signal, siginfo_t *info, void *context) {
    (void) context;
    seen_at = info->si_addr;
    recover(signal);
}

static void note(int signal) { seen = signal; }

static void is_handled(int fault, int line) {
    seen = 0;
    if (!sigsetjmp(back, 1)) {
        commit(fault);
    }
    if (seen != fault) {
        printf("line %d: the handler of signal %d was not called\n", line, fault);
        failures++;
    }
}

#define IS_HANDLED(fault) is_handled(fault, __LINE__)

__attribute__((noinline)) static int descend(int depth) {
    volatile char room[4096];
    room[0] = depth;
    return zero ? 0 : descend(depth + 1) + room[0];
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = recover_from, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaddset(&action.sa_mask, SIGUSR1);
    for (size_t i = 0; i < FAULTS; i++) {
        EXPECT_CODE(0, sigaction(faults[i], &action, NULL));
    }
}

/* As install has said. */
static void all_is_handled(void) {
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < FAULTS; i++) {
            struct sigaction now;
            EXPECT_CODE(0, sigaction(faults[i], NULL, &now));
            EXPECT(now.sa_sigaction == recover_from && now.sa_flags & SA_SIGINFO && sigismember(&now.sa_mask, SIGUSR1));
            IS_HANDLED(faults[i]);
            EXPECT(seen_mask == 1);
        }
    }
    IS_HANDLED(SIGSEGV);
    EXPECT(seen_at == (void *) 16);
}

/* With a stack of its own for the handler. */
static void *end_of_stack(void *nothing) {
    EXPECT_CODE(0, sigaltstack(&(stack_t) {.ss_sp = stack, .ss_size = sizeof stack}, NULL));
    seen = 0;
    if (!sigsetjmp(back, 1)) {
        descend(0);
    }
    EXPECT(seen == SIGSEGV && seen_on_stack);
    return nothing;
}

static void in_thread(void *(*what)(void *)) {
    pthread_t thread;
    EXPECT_CODE(0, pthread_create(&thread, NULL, what, NULL));
    pthread_join(thread, NULL);
}

/* Other handlers than those that the first call found, and none. */
static void what_is_said_later(void) {
    struct sigaction once = {.sa_handler = recover, .sa_flags = SA_RESETHAND}, now;
    EXPECT_CODE(0, sigaction(SIGSEGV, &once, NULL));
    IS_HANDLED(SIGSEGV);
    EXPECT(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    EXPECT(signal(SIGSEGV, recover) == SIG_DFL);
    IS_HANDLED(SIGSEGV);
    EXPECT(signal(SIGSEGV, SIG_IGN) == recover);
    EXPECT_CODE(0, raise(SIGSEGV));
    EXPECT(signal(SIGSEGV, note) == SIG_IGN);
    EXPECT_CODE(0, raise(SIGSEGV));
    EXPECT(seen == SIGSEGV);
    struct sigaction nested = {.sa_handler = note, .sa_flags = SA_NODEFER};
    EXPECT_CODE(0, sigaction(SIGSEGV, &nested, &now));
    EXPECT(now.sa_handler == note && now.sa_flags & SA_RESTART);
}

/* What throws in Java, where null pointers are found by faults. */
static void mistakes_are_found(struct ibv_context *context) {
    for (int i = 0; i < 50; i++) {
        struct ibv_qp_init_attr none = {.qp_type = IBV_QPT_RC};
        struct ibv_pd *pd = ibv_alloc_pd(context);
        EXPECT_ERRNO(EINVAL, ibv_create_qp(pd, &none) == NULL);
        EXPECT_CODE(0, ibv_dealloc_pd(pd));
    }
}

static void children_have_the_handlers(void) {
    install();
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        all_is_handled();
        struct ibv_context *context = open_first();
        all_is_handled();
        mistakes_are_found(context);
        _exit(failures != 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void handle(void) {
    install();
    struct ibv_context *context = open_first();
    all_is_handled();
    in_thread(end_of_stack);
    mistakes_are_found(context);
    what_is_said_later();
    mistakes_are_found(context);
    install();
    all_is_handled();
    in_thread(end_of_stack);
    children_have_the_handlers();
    EXPECT_CODE(0, ibv_close_device(context));
}

/* ---- */

static void *crash(void *nothing) {
    commit(SIGSEGV);
    return nothing;
}

int main(int count, char **arguments) {
    if (count == 1) {
        unsetenv("VERBENA_EXPLAIN");
        dies_in_silence_by(SIGSEGV, arguments[0], "program");
        dies_in_silence_by(128, arguments[0], "handlers");
        char said[SAID_MAX];
        EXPECT_CODE(SIGSEGV, ended(arguments[0], "library", said));
        EXPECT(strncmp(said, "verbena: a fault in the library", 31) == 0 && strchr(said, '\n') == said + strlen(said) - 1);
        return failures != 0;
    }
    if (strcmp(arguments[1], "handlers") == 0) {
        handle();
        return failures != 0;
    }
    struct ibv_context *context = open_first();
    if (strcmp(arguments[1], "program") == 0) {
        children_die();
        child_with_a_device_dies();
        if (!failures) {
            in_thread(crash);
        }
    } else {
        struct ibv_qp_init_attr *wild = (struct ibv_qp_init_attr *) (uintptr_t) (4096 + zero);
        ibv_create_qp(ibv_alloc_pd(context), wild);
    }
    return failures != 0;
}
