/* Signals and forks: the program's own, as with a card. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t rang;

static void ring(int signal) {
    (void) signal;
    rang = 1;
}

static const int programs_own[] = {
    SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGPIPE, SIGCHLD, SIGXFSZ};
#define PROGRAMS_OWN (sizeof programs_own / sizeof *programs_own)

static void write_once(struct ibv_context *context);

static void handle_signals(void) {
    struct sigaction action = {.sa_handler = ring};
    for (size_t i = 0; i < PROGRAMS_OWN; i++) {
        sigaction(programs_own[i], &action, NULL);
    }
}

/* What a program has said of its signals before its first call holds ever after: mpirun waits for its children by SIGCHLD. */
static void signals_are_handled_as_before(void) {
    for (size_t i = 0; i < PROGRAMS_OWN; i++) {
        rang = 0;
        EXPECT(raise(programs_own[i]) == 0 && rang);
    }
    struct sigaction none = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < PROGRAMS_OWN; i++) {
        sigaction(programs_own[i], &none, NULL);
    }
}

/* Waits for the end with a device that it has used. */
static void *stay(void *context) {
    struct ibv_device_attr attributes;
    EXPECT_CODE(0, ibv_query_device(context, &attributes));
    pause(); /* all signals are blocked */
    return NULL;
}

/* A signal that all threads of the program block waits for the one that asks for it, by signalfd(2) as in tgtd, or by
 * sigtimedwait(2). No thread of the library takes it, nor does a call unblock it. */
static void blocked_signals_wait(struct ibv_context *context) {
    sigset_t all, before;
    struct timespec a_second = {.tv_sec = 1};
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_create(&thread, NULL, stay, context);
    write_once(context);
    for (size_t i = 0; i < PROGRAMS_OWN; i++) {
        EXPECT(kill(getpid(), programs_own[i]) == 0);
        EXPECT(sigtimedwait(&all, NULL, &a_second) == programs_own[i]);
    }
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A timer's signal ends a wait for a completion with EINTR: it reaches the thread that waits, not one of the library's. */
static void a_signal_interrupts_a_wait(struct ibv_context *context) {
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, channel, 0), *from;
    struct sigaction action = {.sa_handler = ring};
    struct itimerval soon = {.it_value = {.tv_usec = 20000}, .it_interval = {.tv_usec = 20000}}, never = {{0}, {0}};
    void *own;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    EXPECT_ERRNO(EINTR, ibv_get_cq_event(channel, &from, &own) == -1);
    setitimer(ITIMER_REAL, &never, NULL);
    EXPECT(rang);
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    EXPECT_CODE(0, ibv_destroy_comp_channel(channel));
}

