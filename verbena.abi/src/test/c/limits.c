/* Every integer of the verbs at 0, 1, its limit and beside it, 2^31 and 2^32 - 1: taken from `low` to `high`, and refused with an errno
 * outside. Nothing is cut to fewer bits, and nothing else happens. */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

#include "check.h"

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static char memory[4096];

struct row {
    const char *what;
    int (*with)(uint32_t value); /* 0 or an errno */
    int64_t low, high;
};

/* ---- objects */

static int end_qp(struct ibv_qp *qp, int code) {
    EXPECT_CODE(0, ibv_destroy_qp(qp));
    return code;
}

static int with_sizes(struct ibv_qp_cap cap, struct ibv_srq *shared) {
    struct ibv_qp_init_attr options = {.send_cq = cq, .recv_cq = cq, .srq = shared, .qp_type = IBV_QPT_RC, .cap = cap};
    errno = 0;
    struct ibv_qp *qp = ibv_create_qp(pd, &options);
    if (!qp) {
        return errno ? errno : -1;
    }
    EXPECT(options.cap.max_send_wr >= cap.max_send_wr && options.cap.max_send_sge >= cap.max_send_sge);
    EXPECT(options.cap.max_inline_data >= cap.max_inline_data);
    EXPECT(options.cap.max_recv_wr >= (shared ? 0 : cap.max_recv_wr) && options.cap.max_recv_sge >= (shared ? 0 : cap.max_recv_sge));
    return end_qp(qp, 0);
}

static int max_send_wr(uint32_t v) { return with_sizes((struct ibv_qp_cap) {v, 1, 1, 1, 0}, NULL); }
static int max_recv_wr(uint32_t v) { return with_sizes((struct ibv_qp_cap) {1, v, 1, 1, 0}, NULL); }
static int max_send_sge(uint32_t v) { return with_sizes((struct ibv_qp_cap) {1, 1, v, 1, 0}, NULL); }
static int max_recv_sge(uint32_t v) { return with_sizes((struct ibv_qp_cap) {1, 1, 1, v, 0}, NULL); }
static int max_inline_data(uint32_t v) { return with_sizes((struct ibv_qp_cap) {1, 1, 1, 1, v}, NULL); }
static int max_recv_wr_with_srq(uint32_t v) { return with_sizes((struct ibv_qp_cap) {1, v, 1, 1, 0}, srq); }
static int max_recv_sge_with_srq(uint32_t v) { return with_sizes((struct ibv_qp_cap) {1, 1, 1, v, 0}, srq); }

static int with_srq(struct ibv_srq_attr sizes) {
    struct ibv_srq_init_attr options = {.attr = sizes};
    struct ibv_srq *made = ibv_create_srq(pd, &options);
    return made ? ibv_destroy_srq(made) : errno;
}

static int srq_max_wr(uint32_t v) { return with_srq((struct ibv_srq_attr) {.max_wr = v, .max_sge = 1}); }
static int srq_max_sge(uint32_t v) { return with_srq((struct ibv_srq_attr) {.max_wr = 1, .max_sge = v}); }
static int srq_limit(uint32_t v) { return ibv_modify_srq(srq, &(struct ibv_srq_attr) {.srq_limit = v}, IBV_SRQ_LIMIT); }

static int cqe(uint32_t v) {
    struct ibv_cq *made = ibv_create_cq(context, (int) v, NULL, NULL, 0);
    return made ? ibv_destroy_cq(made) : errno;
}

static int comp_vector(uint32_t v) {
    struct ibv_cq *made = ibv_create_cq(context, 1, NULL, NULL, (int) v);
    return made ? ibv_destroy_cq(made) : errno;
}

static int resized_cqe(uint32_t v) { return ibv_resize_cq(cq, (int) v); }

static int mw_type(uint32_t v) {
    errno = 0;
    struct ibv_mw *made = ibv_alloc_mw(pd, (enum ibv_mw_type) v);
    return made ? ibv_dealloc_mw(made) : errno;
}

/* ---- ways to a peer */

