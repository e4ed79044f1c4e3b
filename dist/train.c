/* Does a little of what programs do with libibverbs and librdmacm, both ends in one process, while the JVM in it records
 * what an AOT cache is made of (decision 47). The same calls as any program's; nothing here is for training only. */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 8, LARGE = 64 << 10, ROUNDS = 4000, WRITES = 2000, UNDER_WAY = 16, MESSAGES = 500 };

static char memory[2 * LARGE];

static void check(int ok, const char *what) {
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static struct ibv_qp *create(struct ibv_pd *pd, struct ibv_cq *cq) {
    struct ibv_qp_init_attr options = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 2 * UNDER_WAY, .max_recv_wr = UNDER_WAY, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct ibv_qp *qp = ibv_create_qp(pd, &options);
    check(qp != NULL, "ibv_create_qp");
    return qp;
}

static void connect_to(struct ibv_qp *qp, unsigned peer, union ibv_gid gid, enum ibv_mtu mtu) {
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    check(!ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
    struct ibv_qp_attr rtr = {
        .qp_state = IBV_QPS_RTR, .path_mtu = mtu, .dest_qp_num = peer, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}},
    };
    check(!ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
        | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    check(!ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN
        | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

static void complete(struct ibv_cq *cq, int count) {
    struct ibv_wc wc[UNDER_WAY];
    while (count > 0) {
        int n = ibv_poll_cq(cq, count < UNDER_WAY ? count : UNDER_WAY, wc);
        check(n >= 0, "ibv_poll_cq");
        for (int i = 0; i < n; i++) {
            check(wc[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(wc[i].status));
        }
        count -= n;
    }
}

static void message(struct ibv_qp *from, struct ibv_cq *from_cq, struct ibv_qp *to, struct ibv_cq *to_cq, unsigned key) {
    struct ibv_sge piece = {.addr = (uintptr_t) memory, .length = SMALL, .lkey = key};
    struct ibv_recv_wr receive = {.sg_list = &piece, .num_sge = 1}, *bad_receive;
    struct ibv_send_wr send = {.sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
    check(!ibv_post_recv(to, &receive, &bad_receive), "ibv_post_recv");
    check(!ibv_post_send(from, &send, &bad), "ibv_post_send");
    complete(to_cq, 1);
    complete(from_cq, 1);
}

static void verbs(void) {
    struct ibv_device **devices = ibv_get_device_list(NULL);
    check(devices && devices[0], "no device");
    struct ibv_context *context = ibv_open_device(devices[0]);
    check(context != NULL, "ibv_open_device");
    ibv_free_device_list(devices);
    struct ibv_device_attr attributes;
    check(!ibv_query_device(context, &attributes), "ibv_query_device");
    struct ibv_port_attr port;
    check(!ibv_query_port(context, 1, &port), "ibv_query_port");
    union ibv_gid gid;
    check(!ibv_query_gid(context, 1, 0, &gid), "ibv_query_gid");
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    check(mr != NULL, "ibv_reg_mr");
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *a_cq = ibv_create_cq(context, 4 * UNDER_WAY, NULL, channel, 0);
    struct ibv_cq *b_cq = ibv_create_cq(context, 4 * UNDER_WAY, NULL, NULL, 0);
    check(channel && a_cq && b_cq, "ibv_create_cq");
    struct ibv_qp *a = create(pd, a_cq), *b = create(pd, b_cq);
    connect_to(a, b->qp_num, gid, port.active_mtu);
    connect_to(b, a->qp_num, gid, port.active_mtu);

    for (int i = 0; i < ROUNDS; i++) {
        message(a, a_cq, b, b_cq, mr->lkey);
        message(b, b_cq, a, a_cq, mr->lkey);
    }
    struct ibv_sge large = {.addr = (uintptr_t) memory, .length = LARGE, .lkey = mr->lkey};
    struct ibv_send_wr write = {
        .sg_list = &large, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = (uintptr_t) memory + LARGE, .rkey = mr->rkey},
    }, *bad;
    for (int i = 0; i < WRITES + UNDER_WAY; i++) {
        if (i >= UNDER_WAY) {
            complete(a_cq, 1);
        }
        if (i < WRITES) {
            check(!ibv_post_send(a, &write, &bad), "ibv_post_send");
        }
    }
    for (int i = 0; i < MESSAGES; i++) { /* sleeping until one comes */
        check(!ibv_req_notify_cq(a_cq, 0), "ibv_req_notify_cq");
        message(a, a_cq, b, b_cq, mr->lkey);
        struct ibv_cq *event_cq;
        void *event_context;
        check(!ibv_get_cq_event(channel, &event_cq, &event_context), "ibv_get_cq_event");
        ibv_ack_cq_events(event_cq, 1);
    }
    check(!ibv_destroy_qp(a) && !ibv_destroy_qp(b), "ibv_destroy_qp");
    check(!ibv_destroy_cq(a_cq) && !ibv_destroy_cq(b_cq) && !ibv_destroy_comp_channel(channel), "ibv_destroy_cq");
    check(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(context), "ibv_close_device");
}

static struct rdma_cm_id *endpoint(int flags, int port_number, struct ibv_qp_init_attr *options) {
    struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP}, *found;
    char port[8];
    snprintf(port, sizeof port, "%d", port_number);
    check(!rdma_getaddrinfo("127.0.0.1", port, &hints, &found), "rdma_getaddrinfo");
    struct rdma_cm_id *id;
    check(!rdma_create_ep(&id, found, NULL, options), "rdma_create_ep");
    rdma_freeaddrinfo(found);
    return id;
}

static void exchange(struct rdma_cm_id *id, int is_first) {
    static __thread char buffer[SMALL];
    struct ibv_mr *mr = rdma_reg_msgs(id, buffer, sizeof buffer);
    check(mr != NULL, "rdma_reg_msgs");
    struct ibv_wc wc;
    check(!rdma_post_recv(id, NULL, buffer, sizeof buffer, mr), "rdma_post_recv");
    check(is_first ? !rdma_connect(id, NULL) : !rdma_accept(id, NULL), "rdma_connect");
    for (int i = 0; i < MESSAGES; i++) {
        if (!is_first || i > 0) {
            check(rdma_get_recv_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS, "rdma_get_recv_comp");
            check(!rdma_post_recv(id, NULL, buffer, sizeof buffer, mr), "rdma_post_recv");
        }
        check(!rdma_post_send(id, NULL, buffer, sizeof buffer, mr, 0), "rdma_post_send");
        check(rdma_get_send_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS, "rdma_get_send_comp");
    }
    if (is_first) {
        check(rdma_get_recv_comp(id, &wc) == 1, "rdma_get_recv_comp");
    }
    rdma_disconnect(id);
    rdma_dereg_mr(mr);
    rdma_destroy_ep(id);
}

static void *serve(void *listener) {
    struct rdma_cm_id *id;
    check(!rdma_get_request(listener, &id), "rdma_get_request");
    exchange(id, 0);
    return NULL;
}

int main(void) {
    verbs();
    struct ibv_qp_init_attr options = {
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}, .sq_sig_all = 1,
    };
    struct rdma_cm_id *listener = endpoint(RAI_PASSIVE, 0, &options);
    check(!rdma_listen(listener, 1), "rdma_listen");
    pthread_t server;
    check(!pthread_create(&server, NULL, serve, listener), "pthread_create");
    exchange(endpoint(0, ntohs(rdma_get_src_port(listener)), &options), 1);
    pthread_join(server, NULL);
    rdma_destroy_ep(listener);
    return 0;
}
