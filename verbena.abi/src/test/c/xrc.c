/* Extended reliable connections: ibv_open_xrcd(3), ibv_create_srq_ex(3), ibv_create_qp_ex(3), ibv_open_qp(3),
 * ibv_get_srq_num(3) and ibv_wr_set_xrc_srqn(3). */
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

#define BYTES 4096

static char buffer[BYTES] __attribute__((aligned(8)));

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, int fd, int oflags) {
    struct ibv_xrcd_init_attr init = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = oflags,
    };
    return ibv_open_xrcd(context, &init);
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_xrcd *xrcd, struct ibv_cq *cq) {
    struct ibv_srq_init_attr_ex init = {
        .attr = {.max_wr = 8, .max_sge = 1}, .srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = xrcd, .cq = cq,
        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
    };
    return ibv_create_srq_ex(pd->context, &init);
}

static struct ibv_qp *create_target(struct ibv_context *context, struct ibv_xrcd *xrcd) {
    struct ibv_qp_init_attr_ex init = {
        .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd, .qp_context = buffer,
    };
    return ibv_create_qp_ex(context, &init);
}

/* Without a completion queue for receives, as ibv_xsrq_pingpong does. */
static struct ibv_qp *create_initiator(struct ibv_pd *pd, struct ibv_cq *cq) {
    struct ibv_qp_init_attr_ex init = {
        .qp_type = IBV_QPT_XRC_SEND, .send_cq = cq, .sq_sig_all = 1, .pd = pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ,
        .cap = {.max_send_wr = 8, .max_send_sge = 1, .max_inline_data = 64},
    };
    return ibv_create_qp_ex(pd->context, &init);
}

static int connect_ends(struct ibv_qp *initiator, struct ibv_qp *target) {
    union ibv_gid gid;
    ibv_query_gid(initiator->context, 1, 0, &gid);
    struct ibv_qp_attr init = {
        .qp_state = IBV_QPS_INIT, .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
    };
    struct ibv_qp_attr rtr = {
        .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}},
    };
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    int to_rts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN
        | IBV_QP_MAX_QP_RD_ATOMIC;
    int of_responder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    int code = ibv_modify_qp(initiator, &init, to_init) | ibv_modify_qp(target, &init, to_init);
    rtr.dest_qp_num = initiator->qp_num;
    code |= ibv_modify_qp(target, &rtr, to_rtr | of_responder);
    /* Programs name what the other half has; the kernel drops it unread. What neither half takes in this step is refused. */
    rtr.dest_qp_num = target->qp_num;
    rtr.min_rnr_timer = 77;
    EXPECT_CODE(EINVAL, ibv_modify_qp(initiator, &rtr, to_rtr | of_responder | IBV_QP_RETRY_CNT));
    code |= ibv_modify_qp(initiator, &rtr, to_rtr | of_responder);
    code |= ibv_modify_qp(initiator, &rts, to_rts | of_responder);
    code |= ibv_modify_qp(initiator, &rtr, of_responder);
    rts.rnr_retry = rts.retry_cnt = 99;
    EXPECT_CODE(EINVAL, ibv_modify_qp(target, &rts, to_rts | IBV_QP_RQ_PSN));
    code |= ibv_modify_qp(target, &rts, to_rts);
    code |= ibv_modify_qp(target, &rts, IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
    return code;
}

static uint32_t number_of(struct ibv_srq *srq) {
    uint32_t number = ~0u;
    EXPECT_CODE(0, ibv_get_srq_num(srq, &number));
    EXPECT(number <= 0xFFFFFF);
    return number;
}

