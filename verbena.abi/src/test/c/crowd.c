/* Threads that each make connections to themselves, wait for events of all kinds, send and end, at once over one device:
 * no thread waits for ever. Usage: crowd THREADS ROUNDS */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "check.h"

static int rounds;
static char from[64] = "to whom it may concern", to[64];

static int readable(int fd) {
    struct pollfd what = {.fd = fd, .events = POLLIN};
    return poll(&what, 1, 30000) == 1;
}

/* The next event, which is to be this one; its id, which is new when a peer asks. */
static struct rdma_cm_id *next(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted) {
    struct rdma_cm_event *event;
    if (!readable(channel->fd) || rdma_get_cm_event(channel, &event)) {
        printf("no %s\n", rdma_event_str(wanted));
        exit(2); /* what follows would wait too */
    }
    if (event->event != wanted) {
        printf("%s instead of %s\n", rdma_event_str(event->event), rdma_event_str(wanted));
        exit(2);
    }
    struct rdma_cm_id *id = event->id;
    EXPECT(rdma_ack_cm_event(event) == 0);
    return id;
}

static struct ibv_cq *completed(struct ibv_comp_channel *channel, struct ibv_cq *wanted) {
    struct ibv_cq *cq = NULL;
    void *own;
    struct ibv_wc wc = {0};
    EXPECT(readable(channel->fd) && ibv_get_cq_event(channel, &cq, &own) == 0 && cq == wanted && own == channel);
    ibv_ack_cq_events(wanted, 1);
    EXPECT(ibv_poll_cq(wanted, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
    return cq;
}

static void make(struct rdma_cm_id *id, struct ibv_cq *sends, struct ibv_cq *receives) {
    struct ibv_qp_init_attr options = {
        .send_cq = sends, .recv_cq = receives, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
    };
    EXPECT(rdma_create_qp(id, id->pd, &options) == 0);
}

/* 0, which is the longest, as the kernel has it: so few retries last until a busy program has posted its receive. */
static void patient(struct rdma_cm_id *id) {
    struct ibv_qp_attr own = {.qp_state = IBV_QPS_RTR}, made = {0};
    struct ibv_qp_init_attr options;
    int mask = 0;
    EXPECT(rdma_init_qp_attr(id, &own, &mask) == 0 && mask & IBV_QP_MIN_RNR_TIMER && own.min_rnr_timer == 0);
    EXPECT(ibv_query_qp(id->qp, &made, IBV_QP_MIN_RNR_TIMER, &options) == 0 && made.min_rnr_timer == 0);
}

static void round_of(struct rdma_event_channel *asking, struct rdma_event_channel *asked) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct rdma_cm_id *listener, *a, *b;
    EXPECT(rdma_create_id(asked, &listener, NULL, RDMA_PS_TCP) == 0);
    EXPECT(rdma_bind_addr(listener, (struct sockaddr *) &at) == 0);
    EXPECT(rdma_listen(listener, 1) == 0);
    at.sin_port = rdma_get_src_port(listener);
    EXPECT(rdma_create_id(asking, &a, NULL, RDMA_PS_TCP) == 0);
    EXPECT(rdma_resolve_addr(a, NULL, (struct sockaddr *) &at, 2000) == 0);
    next(asking, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT(rdma_resolve_route(a, 2000) == 0);
    next(asking, RDMA_CM_EVENT_ROUTE_RESOLVED);

    struct ibv_comp_channel *channel = ibv_create_comp_channel(a->verbs);
    struct ibv_cq *sends = ibv_create_cq(a->verbs, 4, channel, channel, 0);
    struct ibv_cq *receives = ibv_create_cq(a->verbs, 4, channel, channel, 0);
    make(a, sends, sends);
    struct rdma_conn_param parameters = {.retry_count = 7, .rnr_retry_count = 7};
    EXPECT(rdma_connect(a, &parameters) == 0);
    b = next(asked, RDMA_CM_EVENT_CONNECT_REQUEST);
    make(b, sends, receives);
    struct ibv_mr *out = ibv_reg_mr(a->pd, from, sizeof from, 0);
    struct ibv_mr *in = ibv_reg_mr(b->pd, to, sizeof to, IBV_ACCESS_LOCAL_WRITE);
    EXPECT(rdma_post_recv(b, NULL, to, sizeof to, in) == 0);
    EXPECT(ibv_req_notify_cq(receives, 0) == 0);
    EXPECT(rdma_accept(b, &parameters) == 0);
    next(asking, RDMA_CM_EVENT_ESTABLISHED);
    patient(a);
    patient(b);
    EXPECT(rdma_post_send(a, NULL, from, sizeof from, out, 0) == 0);
    next(asked, RDMA_CM_EVENT_ESTABLISHED);
    completed(channel, receives);

    EXPECT(rdma_disconnect(a) == 0);
    next(asking, RDMA_CM_EVENT_DISCONNECTED);
    next(asked, RDMA_CM_EVENT_DISCONNECTED);
    rdma_destroy_qp(a);
    rdma_destroy_qp(b);
    ibv_dereg_mr(out);
    ibv_dereg_mr(in);
    EXPECT(rdma_destroy_id(a) == 0);
    EXPECT(rdma_destroy_id(b) == 0);
    EXPECT(rdma_destroy_id(listener) == 0);
    EXPECT_CODE(0, ibv_destroy_cq(sends));
    EXPECT_CODE(0, ibv_destroy_cq(receives));
    EXPECT_CODE(0, ibv_destroy_comp_channel(channel));
}

static void *one(void *unused) {
    (void) unused;
    struct rdma_event_channel *asking = rdma_create_event_channel(), *asked = rdma_create_event_channel();
    for (int i = 0; i < rounds; i++) {
        round_of(asking, asked);
    }
    rdma_destroy_event_channel(asking);
    rdma_destroy_event_channel(asked);
    return NULL;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 4;
    rounds = argc > 2 ? atoi(argv[2]) : 10;
    pthread_t threads[64];
    for (int i = 0; i < count && i < 64; i++) {
        pthread_create(&threads[i], NULL, one, NULL);
    }
    for (int i = 0; i < count && i < 64; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%d threads, %d connections each: %d failures\n", count, rounds, failures);
    return failures != 0;
}
