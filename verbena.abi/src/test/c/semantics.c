/* What requests, receives, windows and regions mean where a library could easily mean something else; the words of the
 * standard and of the man pages decide. */
#include "check.h"

#define BYTES 4096

static char buffer[BYTES] __attribute__((aligned(8)));

/* Two connected queue pairs and what they need, each with its own completion queue. */
struct pair {
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq_a, *cq_b;
    struct ibv_qp *a, *b;
};

static struct ibv_qp *create(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq) {
    struct ibv_qp_init_attr options = {
        .send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
        .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 1},
    };
    return ibv_create_qp(pd, &options);
}

static struct pair connect_pair(struct ibv_context *context, struct ibv_srq *srq_of_b) {
    struct pair made = {.pd = ibv_alloc_pd(context)};
    made.mr = ibv_reg_mr(made.pd, buffer, BYTES,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC
            | IBV_ACCESS_MW_BIND);
    made.cq_a = ibv_create_cq(context, 16, NULL, NULL, 0);
    made.cq_b = ibv_create_cq(context, 16, NULL, NULL, 0);
    made.a = create(made.pd, made.cq_a, NULL);
    made.b = create(made.pd, made.cq_b, srq_of_b);
    if (!made.a || !made.b || connect_to(made.a, made.b) || connect_to(made.b, made.a)) {
        perror("no pair");
        exit(1);
    }
    return made;
}

static void close_pair(struct pair *pair) {
    EXPECT_CODE(0, ibv_destroy_qp(pair->a));
    EXPECT_CODE(0, ibv_destroy_qp(pair->b));
    EXPECT_CODE(0, ibv_destroy_cq(pair->cq_a));
    EXPECT_CODE(0, ibv_destroy_cq(pair->cq_b));
    EXPECT_CODE(0, ibv_dereg_mr(pair->mr));
    EXPECT_CODE(0, ibv_dealloc_pd(pair->pd));
}

static int post(struct ibv_qp *qp, struct ibv_send_wr wr) {
    struct ibv_send_wr *bad;
    return ibv_post_send(qp, &wr, &bad);
}

static struct ibv_sge piece(struct ibv_mr *mr, int from, int length) {
    return (struct ibv_sge) {.addr = (uintptr_t) buffer + from, .length = length, .lkey = mr->lkey};
}

static int send_bytes(struct pair *pair, uint64_t number, int length) {
    struct ibv_sge sge = piece(pair->mr, 0, length);
    return post(pair->a, (struct ibv_send_wr) {.wr_id = number, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1});
}

static int receive_at_b(struct pair *pair, uint64_t number) {
    struct ibv_recv_wr wr = {.wr_id = number}, *bad;
    return ibv_post_recv(pair->b, &wr, &bad);
}