static int with_way(struct ibv_ah_attr way) {
    way.is_global = 1;
    if (ibv_query_gid(context, 1, way.grh.sgid_index, &way.grh.dgid) != 0) {
        ibv_query_gid(context, 1, 0, &way.grh.dgid);
    }
    errno = 0;
    struct ibv_ah *made = ibv_create_ah(pd, &way);
    return made ? ibv_destroy_ah(made) : errno ? errno : -1;
}

#define WAY(name, field, bits) \
    static int way_##name(uint32_t v) { \
        struct ibv_ah_attr way = {.port_num = 1}; \
        way.field = v; \
        return (uint64_t) v >> (bits) ? EINVAL : with_way(way); /* what lies above is not the field's */ \
    }
WAY(port, port_num, 8)
WAY(sl, sl, 8)
WAY(path_bits, src_path_bits, 8)
WAY(lid, dlid, 16)
WAY(sgid_index, grh.sgid_index, 8)
WAY(flow_label, grh.flow_label, 32) /* its low 20 bits, as with cards */
WAY(hop_limit, grh.hop_limit, 8)
WAY(traffic_class, grh.traffic_class, 8)

/* The rates that there are have no order: all 256. */
static void try_rates(void) {
    for (int rate = 0; rate < 256; rate++) {
        int is_rate = rate == IBV_RATE_MAX || ibv_rate_to_mbps((enum ibv_rate) rate) > 0;
        int code = with_way((struct ibv_ah_attr) {.port_num = 1, .static_rate = rate});
        if (is_rate ? code != 0 : code != EINVAL) {
            printf("static_rate: %d gave %d\n", rate, code);
            failures++;
        }
    }
}

/* ---- questions */

static int port(uint32_t v) {
    struct ibv_port_attr attributes;
    return v > 255 ? EINVAL : ibv_query_port(context, v, &attributes);
}

static int port_of_gid(uint32_t v) {
    union ibv_gid gid;
    return v > 255 ? EINVAL : ibv_query_gid(context, v, 0, &gid) ? errno : 0;
}

static int port_of_pkey(uint32_t v) {
    __be16 pkey;
    return v > 255 ? EINVAL : ibv_query_pkey(context, v, 0, &pkey) ? errno : 0;
}

static int port_of_entry(uint32_t v) {
    struct ibv_gid_entry entry;
    return ibv_query_gid_ex(context, v, 0, &entry, 0);
}

static int index_of_entry(uint32_t v) {
    struct ibv_gid_entry entry;
    return ibv_query_gid_ex(context, 1, v, &entry, 0);
}

/* Nothing is moderated, and the device says so: each value is refused, as the kernel does for a driver without. */
static void try_moderation(void) {
    struct ibv_device_attr_ex has;
    EXPECT_CODE(0, ibv_query_device_ex(context, NULL, &has));
    EXPECT(has.cq_mod_caps.max_cq_count == 0 && has.cq_mod_caps.max_cq_period == 0);
    const uint16_t values[] = {0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF};
    for (int i = 0; i < 36; i++) {
        struct ibv_modify_cq_attr attributes = {IBV_CQ_ATTR_MODERATE, {values[i / 6], values[i % 6]}};
        EXPECT_CODE(EOPNOTSUPP, ibv_modify_cq(cq, &attributes));
    }
}

static int gid_index(uint32_t v) {
    union ibv_gid gid;
    return ibv_query_gid(context, 1, (int) v, &gid) ? errno : 0;
}

static int pkey_index(uint32_t v) {
    __be16 pkey;
    return ibv_query_pkey(context, 1, (int) v, &pkey) ? errno : 0;
}

/* ---- states */

static struct ibv_qp *fresh(void) {
    struct ibv_qp *qp = create_rc(pd, cq);
    EXPECT(qp != NULL);
    return qp;
}

static int to_init(struct ibv_qp *qp, uint32_t pkey, uint32_t port) {
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .pkey_index = pkey, .port_num = port};
    return ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int init_state(uint32_t v) {
    struct ibv_qp *qp = fresh();
    struct ibv_qp_attr to = {.qp_state = (enum ibv_qp_state) v};
    return end_qp(qp, ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX)); /* which no state takes alone */
}

