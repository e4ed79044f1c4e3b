/* SIGSEGV, SIGBUS, SIGFPE and SIGILL: the JVM needs them, and they are the program's.
 *
 * The JVM finds null pointers and the ends of stacks by such faults, so its handlers come first. What it does not know as its
 * own it gives to the handler that it found when it started, which is `pass_on`: that one does what the program has
 * said. libverbena-files.so, where it is preloaded, brings here what the program says later. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "verbena.h"

#define KERNEL_MASK_BYTES 8 /* of uc_sigmask: what lies behind is not the kernel's */

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define FAULTS (sizeof faults / sizeof *faults)

typedef int (*action_function)(int, const struct sigaction *, struct sigaction *);

static struct sigaction programs[FAULTS];
static action_function change; /* the C library's sigaction */
static pid_t owner;            /* 0: nothing is taken */
static uintptr_t jvm_low, jvm_high;
static char held; /* while `programs` changes; signals are blocked then */

static int index_of(int signal) {
    for (size_t i = 0; i < FAULTS; i++) {
        if (faults[i] == signal) {
            return (int) i;
        }
    }
    return -1;
}

/* What the program has said, replaced by `new` unless that is NULL. */
static struct sigaction exchange(int i, const struct sigaction *new) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (__atomic_test_and_set(&held, __ATOMIC_ACQUIRE)) {
    }
    struct sigaction old = programs[i];
    if (new) {
        programs[i] = *new;
    }
    __atomic_clear(&held, __ATOMIC_RELEASE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return old;
}

/* ---- a fault that is not the JVM's */

/* Threads of the library block all signals. */
static int is_librarys(const ucontext_t *of) {
    return verbena_is_inside() || (sigismember(&of->uc_sigmask, SIGTERM)
        && sigismember(&of->uc_sigmask, SIGURG) && sigismember(&of->uc_sigmask, SIGWINCH));
}

/* As without a handler: the instruction is repeated, and the kernel ends the process. */
static void die(int signal, const siginfo_t *info, const ucontext_t *of) {
    static const char in_library[] = "verbena: a fault in the library, or in memory that it was given by the program; "
        "VERBENA_JVM_OPTIONS=-XX:ErrorFile=FILE has the JVM report it\n";
    if (is_librarys(of) && write(STDERR_FILENO, in_library, sizeof in_library - 1) < 0) {
        /* nothing more can be done */
    }
    change(signal, &(struct sigaction) {.sa_handler = SIG_DFL}, NULL);
    if (info->si_code <= 0) { /* sent by a process: nothing repeats it */
        raise(signal);
    }
}

static void pass_on(int signal, siginfo_t *info, void *context) {
    static const struct sigaction none = {.sa_handler = SIG_DFL};
    const ucontext_t *of = context;
    int i = index_of(signal), error = errno;
    if (verbena_recover(info, context)) {
        return;
    }
    struct sigaction action = exchange(i, NULL);
    if (action.sa_handler == SIG_IGN && info->si_code <= 0) {
        return;
    }
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) { /* a fault cannot be ignored */
        die(signal, info, of);
        return;
    }
    if (action.sa_flags & SA_RESETHAND) {
        exchange(i, &none);
    }
    sigset_t interrupted, mask;
    sigemptyset(&interrupted);
    memcpy(&interrupted, &of->uc_sigmask, KERNEL_MASK_BYTES);
    sigorset(&mask, &interrupted, &action.sa_mask);
    if (!(action.sa_flags & SA_NODEFER)) {
        sigaddset(&mask, signal);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = error;
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(signal, info, context);
    } else {
        action.sa_handler(signal);
    }
}

/* ---- what the program says later */

/* sigaction(2) of a caller at `from`; 1 when this is for the C library. */
static int changed_by_program(int signal, const struct sigaction *new, struct sigaction *old, uintptr_t from) {
    int i = index_of(signal);
    if (i < 0 || owner != getpid() /* or vfork(2) */ || (from >= jvm_low && from < jvm_high)) {
        return 1;
    }
    struct sigaction before = exchange(i, new);
    if (old) {
        *old = before;
    }
    return 0;
}

static int find_jvm(struct dl_phdr_info *library, size_t size, void *address) {
    (void) size;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        uintptr_t low = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
        uintptr_t high = low + library->dlpi_phdr[i].p_memsz;
        if (library->dlpi_phdr[i].p_type == PT_LOAD && (uintptr_t) address >= low && (uintptr_t) address < high) {
            jvm_low = low;
            jvm_high = high;
            return 1;
        }
    }
    return 0;
}

/* ---- masks */

/* Keeps the program's signals from a thread that may run Java. Faults stay: Java's code causes them on purpose, and the kernel
 * ends a process that has blocked the fault it causes. So they are not in `before` either, the mask to return to. */
__attribute__((visibility("default"))) void verbena_block_signals(sigset_t *before) {
    sigset_t signals;
    sigfillset(&signals);
    pthread_sigmask(SIG_BLOCK, NULL, before);
    for (size_t i = 0; i < FAULTS; i++) {
        sigdelset(&signals, faults[i]);
        sigdelset(before, faults[i]);
    }
    sigdelset(&signals, SIGTRAP);
    sigdelset(&signals, SIGSTKFLT); /* the JVM's own (start.c) */
    sigdelset(before, SIGTRAP);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

/* ---- taking and giving back */

/* Before the JVM starts, whose code is at `jvm`. */
void verbena_take_faults(void *jvm) {
    void *c = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    change = c ? (action_function) dlsym(c, "sigaction") : NULL;
    if (!change) {
        return;
    }
    dl_iterate_phdr(find_jvm, jvm);
    struct sigaction ours = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&ours.sa_mask);
    for (size_t i = 0; i < FAULTS; i++) {
        change(faults[i], NULL, &programs[i]);
        change(faults[i], &ours, NULL);
    }
    owner = getpid();
    int (**hook)(int, const struct sigaction *, struct sigaction *, uintptr_t) = dlsym(RTLD_DEFAULT, "verbena_sigaction");
    if (hook) {
        __atomic_store_n(hook, changed_by_program, __ATOMIC_RELEASE);
    }
}

/* Once it has started: its handlers may run on the stacks that the program has for handlers, as the program's own would. */
void verbena_settle_faults(void) {
    for (size_t i = 0; owner && i < FAULTS; i++) {
        struct sigaction action;
        change(faults[i], NULL, &action);
        action.sa_flags |= SA_ONSTACK;
        change(faults[i], &action, NULL);
    }
}

/* There is no JVM in this process, or none any more. */
void verbena_give_faults_back(void) {
    for (size_t i = 0; owner && i < FAULTS; i++) {
        change(faults[i], &programs[i], NULL);
    }
    owner = 0;
    held = 0;
}
