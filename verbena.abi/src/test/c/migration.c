/* Path migration (IBTA 17.2.8) by ibv_modify_qp(3) and ibv_get_async_event(3), between two adapters of a soft fabric
 * whose ports have two LIDs each: once by the program, and once when a cable is pulled. Whoever runs this pulls it
 * after the word "armed". */
#include <fcntl.h>
#include <poll.h>

#include "check.h"

#define BYTES 4096
#define TIMEOUT 14

struct end {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    int lid;
    unsigned char buffer[2 * BYTES];
};

static struct end ends[2];
static unsigned rounds;

static void open_end(struct end *end, struct ibv_device *device) {
    struct ibv_port_attr port;
    end->context = ibv_open_device(device);
    if (!end->context || ibv_query_port(end->context, 1, &port)) {
        perror("no adapter");
        exit(1);
    }
    EXPECT(port.lmc == 1);
    end->lid = port.lid;
    end->pd = ibv_alloc_pd(end->context);
    end->cq = ibv_create_cq(end->context, 16, NULL, NULL, 0);
    end->mr = ibv_reg_mr(end->pd, end->buffer, sizeof end->buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    end->qp = create_rc(end->pd, end->cq);
    fcntl(end->context->async_fd, F_SETFL, O_NONBLOCK);
}

/* From the LID of this number to the one of the peer with the same number. */
static struct ibv_ah_attr way(struct end *to, int number) {
    struct ibv_ah_attr ah = {.dlid = to->lid + number, .src_path_bits = number, .port_num = 1};
    ah.static_rate = number ? IBV_RATE_20_GBPS : IBV_RATE_MAX;
    return ah;
}

static struct ibv_qp_attr alternate(struct end *to, int number) {
    struct ibv_qp_attr attr = {
        .alt_ah_attr = way(to, number), .alt_port_num = 1, .alt_timeout = TIMEOUT, .path_mig_state = IBV_MIG_REARM,
    };
    return attr;
}

static void connect_end(struct end *end, struct end *peer) {
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    EXPECT_CODE(0, ibv_modify_qp(end->qp, &init,
        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    struct ibv_qp_attr rtr = alternate(peer, 1);
    int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
        | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH;
    rtr.qp_state = IBV_QPS_RTR;
    rtr.ah_attr = way(peer, 0);
    rtr.path_mtu = IBV_MTU_1024;
    rtr.dest_qp_num = peer->qp->qp_num;
    rtr.max_dest_rd_atomic = 1;
    rtr.min_rnr_timer = 12;
    rtr.ah_attr.static_rate = 1; /* no value of enum ibv_rate */
    EXPECT_CODE(EINVAL, ibv_modify_qp(end->qp, &rtr, to_rtr));
    rtr.ah_attr.static_rate = IBV_RATE_MAX;
    EXPECT_CODE(0, ibv_modify_qp(end->qp, &rtr, to_rtr));
    struct ibv_qp_attr rts = {
        .qp_state = IBV_QPS_RTS, .timeout = TIMEOUT, .retry_cnt = 6, .rnr_retry = 7, .max_rd_atomic = 1,
        .path_mig_state = IBV_MIG_REARM,
    };
    EXPECT_CODE(0, ibv_modify_qp(end->qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
        | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_PATH_MIG_STATE));
}

static enum ibv_mig_state migration(struct end *end) {
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    EXPECT_CODE(0, ibv_query_qp(end->qp, &attr, IBV_QP_PATH_MIG_STATE, &init));
    return attr.path_mig_state;
}

/* The path in use, and that no other is loaded. */
static void expect_path(struct end *end, struct end *peer, int number) {
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    EXPECT_CODE(0, ibv_query_qp(end->qp, &attr, IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_STATE, &init));
    EXPECT(attr.qp_state == IBV_QPS_RTS);
    EXPECT(attr.ah_attr.dlid == peer->lid + number);
    EXPECT(attr.ah_attr.src_path_bits == number);
    EXPECT(attr.ah_attr.static_rate == (number ? IBV_RATE_20_GBPS : IBV_RATE_MAX));
    EXPECT(attr.alt_ah_attr.dlid == 0);
}

static void receive(struct end *end) {
    struct ibv_sge sge = {(uintptr_t) end->buffer + BYTES, BYTES, end->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;
    EXPECT_CODE(0, ibv_post_recv(end->qp, &wr, &bad));
}

static void send_to(struct end *from, struct end *to) {
    struct ibv_sge sge = {(uintptr_t) from->buffer, BYTES, from->mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
    memset(from->buffer, ++rounds, BYTES);
    memset(to->buffer + BYTES, 0, BYTES);
    receive(to);
    EXPECT_CODE(0, ibv_post_send(from->qp, &wr, &bad));
    EXPECT_WC(2, IBV_WC_SUCCESS, from->cq);
    EXPECT_WC(1, IBV_WC_SUCCESS, to->cq);
    EXPECT(memcmp(from->buffer, to->buffer + BYTES, BYTES) == 0);
}

static void traffic(void) {
    send_to(&ends[0], &ends[1]);
    send_to(&ends[1], &ends[0]);
}

/* Whether the next event of the queue pair has come; those of the port are none. */
static int has_migrated(struct end *end) {
    struct ibv_async_event event;
    while (ibv_get_async_event(end->context, &event) == 0) {
        int is_migration = event.event_type == IBV_EVENT_PATH_MIG;
        if (is_migration) {
            EXPECT(event.element.qp == end->qp);
        } else {
            EXPECT(event.event_type != IBV_EVENT_PATH_MIG_ERR);
        }
        ibv_ack_async_event(&event);
        if (is_migration) {
            return 1;
        }
    }
    return 0;
}

static void expect_event(struct end *end, int line) {
    for (time_t stop = time(NULL) + 10; time(NULL) < stop;) {
        struct pollfd wait = {.fd = end->context->async_fd, .events = POLLIN};
        poll(&wait, 1, 1000);
        if (has_migrated(end)) {
            return;
        }
    }
    printf("line %d: no event comes\n", line);
    exit(1);
}

static void expect_both(enum ibv_mig_state state) {
    EXPECT(migration(&ends[0]) == state);
    EXPECT(migration(&ends[1]) == state);
}

int main(void) {
    int count = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    EXPECT(count == 2);
    for (int i = 0; i < count && i < 2; i++) {
        open_end(&ends[i], list[i]);
    }
    connect_end(&ends[0], &ends[1]);
    connect_end(&ends[1], &ends[0]);
    expect_both(IBV_MIG_REARM);
    traffic();
    traffic();
    expect_both(IBV_MIG_ARMED);
    struct ibv_qp_attr armed = {.path_mig_state = IBV_MIG_ARMED};
    EXPECT_CODE(EINVAL, ibv_modify_qp(ends[0].qp, &armed, IBV_QP_PATH_MIG_STATE)); /* becomes so by itself */

    /* the program migrates, and the peer follows */
    struct ibv_qp_attr migrate = {.path_mig_state = IBV_MIG_MIGRATED};
    EXPECT_CODE(0, ibv_modify_qp(ends[0].qp, &migrate, IBV_QP_PATH_MIG_STATE));
    expect_event(&ends[0], __LINE__);
    traffic();
    expect_event(&ends[1], __LINE__);
    expect_both(IBV_MIG_MIGRATED);
    expect_path(&ends[0], &ends[1], 1);
    expect_path(&ends[1], &ends[0], 1);

    /* what was the path is the alternate one now, and a pulled cable makes both ends take it */
    for (int i = 0; i < 2; i++) {
        struct ibv_qp_attr first = alternate(&ends[1 - i], 0);
        EXPECT_CODE(0, ibv_modify_qp(ends[i].qp, &first, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
    }
    expect_both(IBV_MIG_REARM);
    traffic();
    traffic();
    expect_both(IBV_MIG_ARMED);
    printf("armed lids %d %d\n", ends[0].lid, ends[1].lid);
    fflush(stdout);
    for (time_t stop = time(NULL) + 60; !has_migrated(&ends[0]); ) {
        traffic();
        if (time(NULL) >= stop) {
            printf("no cable was pulled\n");
            return 1;
        }
    }
    traffic();
    expect_event(&ends[1], __LINE__);
    expect_both(IBV_MIG_MIGRATED);
    expect_path(&ends[0], &ends[1], 0);
    expect_path(&ends[1], &ends[0], 0);
    for (int i = 0; i < 100; i++) {
        traffic();
    }

    for (int i = 0; i < 2; i++) {
        EXPECT_CODE(0, ibv_destroy_qp(ends[i].qp));
        EXPECT_CODE(0, ibv_dereg_mr(ends[i].mr));
        EXPECT_CODE(0, ibv_destroy_cq(ends[i].cq));
        EXPECT_CODE(0, ibv_dealloc_pd(ends[i].pd));
        EXPECT_CODE(0, ibv_close_device(ends[i].context));
    }
    ibv_free_device_list(list);
    printf("%u messages, %d things not so\n", rounds, failures);
    return failures != 0;
}