/* A WRITE from one buffer to another, through a queue pair that is its own peer. */
static void write_once(struct ibv_context *context) {
    char source[16] = "a child's own", target[16] = "";
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp *qp = create_rc(pd, cq);
    struct ibv_mr *from = ibv_reg_mr(pd, source, sizeof source, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_mr *to = ibv_reg_mr(pd, target, sizeof target, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT_CODE(0, connect_to(qp, qp));
    struct ibv_sge piece = {.addr = (uintptr_t) source, .length = sizeof source, .lkey = from->lkey};
    struct ibv_send_wr write = {
        .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = (uintptr_t) target, .rkey = to->rkey},
    }, *bad;
    struct ibv_wc wc;
    EXPECT_CODE(0, ibv_post_send(qp, &write, &bad));
    while (ibv_poll_cq(cq, 1, &wc) == 0) {
    }
    EXPECT(wc.status == IBV_WC_SUCCESS && strcmp(source, target) == 0);
    ibv_destroy_qp(qp);
    ibv_dereg_mr(from);
    ibv_dereg_mr(to);
    ibv_destroy_cq(cq);
    ibv_dealloc_pd(pd);
}

/* ---- forks beside traffic */

#define THREADS 3
#define FORKS 5
#define BYTES 8192

static char source[BYTES], target[BYTES];
static atomic_int over;

struct traffic {
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *from, *to;
    int rounds;
};

static struct traffic begin(struct ibv_context *context) {
    struct traffic made = {.pd = ibv_alloc_pd(context), .cq = ibv_create_cq(context, 4, NULL, NULL, 0)};
    made.qp = create_rc(made.pd, made.cq);
    made.from = ibv_reg_mr(made.pd, source, BYTES, IBV_ACCESS_LOCAL_WRITE);
    made.to = ibv_reg_mr(made.pd, target, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT_CODE(0, connect_to(made.qp, made.qp));
    return made;
}

static void end(struct traffic *traffic) {
    EXPECT_CODE(0, ibv_destroy_qp(traffic->qp));
    EXPECT_CODE(0, ibv_dereg_mr(traffic->from));
    EXPECT_CODE(0, ibv_dereg_mr(traffic->to));
    EXPECT_CODE(0, ibv_destroy_cq(traffic->cq));
    EXPECT_CODE(0, ibv_dealloc_pd(traffic->pd));
}

/* Fills the source with a number, writes it to the target, and looks whether it has come. */
static void write_round(struct traffic *traffic) {
    struct ibv_sge piece = {.addr = (uintptr_t) source, .length = BYTES, .lkey = traffic->from->lkey};
    struct ibv_send_wr write = {
        .wr_id = ++traffic->rounds, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_SIGNALED, .wr.rdma = {.remote_addr = (uintptr_t) target, .rkey = traffic->to->rkey},
    }, *bad;
    memset(source, traffic->rounds, BYTES);
    EXPECT_CODE(0, ibv_post_send(traffic->qp, &write, &bad));
    EXPECT_WC(write.wr_id, IBV_WC_SUCCESS, traffic->cq);
    EXPECT(memcmp(source, target, BYTES) == 0);
}

static void *write_all_the_time(void *argument) {
    struct traffic *traffic = argument;
    do {
        write_round(traffic);
    } while (!atomic_load(&over));
    return NULL;
}

static void ended_well(pid_t child) {
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The memory of regions is the child's too, as a copy of the moment of its fork, to read and to write. */
static void *fork_one_after_the_other(void *argument) {
    (void) argument;
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0 && i % 2) {
            execlp("true", "true", (char *) NULL);
            _exit(1);
        }
        if (child == 0) {
            memset(source, 0xEE, BYTES);
            memset(target, 0xDD, BYTES);
            _exit((unsigned char) source[BYTES - 1] != 0xEE || (unsigned char) target[0] != 0xDD);
        }
        EXPECT(child > 0);
        ended_well(child);
    }
    return NULL;
}

/* What ibv_fork_init(3) is for: threads fork while another has requests under way. Both sides keep what is theirs. */
static void forks_beside_traffic(struct ibv_context *context) {
    EXPECT(ibv_is_fork_initialized() == IBV_FORK_UNNEEDED);
    struct traffic traffic = begin(context);
    EXPECT_CODE(0, ibv_fork_init()); /* not too late, for nothing is to be done */
    pthread_t writer, forkers[THREADS];
    pthread_create(&writer, NULL, write_all_the_time, &traffic);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&forkers[i], NULL, fork_one_after_the_other, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(forkers[i], NULL);
    }
    atomic_store(&over, 1);
    pthread_join(writer, NULL);
    write_round(&traffic); /* the parent goes on */
    end(&traffic);
}

int main(void) {
    handle_signals();
    struct ibv_context *context = open_first();
    write_once(context);
    EXPECT(access("/sys/class/infiniband", R_OK) == 0); /* made by Java as well */
    signals_are_handled_as_before();
    blocked_signals_wait(context);
    a_signal_interrupts_a_wait(context);
    forks_beside_traffic(context);
    EXPECT_CODE(0, ibv_close_device(context));
    printf("%d failures\n", failures);
    return failures != 0;
}