/* Descriptors of one file lead to one domain. */
static void domains_by_file(struct ibv_context *context, struct ibv_pd *pd, struct ibv_cq *cq) {
    char path[] = "/tmp/verbena-xrc-XXXXXX";
    int fd = mkstemp(path), again = open(path, O_RDONLY);
    EXPECT_ERRNO(EAGAIN, !open_xrcd(context, fd, 0));
    struct ibv_xrcd *one = open_xrcd(context, fd, O_CREAT);
    EXPECT(one && one->context == context);
    EXPECT_ERRNO(EINVAL, !open_xrcd(context, again, O_CREAT | O_EXCL));
    EXPECT_ERRNO(EBADF, !open_xrcd(context, 9999, O_CREAT));
    struct ibv_xrcd *other = open_xrcd(context, again, 0);
    EXPECT(other && other != one);
    unlink(path);
    close(fd);
    close(again);

    /* a queue of the one reference is reached through a target of the other */
    struct ibv_srq *srq = create_srq(pd, one, cq);
    struct ibv_qp *target = create_target(context, other), *initiator = create_initiator(pd, cq);
    EXPECT(srq && target && initiator);
    EXPECT_CODE(0, connect_ends(initiator, target));
    struct ibv_recv_wr receive = {.wr_id = 5}, *bad_receive;
    EXPECT_CODE(0, ibv_post_srq_recv(srq, &receive, &bad_receive));
    struct ibv_send_wr send = {.wr_id = 1, .opcode = IBV_WR_SEND}, *bad;
    send.qp_type.xrc.remote_srqn = number_of(srq);
    EXPECT_CODE(0, ibv_post_send(initiator, &send, &bad));
    struct ibv_wc first = next_of(cq, __LINE__), second = next_of(cq, __LINE__);
    EXPECT(first.wr_id + second.wr_id == 6 && !first.status && !second.status);
    EXPECT((first.wr_id == 5 ? first : second).qp_num == target->qp_num);

    EXPECT_CODE(0, ibv_close_xrcd(one));
    EXPECT_CODE(EBUSY, ibv_close_xrcd(other));
    EXPECT_CODE(0, ibv_destroy_srq(srq));
    EXPECT_CODE(EBUSY, ibv_close_xrcd(other));
    EXPECT_CODE(0, ibv_destroy_qp(target));
    EXPECT_CODE(0, ibv_destroy_qp(initiator));
    EXPECT_CODE(0, ibv_close_xrcd(other));
}

/* A target lives as long as there is a reference to it. */
static void targets_are_shared(struct ibv_context *context) {
    struct ibv_xrcd *xrcd = open_xrcd(context, -1, O_CREAT), *other = open_xrcd(context, -1, O_CREAT);
    struct ibv_qp *target = create_target(context, xrcd);
    EXPECT(target && target->qp_type == IBV_QPT_XRC_RECV && target->qp_context == buffer);
    struct ibv_qp_open_attr wanted = {
        .comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE | IBV_QP_OPEN_ATTR_CONTEXT,
        .qp_num = target->qp_num, .xrcd = xrcd, .qp_type = IBV_QPT_XRC_RECV, .qp_context = &wanted,
    };
    struct ibv_qp *opened = ibv_open_qp(context, &wanted);
    EXPECT(opened && opened != target && opened->qp_num == target->qp_num && opened->qp_context == &wanted);
    wanted.xrcd = other;
    EXPECT_ERRNO(EINVAL, !ibv_open_qp(context, &wanted));
    EXPECT_CODE(0, ibv_destroy_qp(target));
    struct ibv_qp_attr attributes;
    struct ibv_qp_init_attr init;
    EXPECT_CODE(0, ibv_query_qp(opened, &attributes, IBV_QP_STATE, &init));
    EXPECT(init.qp_type == IBV_QPT_XRC_RECV && attributes.qp_state == IBV_QPS_RESET);
    EXPECT_CODE(EBUSY, ibv_close_xrcd(xrcd));
    EXPECT_CODE(0, ibv_destroy_qp(opened));
    EXPECT_CODE(0, ibv_close_xrcd(xrcd));
    EXPECT_CODE(0, ibv_close_xrcd(other));
}

