/* A device whose UDP port another user's process has is opened by any number of programs, and answers what they ask; only queue
 * pairs are refused. */
#include "check.h"

int main(void) {
    struct ibv_context *context = open_first(), *second = open_first();
    struct ibv_device_attr has;
    struct ibv_port_attr port;
    union ibv_gid gid;
    EXPECT_CODE(0, ibv_query_device(context, &has));
    EXPECT(has.phys_port_cnt == 1 && has.max_qp > 0);
    EXPECT_CODE(0, ibv_query_port(context, 1, &port));
    EXPECT(port.state == IBV_PORT_ACTIVE && port.gid_tbl_len == 1);
    EXPECT_CODE(0, ibv_query_gid(context, 1, 0, &gid));
    EXPECT(gid.raw[12] == 127 && gid.raw[15] == 8);

    static char memory[4096];
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 8, NULL, NULL, 0);
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
    EXPECT(pd && cq && mr);
    struct ibv_wc wc;
    EXPECT(ibv_poll_cq(cq, 1, &wc) == 0);
    EXPECT_ERRNO(EIO, create_rc(pd, cq) == NULL);
    EXPECT_ERRNO(EIO, create_rc(pd, cq) == NULL);

    EXPECT_CODE(0, ibv_dereg_mr(mr));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
    EXPECT_CODE(0, ibv_close_device(second));
    EXPECT_CODE(0, ibv_close_device(context));
    return failures > 0;
}
