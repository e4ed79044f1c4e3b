/* Every integer of `struct rdma_conn_param` and of rdma_reject at 0, 1, its limit and beside it, and the greatest of its type: taken as
 * librdmacm and the kernel take it, told to the peer, and refused with EINVAL beyond. */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

#include "check.h"

/* `RDMA_MAX_RESP_RES`: as many as the device has, or as the peer asks for. */
#define ANY 255

static struct rdma_event_channel *asking, *asked;
static struct sockaddr_in at = {.sin_family = AF_INET};
static enum rdma_port_space space;
static char text[256];
static int reads_max;

static struct rdma_cm_id *next(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted, struct rdma_conn_param *seen) {
    struct rdma_cm_event *event;
    EXPECT(rdma_get_cm_event(channel, &event) == 0);
    if (event->event != wanted) {
        printf("%s (%d) instead of %s\n", rdma_event_str(event->event), event->status, rdma_event_str(wanted));
        exit(2); /* what follows would wait */
    }
    struct rdma_cm_id *id = event->id;
    if (seen) {
        *seen = event->param.conn;
    }
    EXPECT(rdma_ack_cm_event(event) == 0);
    return id;
}

/* What is right where nothing else is tried. No queue pair is there, and each connection names another: those of the last one wait. */
static struct rdma_conn_param right(void) {
    static uint32_t qp_num = 0x1000;
    return (struct rdma_conn_param) {.private_data = text, .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .qp_num = ++qp_num};
}

