/* Counters of flows: places that the program chooses, packets and bytes that a flow has counted, and what is refused. Frames of a
 * type for experiments go from one raw queue pair to another on loopback. */
#include "check.h"

enum { FRAME = 100, RECEIVES = 3, FRAMES = 5, PLACES = 4, EXPERIMENT = 0x88b5, EXPERIMENT_2 = 0x88b6 };

struct counting_flow {
    struct ibv_flow_attr attr;
    struct ibv_flow_spec_eth type;
    struct ibv_flow_spec_counter_action count;
} __attribute__((packed, aligned(8)));

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static unsigned char frames[RECEIVES + 1][2 * FRAME];

static struct ibv_qp *raw(void) {
    struct ibv_qp_init_attr options = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RAW_PACKET,
        .cap = {.max_send_wr = FRAMES, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(pd, &options);
    if (!qp && (errno == EPERM || errno == EACCES)) {
        printf("skipped: raw packets need CAP_NET_RAW\n");
        exit(0);
    }
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    EXPECT_CODE(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT));
    attr.qp_state = IBV_QPS_RTR;
    EXPECT_CODE(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
    attr.qp_state = IBV_QPS_RTS;
    EXPECT_CODE(0, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
    return qp;
}

static struct ibv_flow *count(struct ibv_qp *qp, int type, struct ibv_counters *counters) {
    struct counting_flow flow = {
        .attr = {.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof flow, .num_of_specs = 2, .port = 1},
        .type = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof flow.type, .val = {.ether_type = type >> 8 | (type & 255) << 8},
            .mask = {.ether_type = 0xffff}},
        .count = {.type = IBV_FLOW_SPEC_ACTION_COUNT, .size = sizeof flow.count, .counters = counters},
    };
    return ibv_create_flow(qp, (struct ibv_flow_attr *) &flow);
}

static int attach(struct ibv_counters *counters, int what, uint32_t index, uint32_t mask, struct ibv_flow *flow) {
    struct ibv_counter_attach_attr attr = {.counter_desc = what, .index = index, .comp_mask = mask};
    return ibv_attach_counters_point_flow(counters, &attr, flow);
}

static struct ibv_counters *create(void) {
    struct ibv_counters_init_attr attr = {0};
    struct ibv_counters *counters = ibv_create_counters(context, &attr);
    EXPECT(counters != NULL && counters->context == context);
    return counters;
}

static void send_frames(struct ibv_qp *qp, int type) {
    memset(frames[RECEIVES], 0, FRAME);
    frames[RECEIVES][12] = type >> 8;
    frames[RECEIVES][13] = type & 255;
    struct ibv_sge sge = {(uintptr_t) frames[RECEIVES], FRAME, mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 100, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;
    for (int i = 0; i < FRAMES; i++) {
        wr.send_flags = i == FRAMES - 1 ? IBV_SEND_SIGNALED : 0;
        EXPECT_CODE(0, ibv_post_send(qp, &wr, &bad));
    }
}

/* Reads until the packets are there: a frame that finds no receive has no completion. */
static void expect_counted(struct ibv_counters *counters, uint64_t packets) {
    uint64_t values[PLACES + 1];
    struct ibv_wc wc;
    for (time_t end = time(NULL) + 10; time(NULL) < end;) {
        memset(values, 0xff, sizeof values);
        EXPECT_CODE(0, ibv_read_counters(counters, values, PLACES, IBV_READ_COUNTERS_ATTR_PREFER_CACHED));
        if (values[1] == packets) {
            break;
        }
        EXPECT(ibv_poll_cq(cq, 1, &wc) >= 0); /* does the device's work */
    }
    EXPECT(values[0] == 0 && values[1] == packets && values[2] == 0 && values[3] == packets * FRAME);
    EXPECT(values[PLACES] == UINT64_MAX); /* no more than was asked for */
}

int main(void) {
    context = open_first();
    pd = ibv_alloc_pd(context);
    cq = ibv_create_cq(context, 32, NULL, NULL, 0);
    mr = ibv_reg_mr(pd, frames, sizeof frames, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp *near = raw(), *far = raw();
    for (int i = 0; i < RECEIVES; i++) {
        struct ibv_sge sge = {(uintptr_t) frames[i], 2 * FRAME, mr->lkey};
        struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;
        EXPECT_CODE(0, ibv_post_recv(far, &wr, &bad));
    }

    struct ibv_counters_init_attr unknown = {.comp_mask = 1};
    EXPECT_ERRNO(EINVAL, ibv_create_counters(context, &unknown) == NULL);
    struct ibv_counters *counters = create(), *others = create();
    uint64_t value;
    EXPECT_CODE(EINVAL, ibv_read_counters(counters, &value, 1, 0)); /* nothing is attached */
    EXPECT_CODE(EINVAL, attach(counters, IBV_COUNTER_PACKETS, 1000, 0, NULL));
    EXPECT_CODE(EOPNOTSUPP, attach(counters, 2, 0, 0, NULL));
    EXPECT_CODE(EOPNOTSUPP, attach(counters, IBV_COUNTER_PACKETS, 0, 1, NULL));
    EXPECT_CODE(0, attach(counters, IBV_COUNTER_BYTES, 1, 0, NULL));
    EXPECT_CODE(0, attach(counters, IBV_COUNTER_PACKETS, 1, 0, NULL)); /* in place of the bytes */
    EXPECT_CODE(0, attach(counters, IBV_COUNTER_BYTES, 3, 0, NULL));
    EXPECT_CODE(0, attach(others, IBV_COUNTER_PACKETS, 0, 0, NULL));

    struct ibv_flow *flow = count(far, EXPERIMENT, counters);
    EXPECT(flow != NULL);
    EXPECT_CODE(EINVAL, attach(counters, IBV_COUNTER_PACKETS, 2, 0, NULL)); /* too late */
    EXPECT_CODE(EOPNOTSUPP, attach(others, IBV_COUNTER_PACKETS, 1, 0, flow));
    expect_counted(counters, 0);
    send_frames(near, EXPERIMENT);
    expect_counted(counters, FRAMES); /* also those without a receive */
    EXPECT(memcmp(frames[0], frames[RECEIVES], FRAME) == 0);
    EXPECT_CODE(0, ibv_read_counters(others, &value, 1, 0));
    EXPECT(value == 0);
    EXPECT_CODE(EBUSY, ibv_destroy_counters(counters));

    EXPECT_CODE(0, ibv_destroy_flow(flow));
    send_frames(near, EXPERIMENT);
    expect_counted(counters, FRAMES); /* they stay, and no frame is added */
    flow = count(far, EXPERIMENT_2, counters); /* for the kernel may deliver late what has left before */
    EXPECT(flow != NULL);
    send_frames(near, EXPERIMENT_2);
    expect_counted(counters, 2 * FRAMES);
    EXPECT_CODE(0, ibv_destroy_flow(flow));
    EXPECT_CODE(0, ibv_destroy_counters(counters));
    EXPECT_CODE(0, ibv_destroy_counters(others));
    return failures > 0;
}
