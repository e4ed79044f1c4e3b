/* What posting and polling cost by themselves: requests that end at once, because the queue pair is in ERR. Prints
 * nanoseconds for each request: one at a time, and 16 with one call. `verbena bench abi` runs it beside the same in Java. */
#include <time.h>

#include "check.h"

enum { BATCH = 16, WARM_SECONDS = 3, SECONDS = 1 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double nanos(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_send_wr *list, int count, double seconds) {
    struct ibv_send_wr *bad;
    struct ibv_wc wc[BATCH];
    long done = 0;
    double start = now(), end = start;
    while (end < start + seconds) {
        for (int round = 0; round < 1000; round++) {
            if (ibv_post_send(qp, list, &bad)) {
                perror("ibv_post_send");
                exit(1);
            }
            for (int left = count; left > 0;) {
                int n = ibv_poll_cq(cq, left, wc);
                if (n < 0) {
                    exit(1);
                }
                left -= n;
            }
            done += count;
        }
        end = now();
    }
    return (end - start) / done * 1e9;
}

int main(void) {
    static char buffer[64];
    struct ibv_context *context = open_first();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 4 * BATCH, NULL, NULL, 0);
    struct ibv_mr *mr = ibv_reg_mr(pd, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp_init_attr options = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4 * BATCH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct ibv_qp *qp = ibv_create_qp(pd, &options);
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    EXPECT_CODE(0, ibv_modify_qp(qp, &error, IBV_QP_STATE));

    struct ibv_sge piece = {.addr = (uintptr_t) buffer, .length = 8, .lkey = mr->lkey};
    struct ibv_send_wr list[BATCH];
    for (int i = 0; i < BATCH; i++) {
        list[i] = (struct ibv_send_wr) {
            .wr_id = i, .next = i + 1 < BATCH ? &list[i + 1] : NULL, .sg_list = &piece, .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
            .wr.rdma = {.remote_addr = (uintptr_t) buffer, .rkey = mr->rkey},
        };
    }
    nanos(qp, cq, list, BATCH, WARM_SECONDS);
    nanos(qp, cq, &list[BATCH - 1], 1, WARM_SECONDS);
    printf("%.1f %.1f\n", nanos(qp, cq, &list[BATCH - 1], 1, SECONDS), nanos(qp, cq, list, BATCH, SECONDS));
    ibv_destroy_qp(qp);
    ibv_dereg_mr(mr);
    ibv_destroy_cq(cq);
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
    return failures != 0;
}
