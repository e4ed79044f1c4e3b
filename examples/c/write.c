/* RDMA in C, start to end: one process, two queue pairs of one device, a WRITE from one buffer into the other.
 *
 *   cc -o write write.c -libverbs && verbena run ./write        (or ./write, with a card)
 *
 * Everything here is plain libibverbs; nothing knows what device it is.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int ok, const char *what) {
    if (!ok) {
        perror(what);
        exit(1);
    }
}

/* Brings a queue pair from RESET to RTS, with its peer's number and address. */
static void connect_to(struct ibv_qp *qp, int peer_qpn, union ibv_gid peer_gid, enum ibv_mtu mtu) {
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    check(!ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");

    struct ibv_qp_attr rtr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = mtu,
        .dest_qp_num = peer_qpn,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer_gid, .hop_limit = 64}},
    };
    check(!ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                                       | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");

    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    check(!ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN
                                       | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

int main(void) {
    /* a device, a protection domain, a completion queue */
    int count;
    struct ibv_device **devices = ibv_get_device_list(&count);
    check(devices && count > 0, "no device");
    struct ibv_context *context = ibv_open_device(devices[0]);
    check(context != NULL, "ibv_open_device");
    printf("device %s\n", ibv_get_device_name(devices[0]));
    ibv_free_device_list(devices);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    check(pd != NULL, "ibv_alloc_pd");
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    check(cq != NULL, "ibv_create_cq");

    /* memory: ours, and what is to be written */
    char source[64] = "written by RDMA", target[64] = "";
    struct ibv_mr *from = ibv_reg_mr(pd, source, sizeof source, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_mr *to = ibv_reg_mr(pd, target, sizeof target, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    check(from && to, "ibv_reg_mr");

    /* two queue pairs, each the other's peer */
    struct ibv_qp_init_attr options = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct ibv_qp *a = ibv_create_qp(pd, &options), *b = ibv_create_qp(pd, &options);
    check(a && b, "ibv_create_qp");
    union ibv_gid gid;
    struct ibv_port_attr port;
    check(!ibv_query_gid(context, 1, 0, &gid), "ibv_query_gid");
    check(!ibv_query_port(context, 1, &port), "ibv_query_port");
    connect_to(a, b->qp_num, gid, port.active_mtu);
    connect_to(b, a->qp_num, gid, port.active_mtu);

    /* the request, and its completion */
    struct ibv_sge piece = {.addr = (uintptr_t) source, .length = sizeof source, .lkey = from->lkey};
    struct ibv_send_wr write = {
        .wr_id = 7, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = (uintptr_t) target, .rkey = to->rkey},
    }, *bad;
    check(!ibv_post_send(a, &write, &bad), "ibv_post_send");
    struct ibv_wc completion;
    int n;
    while ((n = ibv_poll_cq(cq, 1, &completion)) == 0) {
    }
    check(n == 1, "ibv_poll_cq");
    printf("request %d: %s\n", (int) completion.wr_id, ibv_wc_status_str(completion.status));
    printf("the other buffer says: %s\n", target);

    ibv_destroy_qp(a);
    ibv_destroy_qp(b);
    ibv_dereg_mr(from);
    ibv_dereg_mr(to);
    ibv_destroy_cq(cq);
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
    return completion.status == IBV_WC_SUCCESS && strcmp(source, target) == 0 ? 0 : 1;
}