static void mistakes(struct ibv_context *context, struct ibv_pd *pd, struct ibv_cq *cq) {
    struct ibv_xrcd *xrcd = open_xrcd(context, -1, O_CREAT);
    struct ibv_xrcd_init_attr nothing = {0};
    EXPECT_ERRNO(EINVAL, !ibv_open_xrcd(context, &nothing));
    struct ibv_srq_init_attr basic = {.attr = {.max_wr = 1, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &basic), *named = create_srq(pd, xrcd, cq);
    uint32_t number;
    EXPECT_CODE(EOPNOTSUPP, ibv_get_srq_num(srq, &number));
    struct ibv_srq_init_attr_ex no_queue = {
        .attr = {.max_wr = 8, .max_sge = 1}, .srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = xrcd,
        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD,
    };
    EXPECT_ERRNO(EINVAL, !ibv_create_srq_ex(context, &no_queue));
    struct ibv_qp_init_attr rc = {
        .send_cq = cq, .recv_cq = cq, .srq = named, .qp_type = IBV_QPT_RC, .cap = {.max_send_wr = 1, .max_send_sge = 1},
    };
    EXPECT_ERRNO(EINVAL, !ibv_create_qp(pd, &rc));
    struct ibv_qp *target = create_target(context, xrcd), *initiator = create_initiator(pd, cq);
    EXPECT_CODE(0, connect_ends(initiator, target));
    struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad = NULL;
    struct ibv_recv_wr receive = {0}, *bad_receive = NULL;
    EXPECT_CODE(EINVAL, ibv_post_send(target, &send, &bad));
    EXPECT_CODE(EINVAL, ibv_post_recv(target, &receive, &bad_receive));
    EXPECT_CODE(EINVAL, ibv_post_recv(initiator, &receive, &bad_receive));

    /* a queue that is none: both ends break */
    send.wr_id = 3;
    send.qp_type.xrc.remote_srqn = number_of(named) ^ 1;
    EXPECT_CODE(0, ibv_post_send(initiator, &send, &bad));
    EXPECT_WC(3, IBV_WC_REM_ACCESS_ERR, cq);
    struct ibv_async_event event;
    do {
        EXPECT_CODE(0, ibv_get_async_event(context, &event));
        ibv_ack_async_event(&event);
    } while (event.event_type == IBV_EVENT_COMM_EST);
    EXPECT(event.event_type == IBV_EVENT_QP_ACCESS_ERR && event.element.qp == target);
    EXPECT_CODE(0, ibv_destroy_qp(target));
    EXPECT_CODE(0, ibv_destroy_qp(initiator));
    EXPECT_CODE(0, ibv_destroy_srq(srq));
    EXPECT_CODE(0, ibv_destroy_srq(named));
    EXPECT_CODE(0, ibv_close_xrcd(xrcd));
}

/* Requests one call at a time. */
static void extended_posting(struct ibv_context *context, struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_mr *mr) {
    struct ibv_xrcd *xrcd = open_xrcd(context, -1, O_CREAT);
    struct ibv_srq *srq = create_srq(pd, xrcd, cq);
    struct ibv_qp *target = create_target(context, xrcd), *initiator = create_initiator(pd, cq);
    EXPECT_CODE(0, connect_ends(initiator, target));
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(initiator);
    strcpy(buffer + 1000, "read through a target");
    ibv_wr_start(ex);
    ex->wr_id = 7;
    ibv_wr_rdma_read(ex, mr->rkey, (uintptr_t) buffer + 1000);
    ibv_wr_set_xrc_srqn(ex, number_of(srq));
    ibv_wr_set_sge(ex, mr->lkey, (uintptr_t) buffer, 32);
    EXPECT_CODE(0, ibv_wr_complete(ex));
    EXPECT_WC(7, IBV_WC_SUCCESS, cq);
    EXPECT(strcmp(buffer, buffer + 1000) == 0);
    ibv_wr_start(ex);
    ibv_wr_send(ex);
    ibv_wr_set_sge(ex, mr->lkey, (uintptr_t) buffer, 32);
    EXPECT_CODE(EINVAL, ibv_wr_complete(ex)); /* to no queue */
    EXPECT_CODE(0, ibv_destroy_qp(initiator));
    EXPECT_CODE(0, ibv_destroy_qp(target));
    EXPECT_CODE(0, ibv_destroy_srq(srq));
    EXPECT_CODE(0, ibv_close_xrcd(xrcd));
}

int main(void) {
    struct ibv_context *context = open_first();
    struct ibv_device_attr attributes;
    EXPECT_CODE(0, ibv_query_device(context, &attributes));
    EXPECT(attributes.device_cap_flags & IBV_DEVICE_XRC);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_mr *mr = ibv_reg_mr(pd, buffer, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    domains_by_file(context, pd, cq);
    targets_are_shared(context);
    mistakes(context, pd, cq);
    extended_posting(context, pd, cq, mr);
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
    EXPECT(open_xrcd(context, -1, O_CREAT) != NULL); /* goes with its device */
    EXPECT_CODE(0, ibv_close_device(context));
    return failures != 0;
}
