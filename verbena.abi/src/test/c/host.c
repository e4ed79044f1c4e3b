/* Signals and forks: the program's own, as with a card. */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t rang;

static void ring(int signal) {
    (void) signal;
    rang = 1;
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

static void a_child_has_devices_of_its_own(struct ibv_context *parents) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        EXPECT_ERRNO(EINVAL, ibv_alloc_pd(parents) == NULL);
        struct ibv_context *own = open_first();
        write_once(own);
        EXPECT_CODE(0, ibv_close_device(own));
        fflush(stdout);
        _exit(failures != 0);
    }
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    struct ibv_context *context = open_first();
    a_signal_interrupts_a_wait(context);
    a_child_has_devices_of_its_own(context);
    write_once(context); /* the parent goes on */
    EXPECT_CODE(0, ibv_close_device(context));
    printf("%d failures\n", failures);
    return failures != 0;
}