static int rtr(struct ibv_qp_attr with) {
    struct ibv_qp *qp = fresh();
    with.qp_state = IBV_QPS_RTR;
    with.ah_attr.is_global = 1;
    if (ibv_query_gid(context, 1, with.ah_attr.grh.sgid_index, &with.ah_attr.grh.dgid) != 0) {
        ibv_query_gid(context, 1, 0, &with.ah_attr.grh.dgid);
    }
    EXPECT_CODE(0, to_init(qp, 0, 1));
    return end_qp(qp, ibv_modify_qp(qp, &with, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
        | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
}

/* What is right everywhere else. */
static struct ibv_qp_attr right(void) {
    return (struct ibv_qp_attr) {.path_mtu = IBV_MTU_1024, .dest_qp_num = 7, .ah_attr.port_num = 1};
}

#define RTR(field, bits) \
    static int rtr_##field(uint32_t v) { \
        struct ibv_qp_attr with = right(); \
        with.FIELD_##field = v; \
        return (uint64_t) v >> (bits) ? EINVAL : rtr(with); /* what lies above is not the field's */ \
    }
#define FIELD_path_mtu path_mtu
#define FIELD_dest_qp_num dest_qp_num
#define FIELD_rq_psn rq_psn
#define FIELD_max_dest_rd_atomic max_dest_rd_atomic
#define FIELD_min_rnr_timer min_rnr_timer
#define FIELD_port ah_attr.port_num
#define FIELD_sgid_index ah_attr.grh.sgid_index
RTR(path_mtu, 32)
RTR(dest_qp_num, 32) /* its low 24 bits, as with cards */
RTR(rq_psn, 32)
RTR(max_dest_rd_atomic, 8)
RTR(min_rnr_timer, 8)
RTR(port, 8)
RTR(sgid_index, 8)

static int rts(struct ibv_qp_attr with) {
    struct ibv_qp *qp = fresh();
    EXPECT_CODE(0, connect_to(qp, qp));
    struct ibv_qp_attr drained = {.qp_state = IBV_QPS_SQD};
    EXPECT_CODE(0, ibv_modify_qp(qp, &drained, IBV_QP_STATE));
    return end_qp(qp, ibv_modify_qp(qp, &with, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

static int timeout(uint32_t v) { return v > 255 ? EINVAL : rts((struct ibv_qp_attr) {.timeout = v}); }
static int retry_cnt(uint32_t v) { return v > 255 ? EINVAL : rts((struct ibv_qp_attr) {.retry_cnt = v}); }
static int rnr_retry(uint32_t v) { return v > 255 ? EINVAL : rts((struct ibv_qp_attr) {.rnr_retry = v}); }
static int max_rd_atomic(uint32_t v) { return v > 255 ? EINVAL : rts((struct ibv_qp_attr) {.max_rd_atomic = v}); }

/* The other path names its port twice. */
static int alternate(uint8_t port, uint8_t of_address, uint8_t timeout, uint16_t pkey) {
    struct ibv_qp *qp = fresh();
    EXPECT_CODE(0, connect_to(qp, qp));
    struct ibv_qp_attr with = {.alt_port_num = port, .alt_timeout = timeout, .alt_pkey_index = pkey,
        .alt_ah_attr = {.is_global = 1, .port_num = of_address}, .path_mig_state = IBV_MIG_REARM};
    ibv_query_gid(context, 1, 0, &with.alt_ah_attr.grh.dgid);
    return end_qp(qp, ibv_modify_qp(qp, &with, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
}

static int alt_port(uint32_t v) { return v > 255 ? EINVAL : alternate(v, v, 0, 0); }
static int alt_port_of_address(uint32_t v) { return v > 255 ? EINVAL : alternate(1, v, 0, 0); }
static int alt_timeout(uint32_t v) { return v > 255 ? EINVAL : alternate(1, 1, v, 0); }
static int alt_pkey_index(uint32_t v) { return v > 65535 ? EINVAL : alternate(1, 1, 0, v); }

/* ---- events */

/* Acknowledges what was never given; destroying waits for what was given, and for no more. */
static int acknowledged(uint32_t v) {
    struct ibv_cq *made = ibv_create_cq(context, 1, NULL, NULL, 0);
    ibv_ack_cq_events(made, v);
    return ibv_destroy_cq(made);
}

/* ---- requests */

/* The entries have a key that there is not, so that what is taken ends at once. */
static int post(int entries, uint32_t length, unsigned flags) {
    static struct ibv_sge list[64];
    for (int i = 0; i < 64; i++) {
        list[i] = (struct ibv_sge) {(uintptr_t) memory, length, mr->lkey ^ 0x5500};
    }
    struct ibv_qp *qp = fresh();
    EXPECT_CODE(0, connect_to(qp, qp));
    struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE, .sg_list = list, .num_sge = entries, .send_flags = IBV_SEND_SIGNALED | flags}, *bad;
    int code = ibv_post_send(qp, &wr, &bad);
    if (!code) {
        struct ibv_wc wc = next_of(cq, __LINE__);
        code = wc.status == IBV_WC_LOC_LEN_ERR ? EMSGSIZE : 0; /* whose number is none of an errno that posting gives */
    }
    return end_qp(qp, code);
}

static int num_sge(uint32_t v) { return post((int) v, 0, 0); }
static int length(uint32_t v) { return post(1, v, 0); }
static int inline_length(uint32_t v) { return v > sizeof memory && v < 1u << 31 ? EINVAL : post(1, v, IBV_SEND_INLINE); }

static int receive(int entries, uint32_t length) {
    static struct ibv_sge list[64];
    list[0].length = length;
    struct ibv_qp *qp = fresh();
    EXPECT_CODE(0, to_init(qp, 0, 1));
    struct ibv_recv_wr wr = {.sg_list = list, .num_sge = entries}, *bad;
    return end_qp(qp, ibv_post_recv(qp, &wr, &bad));
}

static int received_num_sge(uint32_t v) { return receive((int) v, 0); }
static int received_length(uint32_t v) { return receive(1, v); }

/* ---- requests that are built call by call */

enum part { ENTRY, ENTRIES, INLINE, INLINES, WINDOW, FLUSH };

/* Newer than rdma-core 44. */
enum { WITH_FLUSH = 1 << 11, ACCESS_FLUSH = 1 << 8 };
typedef void (*flush)(struct ibv_qp_ex *, uint32_t rkey, uint64_t address, size_t length, uint8_t type, uint8_t level);

static int build(enum part part, uint64_t v) {
    struct ibv_mr *open = ibv_reg_mr(
        pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND | ACCESS_FLUSH);
    EXPECT(open != NULL);
    static struct ibv_sge list[65];
    static struct ibv_data_buf buffers[65];
    for (int i = 0; i < 65; i++) {
        list[i] = (struct ibv_sge) {(uintptr_t) memory, 1, open->lkey};
        buffers[i] = (struct ibv_data_buf) {memory, 1};
    }
    struct ibv_qp_init_attr_ex options = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .pd = pd, .cap = {4, 1, 4, 1, 64},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_BIND_MW | WITH_FLUSH};
    struct ibv_qp *qp = ibv_create_qp_ex(context, &options);
    EXPECT(qp != NULL);
    EXPECT_CODE(0, connect_to(qp, qp));
    struct ibv_qp_attr rights = {.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | ACCESS_FLUSH};
    EXPECT_CODE(0, ibv_modify_qp(qp, &rights, IBV_QP_ACCESS_FLAGS));
    struct ibv_mw *window = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
    struct ibv_qp_ex *builder = ibv_qp_to_qp_ex(qp);
    ibv_wr_start(builder);
    builder->wr_id = 1;
    builder->wr_flags = IBV_SEND_SIGNALED;
    if (part == WINDOW) {
        struct ibv_mw_bind_info to = {.mr = open, .addr = (uintptr_t) memory, .length = v, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
        ibv_wr_bind_mw(builder, window, ibv_inc_rkey(window->rkey), &to);
    } else if (part == FLUSH) {
        flush call;
        memcpy(&call, &builder->wr_atomic_write + 1, sizeof call);
        call(builder, open->rkey, (uintptr_t) memory, v, 1, 0);
    } else {
        ibv_wr_rdma_write(builder, open->rkey, (uintptr_t) memory);
    }
    switch (part) {
    case ENTRY: ibv_wr_set_sge(builder, open->lkey, (uintptr_t) memory, v); break;
    case ENTRIES: ibv_wr_set_sge_list(builder, v, list); break;
    case INLINE: ibv_wr_set_inline_data(builder, memory, v); break;
    case INLINES: ibv_wr_set_inline_data_list(builder, v, buffers); break;
    case WINDOW:
    case FLUSH: break;
    }
    int code = ibv_wr_complete(builder);
    if (!code && next_of(cq, __LINE__).status != IBV_WC_SUCCESS) {
        code = EIO; /* it is refused in its turn */
    }
    EXPECT_CODE(0, ibv_destroy_qp(qp));
    EXPECT_CODE(0, ibv_dealloc_mw(window));
    EXPECT_CODE(0, ibv_dereg_mr(open));
    return code;
}

static int built_length(uint32_t v) { return build(ENTRY, v); }
static int built_entries(uint32_t v) { return build(ENTRIES, v); }
static int built_inline(uint32_t v) { return build(INLINE, v); }
static int built_inlines(uint32_t v) { return build(INLINES, v); }
static int window_length(uint32_t v) { return build(WINDOW, v); }
static int flush_length(uint32_t v) { return build(FLUSH, v); }
static int flush_above(uint32_t v) { return build(FLUSH, (1ULL << 32) + v); }

/* ---- rdma_cm: options are bytes, and a backlog of 0 or less is the largest */

static int with_id(int (*act)(struct rdma_cm_id *, uint32_t), uint32_t v) {
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *id;
    EXPECT(channel && rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
    int code = act(id, v) ? errno : 0;
    EXPECT_CODE(0, rdma_destroy_id(id));
    rdma_destroy_event_channel(channel);
    return code;
}

static int set_ack_timeout(struct rdma_cm_id *id, uint32_t v) {
    uint8_t byte = (uint8_t) v;
    return rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, sizeof byte);
}

static int set_option_size(struct rdma_cm_id *id, uint32_t v) {
    uint8_t tos[8] = {0};
    return rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, tos, v);
}

static int listen_for(struct rdma_cm_id *id, uint32_t v) {
    struct sockaddr_in any = {.sin_family = AF_INET};
    return rdma_bind_addr(id, (struct sockaddr *) &any) || rdma_listen(id, (int) v);
}

static int ack_timeout(uint32_t v) { return v > 255 ? EINVAL : with_id(set_ack_timeout, v); }
static int option_size(uint32_t v) { return with_id(set_option_size, v); }
static int backlog(uint32_t v) { return with_id(listen_for, v); }

static void try(const struct row *row) {
    int64_t values[] = {0, 1, row->high - 1, row->high, row->high + 1, (1LL << 31) - 1, 1LL << 31, (1LL << 32) - 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (values[i] < 0 || values[i] >> 32) {
            continue;
        }
        int code = row->with((uint32_t) values[i]);
        int is_right = values[i] >= row->low && values[i] <= row->high ? code == 0 : code > 0;
        if (!is_right) {
            printf("%s: %ld gave %d\n", row->what, (long) values[i], code);
            failures++;
        }
    }
}

int main(void) {
    context = open_first();
    pd = ibv_alloc_pd(context);
    cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_srq_init_attr shared = {.attr = {.max_wr = 100, .max_sge = 1}};
    srq = ibv_create_srq(pd, &shared);
    struct ibv_device_attr has;
    struct ibv_port_attr port_has;
    EXPECT_CODE(0, ibv_query_device(context, &has));
    EXPECT_CODE(0, ibv_query_port(context, 1, &port_has));
    const int64_t any = (1LL << 32) - 1;
    int migrates = (has.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG) != 0;
    const struct row rows[] = {
        {"max_send_wr", max_send_wr, 0, has.max_qp_wr},
        {"max_recv_wr", max_recv_wr, 0, has.max_qp_wr},
        {"max_recv_wr with an SRQ", max_recv_wr_with_srq, 0, any},
        {"max_send_sge", max_send_sge, 0, has.max_sge},
        {"max_recv_sge", max_recv_sge, 0, has.max_sge},
        {"max_recv_sge with an SRQ", max_recv_sge_with_srq, 0, any},
        {"max_inline_data", max_inline_data, 0, 512},
        {"max_wr of an SRQ", srq_max_wr, 1, has.max_srq_wr},
        {"max_sge of an SRQ", srq_max_sge, 0, has.max_srq_sge},
        {"srq_limit", srq_limit, 0, 100},
        {"cqe", cqe, 1, has.max_cqe},
        {"resized cqe", resized_cqe, 1, has.max_cqe},
        {"comp_vector", comp_vector, 0, context->num_comp_vectors - 1},
        {"type of a window", mw_type, 1, 2},
        {"port of a handle", way_port, 1, 1},
        {"sl", way_sl, 0, 15},
        {"src_path_bits", way_path_bits, 0, 255},
        {"dlid", way_lid, 0, 0xFFFF},
        {"sgid_index of a handle", way_sgid_index, 0, port_has.gid_tbl_len - 1},
        {"flow_label", way_flow_label, 0, any},
        {"hop_limit", way_hop_limit, 0, 255},
        {"traffic_class", way_traffic_class, 0, 255},
        {"port", port, 1, 1},
        {"port of a GID", port_of_gid, 1, 1},
        {"port of a P_Key", port_of_pkey, 1, 1},
        {"port of an entry of GIDs", port_of_entry, 1, 1},
        {"index of an entry of GIDs", index_of_entry, 0, port_has.gid_tbl_len - 1},
        {"index of a GID", gid_index, 0, port_has.gid_tbl_len - 1},
        {"index of a P_Key", pkey_index, 0, port_has.pkey_tbl_len - 1},
        {"qp_state", init_state, 1, 0}, /* never */
        {"path_mtu", rtr_path_mtu, 1, port_has.active_mtu},
        {"dest_qp_num", rtr_dest_qp_num, 0, any},
        {"rq_psn", rtr_rq_psn, 0, any},
        {"max_dest_rd_atomic", rtr_max_dest_rd_atomic, 0, has.max_qp_rd_atom},
        {"min_rnr_timer", rtr_min_rnr_timer, 0, 31},
        {"port of an address", rtr_port, 1, 1},
        {"sgid_index", rtr_sgid_index, 0, port_has.gid_tbl_len - 1},
        {"timeout", timeout, 0, 31},
        {"retry_cnt", retry_cnt, 0, 7},
        {"rnr_retry", rnr_retry, 0, 7},
        {"max_rd_atomic", max_rd_atomic, 0, has.max_qp_init_rd_atom},
        {"alt_port_num", alt_port, 1, migrates ? 1 : 0},
        {"port of the other address", alt_port_of_address, 1, migrates ? 1 : 0},
        {"alt_timeout", alt_timeout, 0, migrates ? 31 : -1},
        {"alt_pkey_index", alt_pkey_index, 0, migrates ? port_has.pkey_tbl_len - 1 : -1},
        {"acknowledged events", acknowledged, 0, any},
        {"num_sge", num_sge, 0, 1},
        {"length of an entry", length, 0, 1LL << 31},
        {"length of inline data", inline_length, 0, 64},
        {"num_sge of a receive", received_num_sge, 0, 1},
        {"length of a receive", received_length, 0, 1LL << 31},
        {"length of a built entry", built_length, 0, sizeof memory},
        {"built entries", built_entries, 0, 4},
        {"length of built inline data", built_inline, 0, 64},
        {"pieces of built inline data", built_inlines, 0, 64},
        {"length of a window", window_length, 1, sizeof memory},
        {"length of a flush", flush_length, 0, sizeof memory},
        {"length of a flush, 2^32 and", flush_above, 1, 0}, /* never */
        {"ACK timeout of rdma_cm", ack_timeout, 0, 31},
        {"size of an option of rdma_cm", option_size, 1, 1},
        {"backlog", backlog, 0, any},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        try(&rows[i]);
    }
    struct ibv_ah_attr nowhere = {.port_num = 1}; /* over Ethernet every way has a GRH */
    EXPECT_ERRNO(EINVAL, ibv_create_ah(pd, &nowhere) == NULL);
    try_rates();
    try_moderation();
    return failures > 0;
}