/* Receives from a shared queue are checked with that queue's domain, all else with the queue pair's. */
static void a_shared_queue_of_another_domain(struct ibv_context *context) {
    static char elsewhere[64];
    struct ibv_pd *other = ibv_alloc_pd(context);
    struct ibv_mr *mr = ibv_reg_mr(other, elsewhere, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_srq_init_attr few = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(other, &few);
    struct pair pair = connect_pair(context, srq);

    struct ibv_sge into = {.addr = (uintptr_t) elsewhere, .length = 64, .lkey = mr->lkey};
    struct ibv_recv_wr receive = {.wr_id = 5, .sg_list = &into, .num_sge = 1}, *bad;
    EXPECT_CODE(0, ibv_post_srq_recv(srq, &receive, &bad));
    strcpy(buffer, "into the other domain");
    EXPECT_CODE(0, send_bytes(&pair, 1, 32));
    EXPECT_WC(1, IBV_WC_SUCCESS, pair.cq_a);
    EXPECT_WC(5, IBV_WC_SUCCESS, pair.cq_b);
    EXPECT(strcmp(elsewhere, buffer) == 0);

    /* the queue pair's own memory is no memory of that queue */
    into = piece(pair.mr, 0, 64);
    receive.wr_id = 6;
    EXPECT_CODE(0, ibv_post_srq_recv(srq, &receive, &bad));
    EXPECT_CODE(0, send_bytes(&pair, 2, 32));
    EXPECT_WC(6, IBV_WC_LOC_PROT_ERR, pair.cq_b);
    EXPECT_WC(2, IBV_WC_REM_OP_ERR, pair.cq_a);
    close_pair(&pair);

    /* and the queue's memory is not open to the queue pair's peer */
    pair = connect_pair(context, srq);
    struct ibv_sge from = piece(pair.mr, 0, 8);
    struct ibv_send_wr write = {.wr_id = 3, .opcode = IBV_WR_RDMA_WRITE, .sg_list = &from, .num_sge = 1};
    write.wr.rdma.remote_addr = (uintptr_t) elsewhere;
    write.wr.rdma.rkey = mr->rkey;
    EXPECT_CODE(0, post(pair.a, write));
    EXPECT_WC(3, IBV_WC_REM_ACCESS_ERR, pair.cq_a);
    close_pair(&pair);
    EXPECT_CODE(0, ibv_destroy_srq(srq));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    EXPECT_CODE(0, ibv_dealloc_pd(other));
}

static void a_refused_write_with_immediate(struct ibv_context *context) {
    struct pair pair = connect_pair(context, NULL);
    EXPECT_CODE(0, receive_at_b(&pair, 7));
    EXPECT_CODE(0, receive_at_b(&pair, 8));
    struct ibv_sge from = piece(pair.mr, 0, 8);
    struct ibv_send_wr write = {.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .sg_list = &from, .num_sge = 1};
    write.wr.rdma.remote_addr = (uintptr_t) buffer;
    write.wr.rdma.rkey = pair.mr->rkey ^ 0x100;
    EXPECT_CODE(0, post(pair.a, write));
    EXPECT_WC(1, IBV_WC_REM_ACCESS_ERR, pair.cq_a);
    EXPECT_WC(7, IBV_WC_LOC_ACCESS_ERR, pair.cq_b);
    EXPECT_WC(8, IBV_WC_WR_FLUSH_ERR, pair.cq_b);
    close_pair(&pair);
}

/* ---- windows of type 2 */

static int bind(struct ibv_qp *qp, uint64_t number, struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr) {
    struct ibv_send_wr wr = {.wr_id = number, .opcode = IBV_WR_BIND_MW};
    wr.bind_mw.mw = mw;
    wr.bind_mw.rkey = rkey;
    wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {
        .mr = mr, .addr = (uintptr_t) buffer, .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
    };
    return post(qp, wr);
}

static int write_by(struct pair *pair, uint64_t number, uint32_t rkey) {
    struct ibv_sge from = piece(pair->mr, 128, 8);
    struct ibv_send_wr write = {.wr_id = number, .opcode = IBV_WR_RDMA_WRITE, .sg_list = &from, .num_sge = 1};
    write.wr.rdma.remote_addr = (uintptr_t) buffer;
    write.wr.rdma.rkey = rkey;
    return post(pair->a, write);
}

static void keys_of_windows(struct ibv_context *context) {
    struct pair pair = connect_pair(context, NULL);
    struct ibv_mw *mw = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_2);
    uint32_t first = mw->rkey;

    /* the very key that it was made with */
    EXPECT_CODE(0, bind(pair.b, 1, mw, first, pair.mr));
    EXPECT_WC(1, IBV_WC_SUCCESS, pair.cq_b);
    EXPECT(mw->rkey == first);
    EXPECT_CODE(0, write_by(&pair, 2, first));
    EXPECT_WC(2, IBV_WC_SUCCESS, pair.cq_a);

    EXPECT_CODE(0, post(pair.b, (struct ibv_send_wr) {
        .wr_id = 3, .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = first}));
    EXPECT_WC(3, IBV_WC_SUCCESS, pair.cq_b);

    /* of another key the low 8 bits are taken, and the window says the whole key once the request is posted */
    uint32_t low = (first + 1) & 0xFF;
    EXPECT_CODE(0, bind(pair.b, 4, mw, 0xABCDEF00 | low, pair.mr));
    EXPECT(mw->rkey == ((first & ~0xFFu) | low));
    EXPECT_WC(4, IBV_WC_SUCCESS, pair.cq_b);
    EXPECT_CODE(0, write_by(&pair, 5, mw->rkey));
    EXPECT_WC(5, IBV_WC_SUCCESS, pair.cq_a);
    EXPECT_CODE(0, write_by(&pair, 6, first)); /* the old key is none any more */
    EXPECT_WC(6, IBV_WC_REM_ACCESS_ERR, pair.cq_a);

    EXPECT_CODE(0, ibv_dealloc_mw(mw));
    close_pair(&pair);
}

/* No NAK is sent (IBTA 9.9.3.1, fault class J): the receive tells, the sender runs out of retries. */
static void a_key_that_cannot_be_withdrawn(struct ibv_context *context) {
    struct pair pair = connect_pair(context, NULL);
    EXPECT_CODE(0, receive_at_b(&pair, 7));
    EXPECT_CODE(0, post(pair.a, (struct ibv_send_wr) {
        .wr_id = 1, .opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = pair.mr->rkey}));
    EXPECT_WC(7, IBV_WC_REM_INV_REQ_ERR, pair.cq_b);
    EXPECT_WC(1, IBV_WC_RETRY_EXC_ERR, pair.cq_a);
    close_pair(&pair);
}

