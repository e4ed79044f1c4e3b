/* WRITEs of 64 bytes in rounds of 16, four rounds under way, and one doorbell for as many as the first argument says: a program for
 * `card predict`. */
#include "check.h"

enum { BYTES = 64, ROUND = 16, WINDOW = 64, REQUESTS = 1600 };

int main(int argc, char **argv) {
    int batch = argc > 1 ? atoi(argv[1]) : 1;
    static char memory[2 * BYTES];
    struct ibv_context *context = open_first();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 2 * WINDOW, NULL, NULL, 0);
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_qp_init_attr options = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = WINDOW, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *near = ibv_create_qp(pd, &options), *far = ibv_create_qp(pd, &options);
    EXPECT_CODE(0, connect_to(near, far));
    EXPECT_CODE(0, connect_to(far, near));
    struct ibv_sge sge = {(uintptr_t) memory, BYTES, mr->lkey};
    struct ibv_send_wr requests[ROUND], *bad;
    for (int i = 0; i < batch; i++) {
        requests[i] = (struct ibv_send_wr) {.wr_id = i, .next = i + 1 < batch ? &requests[i + 1] : NULL, .sg_list = &sge,
            .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
            .wr.rdma = {(uintptr_t) memory + BYTES, mr->rkey}};
    }
    for (int posted = 0, ended = 0; ended < REQUESTS;) {
        if (posted < REQUESTS && posted - ended < WINDOW) {
            for (int i = 0; i < ROUND; i += batch) {
                EXPECT_CODE(0, ibv_post_send(near, requests, &bad));
            }
            posted += ROUND;
        } else {
            for (int i = 0; i < ROUND; i++) {
                EXPECT(next_of(cq, __LINE__).status == IBV_WC_SUCCESS);
            }
            ended += ROUND;
        }
    }
    return failures > 0;
}
