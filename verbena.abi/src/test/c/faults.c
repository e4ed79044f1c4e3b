/* Which mistakes in a request show when it is posted, and which in its completion: IBTA 11.4.1.1 and 11.6.2. */
#include "check.h"

#define BYTES 16384

static char buffer[BYTES] __attribute__((aligned(8)));
static struct ibv_context *context;
static struct ibv_pd *pd, *other;
static struct ibv_mr *mr, *others;
static struct ibv_cq *cq;
static struct ibv_ah *ah, *others_ah;
static union ibv_gid gid;

enum { RIGHTS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND };

static void connect_uc(struct ibv_qp *qp) {
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    struct ibv_qp_attr rtr = {
        .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}},
    };
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
    EXPECT_CODE(0, ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    EXPECT_CODE(0, ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN));
    EXPECT_CODE(0, ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

/* Each mistake ends its queue pair, so each has one of its own, connected to itself. */
static struct ibv_qp *create(enum ibv_qp_type type) {
    struct ibv_qp_init_attr_ex options = {
        .send_cq = cq, .recv_cq = cq, .qp_type = type, .pd = pd,
        .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 1},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = type != IBV_QPT_RC
            ? IBV_QP_EX_WITH_SEND
            : IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV,
    };
    struct ibv_qp *qp = ibv_create_qp_ex(context, &options);
    if (!qp) {
        perror("no queue pair");
        exit(1);
    }
    if (type == IBV_QPT_RC) {
        EXPECT_CODE(0, connect_to(qp, qp));
        return qp;
    }
    if (type == IBV_QPT_UC) {
        connect_uc(qp);
        return qp;
    }
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR}, rts = {.qp_state = IBV_QPS_RTS};
    EXPECT_CODE(0, ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    EXPECT_CODE(0, ibv_modify_qp(qp, &rtr, IBV_QP_STATE));
    EXPECT_CODE(0, ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
    return qp;
}

static struct ibv_sge piece(int length) {
    return (struct ibv_sge) {.addr = (uintptr_t) buffer, .length = length, .lkey = mr->lkey};
}

static struct ibv_send_wr atomic(uint64_t number, struct ibv_sge *into, int pieces) {
    struct ibv_send_wr wr = {
        .wr_id = number, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .sg_list = into, .num_sge = pieces};
    wr.wr.atomic.remote_addr = (uintptr_t) buffer;
    wr.wr.atomic.rkey = mr->rkey;
    wr.wr.atomic.compare_add = 1;
    return wr;
}

static struct ibv_send_wr datagram(uint64_t number, struct ibv_sge *from, struct ibv_qp *to, struct ibv_ah *way) {
    struct ibv_send_wr wr = {.wr_id = number, .opcode = IBV_WR_SEND, .sg_list = from, .num_sge = 1};
    wr.wr.ud.ah = way;
    wr.wr.ud.remote_qpn = to->qp_num;
    wr.wr.ud.remote_qkey = 0x11;
    return wr;
}

static struct ibv_send_wr bind(uint64_t number, struct ibv_mw *mw, struct ibv_mr *to, int rights) {
    struct ibv_send_wr wr = {.wr_id = number, .opcode = IBV_WR_BIND_MW};
    wr.bind_mw.mw = mw;
    wr.bind_mw.rkey = mw->rkey + 1;
    wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {
        .mr = to, .addr = (uintptr_t) buffer, .length = 64, .mw_access_flags = rights};
    return wr;
}

/* Posted without a word, and ended with this status: the second of two, so that the order shows. */
static void ends_with(enum ibv_wc_status status, enum ibv_qp_type type, struct ibv_qp *qp, struct ibv_send_wr wr, int line) {
    struct ibv_sge none = piece(0);
    struct ibv_send_wr good = {.wr_id = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
    if (type == IBV_QPT_UD) {
        good = datagram(1, &none, qp, ah);
        good.send_flags = IBV_SEND_SIGNALED;
    } else {
        struct ibv_recv_wr receive = {.wr_id = 9}, *bad_receive;
        EXPECT_CODE(0, ibv_post_recv(qp, &receive, &bad_receive));
    }
    good.next = &wr;
    wr.wr_id = 2;
    int code = ibv_post_send(qp, &good, &bad);
    if (code) {
        printf("line %d: posting gave %d\n", line, code);
        failures++;
        return;
    }
    for (int sends = 0; sends < 2;) {
        struct ibv_wc wc = next_of(cq, line);
        if (wc.wr_id == 9) {
            continue;
        }
        sends++;
        enum ibv_wc_status wanted = wc.wr_id == 1 ? IBV_WC_SUCCESS : status;
        if (wc.wr_id != (uint64_t) sends || wc.status != wanted) {
            printf("line %d: request %lu ended with %s\n", line, (unsigned long) wc.wr_id, ibv_wc_status_str(wc.status));
            failures++;
        }
    }
    EXPECT_CODE(0, ibv_destroy_qp(qp));
}

#define ENDS_WITH(status, type, qp, wr) ends_with(status, type, qp, wr, __LINE__)

static void completions(void) {
    struct ibv_sge eight = piece(8), nine = piece(9), pieces[2] = {piece(8), piece(8)};
    struct ibv_qp *qp = create(IBV_QPT_RC);
    ENDS_WITH(IBV_WC_LOC_LEN_ERR, IBV_QPT_RC, qp, atomic(2, &nine, 1));
    qp = create(IBV_QPT_RC);
    ENDS_WITH(IBV_WC_LOC_LEN_ERR, IBV_QPT_RC, qp, atomic(2, pieces, 2));
    qp = create(IBV_QPT_RC);
    ENDS_WITH(IBV_WC_LOC_LEN_ERR, IBV_QPT_RC, qp, atomic(2, NULL, 0));

    struct ibv_port_attr port;
    EXPECT_CODE(0, ibv_query_port(context, 1, &port));
    struct ibv_sge longer = piece((128 << port.active_mtu) + 1);
    qp = create(IBV_QPT_UD);
    ENDS_WITH(IBV_WC_LOC_LEN_ERR, IBV_QPT_UD, qp, datagram(2, &longer, qp, ah));
    qp = create(IBV_QPT_UD);
    ENDS_WITH(IBV_WC_LOC_QP_OP_ERR, IBV_QPT_UD, qp, datagram(2, &eight, qp, others_ah));

    struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2), *others_mw = ibv_alloc_mw(other, IBV_MW_TYPE_2);
    qp = create(IBV_QPT_RC);
    ENDS_WITH(IBV_WC_MW_BIND_ERR, IBV_QPT_RC, qp, bind(2, others_mw, mr, IBV_ACCESS_REMOTE_WRITE));
    qp = create(IBV_QPT_RC);
    ENDS_WITH(IBV_WC_MW_BIND_ERR, IBV_QPT_RC, qp, bind(2, mw, others, IBV_ACCESS_REMOTE_WRITE));
    qp = create(IBV_QPT_RC);
    ENDS_WITH(IBV_WC_MW_BIND_ERR, IBV_QPT_RC, qp, bind(2, mw, mr, IBV_ACCESS_MW_BIND));

    struct ibv_mw *first = ibv_alloc_mw(other, IBV_MW_TYPE_1);
    struct ibv_mw_bind at = {.wr_id = 5, .bind_info = { /* verbs.h itself wants one domain for these two */
        .mr = others, .addr = (uintptr_t) buffer, .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
    qp = create(IBV_QPT_RC);
    EXPECT_CODE(0, ibv_bind_mw(qp, first, &at));
    EXPECT_WC(5, IBV_WC_MW_BIND_ERR, cq);
    EXPECT_CODE(0, ibv_destroy_qp(qp));
    EXPECT_CODE(0, ibv_dealloc_mw(first));
    EXPECT_CODE(0, ibv_dealloc_mw(mw));
    EXPECT_CODE(0, ibv_dealloc_mw(others_mw));
}

/* Operations that there are, and that queue pairs of a type do not have: the queue pair finds out. */
static void operations_of_other_types(void) {
    static const enum ibv_wr_opcode not_of_ud[] = {
        IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
        IBV_WR_LOCAL_INV, IBV_WR_BIND_MW, IBV_WR_SEND_WITH_INV,
    };
    static const enum ibv_wr_opcode not_of_uc[] = {
        IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_INV};
    struct ibv_sge eight = piece(8);
    for (size_t i = 0; i < sizeof not_of_ud / sizeof *not_of_ud; i++) {
        struct ibv_qp *qp = create(IBV_QPT_UD);
        struct ibv_send_wr wr = datagram(2, &eight, qp, ah);
        wr.opcode = not_of_ud[i];
        ENDS_WITH(IBV_WC_LOC_QP_OP_ERR, IBV_QPT_UD, qp, wr);
    }
    struct ibv_qp *ud = create(IBV_QPT_UD); /* the address lies where a datagram has its address handle */
    struct ibv_send_wr read = {.wr_id = 2, .opcode = IBV_WR_RDMA_READ, .sg_list = &eight, .num_sge = 1};
    read.wr.rdma.remote_addr = (uintptr_t) buffer;
    read.wr.rdma.rkey = mr->rkey;
    ENDS_WITH(IBV_WC_LOC_QP_OP_ERR, IBV_QPT_UD, ud, read);
    for (size_t i = 0; i < sizeof not_of_uc / sizeof *not_of_uc; i++) {
        struct ibv_send_wr wr = atomic(2, &eight, 1);
        wr.opcode = not_of_uc[i];
        ENDS_WITH(IBV_WC_LOC_QP_OP_ERR, IBV_QPT_UC, create(IBV_QPT_UC), wr);
    }
}

/* The same by ibv_wr_*(3). */
static void one_call_at_a_time(void) {
    struct ibv_qp *qp = create(IBV_QPT_RC);
    struct ibv_qp_ex *requests = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(requests);
    requests->wr_id = 1;
    requests->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_atomic_fetch_add(requests, mr->rkey, (uintptr_t) buffer, 1);
    ibv_wr_set_sge(requests, mr->lkey, (uintptr_t) buffer, 9);
    requests->wr_id = 2;
    ibv_wr_atomic_fetch_add(requests, mr->rkey, (uintptr_t) buffer, 1);
    ibv_wr_set_sge(requests, mr->lkey, (uintptr_t) buffer, 8);
    EXPECT_CODE(0, ibv_wr_complete(requests));
    EXPECT_WC(1, IBV_WC_LOC_LEN_ERR, cq);
    EXPECT_WC(2, IBV_WC_WR_FLUSH_ERR, cq);
    EXPECT_CODE(0, ibv_destroy_qp(qp));

    qp = create(IBV_QPT_UD);
    requests = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(requests);
    requests->wr_id = 3;
    requests->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(requests);
    ibv_wr_set_ud_addr(requests, others_ah, qp->qp_num, 0x11);
    ibv_wr_set_sge(requests, mr->lkey, (uintptr_t) buffer, 8);
    EXPECT_CODE(0, ibv_wr_complete(requests));
    EXPECT_WC(3, IBV_WC_LOC_QP_OP_ERR, cq);
    EXPECT_CODE(0, ibv_destroy_qp(qp));

    qp = create(IBV_QPT_UD);
    requests = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(requests);
    requests->wr_id = 5;
    ibv_wr_rdma_read(requests, mr->rkey, (uintptr_t) buffer);
    ibv_wr_set_ud_addr(requests, ah, qp->qp_num, 0x11);
    ibv_wr_set_sge(requests, mr->lkey, (uintptr_t) buffer, 8);
    EXPECT_CODE(0, ibv_wr_complete(requests));
    EXPECT_WC(5, IBV_WC_LOC_QP_OP_ERR, cq);
    EXPECT_CODE(0, ibv_destroy_qp(qp));

    struct ibv_mw *mw = ibv_alloc_mw(other, IBV_MW_TYPE_2);
    struct ibv_mw_bind_info info = {.mr = mr, .addr = (uintptr_t) buffer, .length = 64};
    qp = create(IBV_QPT_RC);
    requests = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(requests);
    requests->wr_id = 4;
    ibv_wr_bind_mw(requests, mw, mw->rkey + 1, &info);
    EXPECT_CODE(0, ibv_wr_complete(requests));
    EXPECT_WC(4, IBV_WC_MW_BIND_ERR, cq);
    EXPECT_CODE(0, ibv_destroy_qp(qp));
    EXPECT_CODE(0, ibv_dealloc_mw(mw));
}

/* What stays an immediate error: nothing is posted, and the queue pair goes on. */
static void at_once(void) {
    struct ibv_qp *qp = create(IBV_QPT_RC), *ud = create(IBV_QPT_UD);
    struct ibv_sge eight = piece(8), three[3] = {eight, eight, eight};
    struct ibv_send_wr *bad, unknown = {.wr_id = 1, .opcode = 99, .sg_list = &eight, .num_sge = 1};
    EXPECT_CODE(EINVAL, ibv_post_send(qp, &unknown, &bad)); /* invalid operation type */
    struct ibv_send_wr many = {.wr_id = 1, .opcode = IBV_WR_SEND, .sg_list = three, .num_sge = 3};
    EXPECT_CODE(EINVAL, ibv_post_send(qp, &many, &bad)); /* invalid list length */
    struct ibv_send_wr nowhere = datagram(1, &eight, ud, NULL);
    EXPECT_CODE(EINVAL, ibv_post_send(ud, &nowhere, &bad)); /* invalid address handle */
    struct ibv_send_wr good = atomic(2, &eight, 1);
    good.send_flags = IBV_SEND_SIGNALED;
    EXPECT_CODE(0, ibv_post_send(qp, &good, &bad));
    EXPECT_WC(2, IBV_WC_SUCCESS, cq);
    EXPECT_CODE(0, ibv_destroy_qp(qp));
    EXPECT_CODE(0, ibv_destroy_qp(ud));
}

int main(void) {
    context = open_first();
    pd = ibv_alloc_pd(context);
    other = ibv_alloc_pd(context);
    mr = ibv_reg_mr(pd, buffer, BYTES, RIGHTS);
    others = ibv_reg_mr(other, buffer, BYTES, RIGHTS);
    cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    ibv_query_gid(context, 1, 0, &gid);
    struct ibv_ah_attr way = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}};
    ah = ibv_create_ah(pd, &way);
    others_ah = ibv_create_ah(other, &way);
    completions();
    operations_of_other_types();
    one_call_at_a_time();
    at_once();
    EXPECT_CODE(0, ibv_close_device(context));
    printf("%d failures\n", failures);
    return failures != 0;
}