static struct rdma_cm_id *caller(void) {
    struct rdma_cm_id *id;
    EXPECT(rdma_create_id(asking, &id, NULL, space) == 0);
    EXPECT(rdma_resolve_addr(id, NULL, (struct sockaddr *) &at, 2000) == 0);
    next(asking, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
    EXPECT(rdma_resolve_route(id, 2000) == 0);
    next(asking, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
    return id;
}

/* 0 or an errno. */
static int ask(struct rdma_conn_param with, struct rdma_conn_param *seen) {
    struct rdma_cm_id *a = caller();
    errno = 0;
    int code = rdma_connect(a, &with) ? errno : 0;
    if (!code) {
        struct rdma_cm_id *b = next(asked, RDMA_CM_EVENT_CONNECT_REQUEST, seen);
        EXPECT(rdma_reject(b, NULL, 0) == 0);
        EXPECT(rdma_destroy_id(b) == 0);
    }
    EXPECT(rdma_destroy_id(a) == 0);
    return code;
}

static int answer(struct rdma_conn_param with, struct rdma_conn_param *seen, int asked_for, int is_no, uint8_t length) {
    struct rdma_cm_id *a = caller();
    struct rdma_conn_param usual = right();
    usual.initiator_depth = usual.responder_resources = asked_for;
    EXPECT(rdma_connect(a, &usual) == 0);
    struct rdma_cm_id *b = next(asked, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
    errno = 0;
    int code = (is_no ? rdma_reject(b, text, length) : rdma_accept(b, &with)) ? errno : 0;
    if (!code) {
        next(asking, is_no ? space == RDMA_PS_UDP ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_REJECTED
            : space == RDMA_PS_UDP ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE, seen);
    }
    EXPECT(rdma_destroy_id(a) == 0);
    EXPECT(rdma_destroy_id(b) == 0);
    return code;
}

enum call { CONNECT, ACCEPT, REJECT };

/* One value of one field; what the peer is told of it in `told`. */
#define ROW(field, other) \
    static int field##_of(enum call call, uint32_t v, uint32_t *told) { \
        struct rdma_conn_param with = right(), seen = {0}; \
        with.field = v; \
        int code = call == CONNECT ? ask(with, &seen) : answer(with, &seen, 9, call == REJECT, (uint8_t) v); \
        *told = seen.other; \
        return code; \
    }
ROW(private_data_len, private_data_len)
ROW(responder_resources, initiator_depth)
ROW(initiator_depth, responder_resources)
ROW(flow_control, flow_control)
ROW(retry_count, retry_count)
ROW(rnr_retry_count, rnr_retry_count)
ROW(srq, srq)
ROW(qp_num, qp_num)

static const uint32_t NOT_COMPARED = 1u << 31;

static uint32_t any(uint32_t v) { return (void) v, NOT_COMPARED; }
static uint32_t three_bits(uint32_t v) { return v < 7 ? v : 7; }
static uint32_t low_24(uint32_t v) { return v & 0xFFFFFF; }
static uint32_t of_device(uint32_t v) { return v == ANY ? (uint32_t) reads_max : v; }
static uint32_t of_peer(uint32_t v) { return v < 9 ? v : 9; } /* no more than it has asked for */

struct row {
    const char *what;
    int (*with)(enum call call, uint32_t value, uint32_t *told);
    enum call call;
    uint32_t low, high, type_max;
    uint32_t (*means)(uint32_t value);
    int has_any; /* the greatest of the type is not refused */
};

static void try(const struct row *row) {
    uint32_t values[] = {0, 1, row->high - 1, row->high, row->high + 1, row->type_max - 1, row->type_max};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint32_t v = values[i], told = 0;
        int is_done = v > row->type_max;
        for (size_t before = 0; before < i; before++) {
            is_done |= values[before] == v;
        }
        if (is_done) {
            continue;
        }
        int is_right = (v >= row->low && v <= row->high) || (row->has_any && v == row->type_max);
        int code = row->with(row->call, v, &told);
        uint32_t wanted = row->means(v);
        if (code != (is_right ? 0 : EINVAL) || (is_right && wanted != NOT_COMPARED && told != wanted)) {
            printf("%s %s: %u gave %d, and the peer was told %u\n",
                row->call == CONNECT ? "connect" : row->call == ACCEPT ? "accept" : "reject", row->what, v, code, told);
            failures++;
        }
    }
}

static struct rdma_cm_id *listen_in(enum rdma_port_space in) {
    struct rdma_cm_id *listener;
    space = in;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = 0;
    EXPECT(rdma_create_id(asked, &listener, NULL, space) == 0);
    EXPECT(rdma_bind_addr(listener, (struct sockaddr *) &at) == 0);
    EXPECT(rdma_listen(listener, 8) == 0);
    at.sin_port = rdma_get_src_port(listener);
    return listener;
}

int main(void) {
    asking = rdma_create_event_channel();
    asked = rdma_create_event_channel();
    struct rdma_cm_id *listener = listen_in(RDMA_PS_TCP);
    struct ibv_device_attr has;
    EXPECT_CODE(0, ibv_query_device(listener->verbs, &has));
    EXPECT(has.max_qp_rd_atom == has.max_qp_init_rd_atom);
    reads_max = has.max_qp_rd_atom;
    const struct row rows[] = {
        {"private_data_len", private_data_len_of, CONNECT, 0, 56, 255, any, 0},
        {"responder_resources", responder_resources_of, CONNECT, 0, reads_max, 255, of_device, 1},
        {"initiator_depth", initiator_depth_of, CONNECT, 0, reads_max, 255, of_device, 1},
        {"flow_control", flow_control_of, CONNECT, 0, 255, 255, any, 1},
        {"retry_count", retry_count_of, CONNECT, 0, 255, 255, three_bits, 1},
        {"rnr_retry_count", rnr_retry_count_of, CONNECT, 0, 255, 255, three_bits, 1},
        {"srq", srq_of, CONNECT, 0, 255, 255, any, 1},
        {"qp_num", qp_num_of, CONNECT, 1, UINT32_MAX, UINT32_MAX, low_24, 1},
        {"private_data_len", private_data_len_of, ACCEPT, 0, 196, 255, any, 0},
        {"responder_resources", responder_resources_of, ACCEPT, 0, reads_max, 255, of_peer, 1},
        {"initiator_depth", initiator_depth_of, ACCEPT, 0, reads_max, 255, of_peer, 1},
        {"flow_control", flow_control_of, ACCEPT, 0, 255, 255, any, 1},
        {"retry_count", retry_count_of, ACCEPT, 0, 255, 255, any, 1}, /* which only a request has */
        {"rnr_retry_count", rnr_retry_count_of, ACCEPT, 0, 255, 255, three_bits, 1},
        {"srq", srq_of, ACCEPT, 0, 255, 255, any, 1},
        {"qp_num", qp_num_of, ACCEPT, 1, UINT32_MAX, UINT32_MAX, low_24, 1},
        {"private_data_len", private_data_len_of, REJECT, 0, 148, 255, any, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        try(&rows[i]);
    }
    EXPECT(rdma_destroy_id(listener) == 0);
    listener = listen_in(RDMA_PS_UDP);
    const struct row datagrams[] = {
        {"private_data_len of datagrams", private_data_len_of, CONNECT, 0, 180, 255, any, 0},
        {"qp_num of datagrams", qp_num_of, ACCEPT, 1, UINT32_MAX, UINT32_MAX, any, 1},
        {"private_data_len of datagrams", private_data_len_of, ACCEPT, 0, 136, 255, any, 0},
        {"private_data_len of datagrams", private_data_len_of, REJECT, 0, 136, 255, any, 0},
        {"responder_resources of datagrams", responder_resources_of, CONNECT, 0, 255, 255, any, 1},
    };
    for (size_t i = 0; i < sizeof datagrams / sizeof *datagrams; i++) {
        try(&datagrams[i]);
    }
    EXPECT(rdma_destroy_id(listener) == 0);
    rdma_destroy_event_channel(asking);
    rdma_destroy_event_channel(asked);
    return failures > 0;
}
