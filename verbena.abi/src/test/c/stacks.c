/* Calls from where a JVM does not expect them: coroutines, threads with small stacks, signal handlers, exit(3) in one.
 * Without an argument: all of it; the others are processes of the test's own. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

#define ROOM (64 << 10)

static struct ibv_context *context;
static ucontext_t caller, coroutine;

/* A WRITE from one buffer to another, through a queue pair that is its own peer. */
static void write_once(void) {
    char source[16] = "from anywhere", target[16] = "";
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp *qp = create_rc(pd, cq);
    struct ibv_mr *from = ibv_reg_mr(pd, source, sizeof source, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_mr *to = ibv_reg_mr(pd, target, sizeof target, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT_CODE(0, connect_to(qp, qp));
    struct ibv_sge piece = {(uintptr_t) source, sizeof source, from->lkey};
    struct ibv_send_wr write = {.sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad;
    struct ibv_wc wc;
    write.wr.rdma.remote_addr = (uintptr_t) target;
    write.wr.rdma.rkey = to->rkey;
    EXPECT_CODE(0, ibv_post_send(qp, &write, &bad));
    while (ibv_poll_cq(cq, 1, &wc) == 0) {
    }
    EXPECT(wc.status == IBV_WC_SUCCESS && strcmp(target, source) == 0);
    ibv_destroy_qp(qp);
    ibv_destroy_cq(cq);
    ibv_dereg_mr(from);
    ibv_dereg_mr(to);
    ibv_dealloc_pd(pd);
}

static void in_coroutine(void) {
    if (!context) {
        context = open_first(); /* starts the JVM */
    }
    write_once();
}

static void run_coroutine(void) {
    char *stack = malloc(ROOM);
    getcontext(&coroutine);
    coroutine.uc_stack = (stack_t) {.ss_sp = stack, .ss_size = ROOM};
    coroutine.uc_link = &caller;
    makecontext(&coroutine, in_coroutine, 0);
    swapcontext(&caller, &coroutine);
    free(stack);
}

static void *in_thread(void *nothing) {
    write_once();
    run_coroutine();
    write_once();
    return nothing;
}

/* A thread in Java takes faults on purpose: one that blocks SIGSEGV would end the process, now and then. */
static void no_thread_blocks_faults(void) {
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *each = readdir(threads); each; each = readdir(threads)) {
        char path[300], line[200];
        unsigned long long blocked;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", each->d_name);
        FILE *status = each->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (status && fgets(line, sizeof line, status)) {
            if (sscanf(line, "SigBlk: %llx", &blocked) == 1) {
                EXPECT((blocked >> (SIGSEGV - 1) & 1) == 0);
            }
        }
        if (status) {
            fclose(status);
        }
    }
    closedir(threads);
}

/* A program whose threads block all signals, as daemons do, which wait for them with sigwait(3). */
static void open_with_all_signals_blocked(void) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    context = open_first();
    no_thread_blocks_faults();
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void threads_with_small_stacks(void) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, ROOM);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        EXPECT_CODE(0, pthread_create(&thread, &small, in_thread, NULL));
        pthread_join(thread, NULL);
    }
}

/* ---- signals */

static struct ibv_cq *polled;
static volatile sig_atomic_t rings, refusals, exits_at;

/* Calls a verb, which is refused when it has interrupted one. Ends the process after so many. */
static void ring(int signal) {
    (void) signal;
    struct ibv_wc wc;
    int n = ibv_poll_cq(polled, 1, &wc);
    refusals += n < 0;
    if (n > 0 || n < -EDEADLK) {
        _exit(2);
    }
    if (++rings == exits_at) {
        exit(0);
    }
}

static void poll_under_signals(int until_exit) {
    struct sigaction action = {.sa_handler = ring};
    struct itimerval soon = {.it_value = {.tv_usec = 200}, .it_interval = {.tv_usec = 200}}, never = {{0}, {0}};
    struct ibv_wc wc;
    polled = ibv_create_cq(context, 4, NULL, NULL, 0);
    exits_at = until_exit;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    while (rings < 2000) {
        ibv_poll_cq(polled, 1, &wc);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    EXPECT(refusals > 0);
    EXPECT_CODE(0, ibv_destroy_cq(polled));
}

/* Another process of this program: how it ended, within so many seconds. */
static int ended(const char *program, const char *what, int kill_by) {
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, what, NULL);
        _exit(127);
    }
    int status = -1;
    for (int i = 0; i < 2000; i++) {
        if (waitpid(child, &status, WNOHANG) == child) {
            return status;
        }
        if (kill_by && i >= 100) {
            kill(child, kill_by);
        }
        nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

int main(int count, char **arguments) {
    if (count == 1) {
        EXPECT_CODE(0, ended(arguments[0], "coroutine", 0));
        EXPECT_CODE(0, ended(arguments[0], "blocked", 0));
        EXPECT_CODE(0, ended(arguments[0], "signals", 0));
        EXPECT_CODE(0, ended(arguments[0], "exit", 0));
        EXPECT_CODE(SIGTERM, ended(arguments[0], "poll", SIGTERM));
        return failures != 0;
    }
    if (strcmp(arguments[1], "coroutine") == 0) {
        run_coroutine();
        no_thread_blocks_faults();
    } else if (strcmp(arguments[1], "blocked") == 0) {
        open_with_all_signals_blocked();
    } else {
        context = open_first();
    }
    if (strcmp(arguments[1], "signals") == 0 || strcmp(arguments[1], "exit") == 0) {
        poll_under_signals(arguments[1][0] == 'e' ? 100 : 0);
    } else if (strcmp(arguments[1], "poll") == 0) {
        struct ibv_wc wc;
        for (polled = ibv_create_cq(context, 4, NULL, NULL, 0);;) {
            ibv_poll_cq(polled, 1, &wc);
        }
    }
    write_once();
    run_coroutine();
    threads_with_small_stacks();
    EXPECT_CODE(0, ibv_close_device(context));
    return failures != 0;
}
