/* Forks, one in the other and out of threads: each process has devices of its own, and ends when it says so. Run again with
 * every malloc that is preloaded elsewhere. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define SECONDS_MAX 60
#define FORKS 16

static volatile int is_over;

/* Memory passes through a queue pair, and between allocators. */
static void write_once(struct ibv_context *context) {
    char *source = malloc(64), *target = calloc(1, 64);
    strcpy(source, "of each process");
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp *qp = create_rc(pd, cq);
    struct ibv_mr *from = ibv_reg_mr(pd, source, 64, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_mr *to = ibv_reg_mr(pd, target, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT_CODE(0, connect_to(qp, qp));
    struct ibv_sge piece = {.addr = (uintptr_t) source, .length = 64, .lkey = from->lkey};
    struct ibv_send_wr write = {
        .wr_id = 1, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = (uintptr_t) target, .rkey = to->rkey},
    }, *bad;
    EXPECT_CODE(0, ibv_post_send(qp, &write, &bad));
    EXPECT_WC(1, IBV_WC_SUCCESS, cq);
    EXPECT(strcmp(source, target) == 0);
    ibv_destroy_qp(qp);
    ibv_dereg_mr(from);
    ibv_dereg_mr(to);
    ibv_destroy_cq(cq);
    ibv_dealloc_pd(pd);
    free(source);
    free(target);
}

static void ends(pid_t child, int line) {
    int status = -1;
    for (time_t end = time(NULL) + SECONDS_MAX; waitpid(child, &status, WNOHANG) == 0;) {
        if (time(NULL) >= end) {
            kill(child, SIGKILL);
        }
        nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL);
    }
    if (status != 0) {
        printf("line %d: the child ended with status 0x%x\n", line, status);
        failures++;
    }
}

#define ENDS(child) ends(child, __LINE__)

/* Starts at a device of its own, and has a child that does so too. */
static void use_devices(int depth) {
    struct ibv_context *context = open_first();
    write_once(context);
    fflush(stdout);
    pid_t child = depth ? fork() : -1;
    if (child == 0) {
        failures = 0;
        EXPECT_ERRNO(EINVAL, ibv_alloc_pd(context) == NULL); /* the parent's */
        use_devices(depth - 1);
        exit(failures != 0);
    }
    if (child > 0) {
        ENDS(child);
    }
    write_once(context); /* goes on */
    EXPECT_CODE(0, ibv_close_device(context));
}

static void *call_all_the_time(void *context) {
    while (!is_over) {
        ibv_dealloc_pd(ibv_alloc_pd(context));
    }
    return NULL;
}

/* A thread that has called before it forks; the child ends as programs do. */
static void *fork_from_here(void *context) {
    for (int i = 0; i < FORKS; i++) {
        write_once(context);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            i % 2 ? exit(0) : pthread_exit(NULL);
        }
        ENDS(child);
    }
    return NULL;
}

static void fork_from_a_thread(void) {
    struct ibv_context *context = open_first();
    pthread_t forker, caller;
    EXPECT_CODE(0, pthread_create(&caller, NULL, call_all_the_time, context));
    EXPECT_CODE(0, pthread_create(&forker, NULL, fork_from_here, context));
    pthread_join(forker, NULL);
    is_over = 1;
    pthread_join(caller, NULL);
    EXPECT_CODE(0, ibv_close_device(context));
}

int main(void) {
    use_devices(2);
    fork_from_a_thread();
    return failures != 0;
}