/* Whatever reaches a queue pair that is not ready to receive is dropped in silence (IBTA 10.3.1): the requester tries
 * again, eight times in all with a time-out of 67 ms, and ends; not before that time, for the peer may be about to be
 * ready. */
static void a_peer_that_is_not_ready(struct ibv_context *context) {
    for (enum ibv_qp_state state = IBV_QPS_RESET; state <= IBV_QPS_ERR; state++) {
        if (state != IBV_QPS_RESET && state != IBV_QPS_INIT && state != IBV_QPS_ERR) {
            continue;
        }
        struct pair pair = connect_pair(context, NULL);
        struct ibv_qp_attr to = {.qp_state = IBV_QPS_RESET};
        EXPECT_CODE(0, ibv_modify_qp(pair.b, &to, IBV_QP_STATE));
        if (state != IBV_QPS_RESET) {
            to = (struct ibv_qp_attr) {.qp_state = IBV_QPS_INIT, .port_num = 1};
            EXPECT_CODE(0, ibv_modify_qp(pair.b, &to,
                IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
        }
        if (state == IBV_QPS_ERR) {
            to.qp_state = IBV_QPS_ERR;
            EXPECT_CODE(0, ibv_modify_qp(pair.b, &to, IBV_QP_STATE));
        }
        struct timespec from, until;
        clock_gettime(CLOCK_MONOTONIC, &from);
        EXPECT_CODE(0, send_bytes(&pair, 1, 8));
        EXPECT_WC(1, IBV_WC_RETRY_EXC_ERR, pair.cq_a);
        clock_gettime(CLOCK_MONOTONIC, &until);
        double seconds = until.tv_sec - from.tv_sec + (until.tv_nsec - from.tv_nsec) / 1e9;
        printf("a request to a queue pair in state %d ended after %.3f s\n", state, seconds);
        EXPECT(seconds >= 8 * 0.067);
        close_pair(&pair);
    }
}

/* IBTA A17.4.5.1: the completion of a datagram says what it came in; cards of mlx5 have it in `sl`. */
static void a_datagram_says_what_it_came_in(struct ibv_context *context) {
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_mr *mr = ibv_reg_mr(pd, buffer, BYTES, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp_init_attr options = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct ibv_qp *qp = ibv_create_qp(pd, &options);
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR}, rts = {.qp_state = IBV_QPS_RTS};
    EXPECT_CODE(0, ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    EXPECT_CODE(0, ibv_modify_qp(qp, &rtr, IBV_QP_STATE));
    EXPECT_CODE(0, ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
    struct ibv_ah_attr way = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 64}};
    ibv_query_gid(context, 1, 0, &way.grh.dgid);
    int is_ipv4 = way.grh.dgid.global.subnet_prefix == 0 && way.grh.dgid.raw[10] == 0xFF;
    struct ibv_ah *ah = ibv_create_ah(pd, &way);
    struct ibv_sge into = piece(mr, 0, 100), from = piece(mr, 200, 8);
    struct ibv_recv_wr receive = {.wr_id = 1, .sg_list = &into, .num_sge = 1}, *bad;
    EXPECT_CODE(0, ibv_post_recv(qp, &receive, &bad));
    struct ibv_send_wr send = {.wr_id = 2, .opcode = IBV_WR_SEND, .sg_list = &from, .num_sge = 1};
    send.wr.ud.ah = ah;
    send.wr.ud.remote_qpn = qp->qp_num;
    send.wr.ud.remote_qkey = 0x11;
    EXPECT_CODE(0, post(qp, send));
    struct ibv_wc wc = next_of(cq, __LINE__);
    EXPECT(wc.wr_id == 1 && wc.status == IBV_WC_SUCCESS && wc.wc_flags == IBV_WC_GRH);
    EXPECT(wc.sl == (is_ipv4 ? 0xA : 0x9));
    EXPECT_CODE(0, ibv_destroy_ah(ah));
    EXPECT_CODE(0, ibv_destroy_qp(qp));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
}

int main(void) {
    struct ibv_context *context = open_first();
    a_shared_queue_of_another_domain(context);
    a_refused_write_with_immediate(context);
    keys_of_windows(context);
    a_key_that_cannot_be_withdrawn(context);
    a_peer_that_is_not_ready(context);
    a_datagram_says_what_it_came_in(context);
    EXPECT_CODE(0, ibv_close_device(context));
    printf("%d failures\n", failures);
    return failures != 0;
}
