/* A descriptor of events is readable as long as there is an event to get, and no longer: also when what the event is about is
 * destroyed before the program has got it, by any thread and at any time. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "check.h"

static struct sockaddr_in loopback(int port) {
    struct sockaddr_in made = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return made;
}

static int is_readable(int fd, int milliseconds) {
    struct pollfd what = {.fd = fd, .events = POLLIN};
    return poll(&what, 1, milliseconds) == 1;
}

static void make_nonblocking(int fd) { EXPECT(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0); }

static struct rdma_cm_id *id_on(struct rdma_event_channel *channel) {
    struct rdma_cm_id *made = NULL;
    EXPECT(rdma_create_id(channel, &made, NULL, RDMA_PS_TCP) == 0);
    return made;
}

static struct rdma_cm_id *resolving_on(struct rdma_event_channel *channel, int port) {
    struct rdma_cm_id *made = id_on(channel);
    struct sockaddr_in to = loopback(port);
    EXPECT(rdma_resolve_addr(made, NULL, (struct sockaddr *) &to, 1000) == 0);
    return made;
}

static struct rdma_cm_id *listener_on(struct rdma_event_channel *channel) {
    struct rdma_cm_id *made = id_on(channel);
    struct sockaddr_in at = loopback(0);
    EXPECT(rdma_bind_addr(made, (struct sockaddr *) &at) == 0 && rdma_listen(made, 16) == 0);
    return made;
}

/* The next event within ten seconds is of this kind and this identifier. */
static void expect_event(struct rdma_event_channel *channel, struct rdma_cm_id *id, int kind) {
    struct rdma_cm_event *event;
    if (!is_readable(channel->fd, 10000) || rdma_get_cm_event(channel, &event) != 0) {
        printf("no event comes\n");
        exit(1);
    }
    if (event->event != kind || (id && event->id != id)) {
        printf("%s, not %s\n", rdma_event_str(event->event), rdma_event_str(kind));
        failures++;
    }
    EXPECT(rdma_ack_cm_event(event) == 0);
}

static struct ibv_qp_init_attr pair(void) {
    struct ibv_qp_init_attr made = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};
    return made;
}

/* Asks a listener, as far as the request. */
static struct rdma_cm_id *asking(struct rdma_event_channel *channel, int port) {
    struct rdma_cm_id *made = resolving_on(channel, port);
    struct ibv_qp_init_attr options = pair();
    struct rdma_conn_param how = {.retry_count = 7};
    expect_event(channel, made, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT(rdma_resolve_route(made, 1000) == 0);
    expect_event(channel, made, RDMA_CM_EVENT_ROUTE_RESOLVED);
    EXPECT(rdma_create_qp(made, NULL, &options) == 0 && rdma_connect(made, &how) == 0);
    return made;
}

static void destroy(struct rdma_cm_id *id) {
    if (id->qp) {
        rdma_destroy_qp(id);
    }
    EXPECT(rdma_destroy_id(id) == 0);
}

static void events_of_a_destroyed_identifier_are_gone(void) {
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *first = resolving_on(channel, 7777), *second = resolving_on(channel, 7777);
    EXPECT(is_readable(channel->fd, 10000));
    EXPECT(rdma_destroy_id(first) == 0);
    expect_event(channel, second, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT(!is_readable(channel->fd, 0));
    first = resolving_on(channel, 7777);
    EXPECT(is_readable(channel->fd, 10000));
    EXPECT(rdma_destroy_id(first) == 0);
    EXPECT(!is_readable(channel->fd, 0));
    EXPECT(rdma_destroy_id(second) == 0);
    rdma_destroy_event_channel(channel);
}

/* The peer is told, too. */
static void requests_to_a_destroyed_listener_are_gone(void) {
    struct rdma_event_channel *here = rdma_create_event_channel(), *there = rdma_create_event_channel();
    struct rdma_cm_id *listener = listener_on(here);
    struct rdma_cm_id *asks = asking(there, ntohs(rdma_get_src_port(listener)));
    EXPECT(is_readable(here->fd, 10000));
    EXPECT(rdma_destroy_id(listener) == 0);
    EXPECT(!is_readable(here->fd, 0));
    expect_event(there, asks, RDMA_CM_EVENT_REJECTED);
    destroy(asks);
    rdma_destroy_event_channel(here);
    rdma_destroy_event_channel(there);
}

static void the_event_of_a_destroyed_completion_queue_is_gone(struct ibv_context *context, struct ibv_pd *pd) {
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *cqs[2];
    struct ibv_qp *qps[2];
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    struct ibv_recv_wr receive = {.wr_id = 1}, *bad;
    for (int i = 0; i < 2; i++) {
        cqs[i] = ibv_create_cq(context, 16, NULL, channel, 0);
        qps[i] = create_rc(pd, cqs[i]);
        EXPECT_CODE(0, connect_to(qps[i], qps[i]));
        EXPECT_CODE(0, ibv_modify_qp(qps[i], &error, IBV_QP_STATE));
        EXPECT_CODE(0, ibv_req_notify_cq(cqs[i], 0));
        EXPECT_CODE(0, ibv_post_recv(qps[i], &receive, &bad));
    }
    EXPECT(is_readable(channel->fd, 10000));
    EXPECT_CODE(0, ibv_destroy_qp(qps[0]));
    EXPECT_CODE(0, ibv_destroy_cq(cqs[0]));
    EXPECT(is_readable(channel->fd, 10000)); /* of the other */
    EXPECT_CODE(0, ibv_destroy_qp(qps[1]));
    EXPECT_CODE(0, ibv_destroy_cq(cqs[1]));
    EXPECT(!is_readable(channel->fd, 0));
    EXPECT_CODE(0, ibv_destroy_comp_channel(channel));
}

static void asynchronous_events_of_destroyed_objects_are_gone(struct ibv_context *context, struct ibv_pd *pd) {
    struct ibv_srq_init_attr shared = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &shared);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp_init_attr options = pair();
    options.send_cq = options.recv_cq = cq;
    options.srq = srq;
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    struct ibv_qp *qps[2];
    for (int i = 0; i < 2; i++) {
        qps[i] = ibv_create_qp(pd, &options);
        EXPECT_CODE(0, connect_to(qps[i], qps[i]));
        EXPECT_CODE(0, ibv_modify_qp(qps[i], &error, IBV_QP_STATE)); /* LAST_WQE_REACHED */
    }
    EXPECT(is_readable(context->async_fd, 10000));
    EXPECT_CODE(0, ibv_destroy_qp(qps[0]));
    struct ibv_async_event event;
    EXPECT(ibv_get_async_event(context, &event) == 0);
    EXPECT(event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED && event.element.qp == qps[1]);
    ibv_ack_async_event(&event);
    EXPECT(!is_readable(context->async_fd, 0));
    EXPECT_CODE(0, ibv_destroy_qp(qps[1]));
    EXPECT_CODE(0, ibv_destroy_srq(srq));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
}

/* As epoll(7) tells by edges: a program that gets one event for each edge gets all. */
static void each_event_is_an_edge(void) {
    struct rdma_event_channel *channel = rdma_create_event_channel();
    int set = epoll_create1(0), got = 0;
    struct epoll_event want = {.events = EPOLLIN | EPOLLET}, told;
    EXPECT(epoll_ctl(set, EPOLL_CTL_ADD, channel->fd, &want) == 0);
    struct rdma_cm_id *ids[8];
    for (int i = 0; i < 8; i++) {
        ids[i] = resolving_on(channel, 7777);
        EXPECT(epoll_wait(set, &told, 1, 10000) == 1);
    }
    for (; got < 8; got++) {
        expect_event(channel, ids[got], RDMA_CM_EVENT_ADDR_RESOLVED);
    }
    for (int i = 0; i < 8; i++) {
        EXPECT(rdma_destroy_id(ids[i]) == 0);
    }
    close(set);
    rdma_destroy_event_channel(channel);
}

/* ---- while events are under way */

static struct rdma_event_channel *shared;
static atomic_int is_over, taken, made;

static void *take_events(void *unused) {
    while (!is_over) {
        struct rdma_cm_event *event;
        if (is_readable(shared->fd, 20) && rdma_get_cm_event(shared, &event) == 0) {
            EXPECT(event->id->ps == RDMA_PS_TCP && event->id->channel == shared);
            EXPECT(rdma_ack_cm_event(event) == 0);
            taken++;
        }
    }
    return unused;
}

/* Lets so many microseconds pass without giving up the processor: beside busy processes each sched_yield(2) costs a turn of
 * all of them, which made minutes of this. */
static void spin(unsigned microseconds) {
    struct timespec began, now;
    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - began.tv_sec) * 1000000000L + now.tv_nsec - began.tv_nsec < microseconds * 1000L);
}

static void *make_and_destroy(void *seed) {
    unsigned chance = (unsigned) (long) seed;
    for (int round = 0; round < 400; round++) {
        struct rdma_cm_id *id = resolving_on(shared, 7777);
        int much = rand_r(&chance) % 3;
        if (much) {
            spin(rand_r(&chance) % 300);
        }
        if (much == 2) {
            EXPECT(rdma_resolve_route(id, 1000) == 0);
        }
        EXPECT(rdma_destroy_id(id) == 0);
        made++;
    }
    return NULL;
}

static void a_channel_lives_while_identifiers_come_and_go(void) {
    shared = rdma_create_event_channel();
    make_nonblocking(shared->fd);
    make_and_destroy((void *) 1);
    EXPECT(!is_readable(shared->fd, 0));
    pthread_t threads[5];
    for (long i = 0; i < 5; i++) {
        EXPECT_CODE(0, pthread_create(&threads[i], NULL, i < 2 ? take_events : make_and_destroy, (void *) i));
    }
    for (int i = 4; i >= 0; i--) {
        is_over = i < 2;
        EXPECT_CODE(0, pthread_join(threads[i], NULL));
    }
    EXPECT(made == 4 * 400 && taken > 0);
    EXPECT(!is_readable(shared->fd, 0));
    struct rdma_cm_id *last = resolving_on(shared, 7777);
    expect_event(shared, last, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT(rdma_destroy_id(last) == 0);
    rdma_destroy_event_channel(shared);
}

/* A server as they are written, and clients that connect and leave. */
static int port;

static void *connect_and_leave(void *unused) {
    struct rdma_event_channel *channel = rdma_create_event_channel();
    for (int i = 0; i < 40; i++) {
        struct rdma_cm_id *id = asking(channel, port);
        expect_event(channel, id, RDMA_CM_EVENT_ESTABLISHED);
        EXPECT(rdma_disconnect(id) == 0);
        destroy(id);
    }
    rdma_destroy_event_channel(channel);
    return unused;
}

static void a_server_accepts_and_lets_go(void) {
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *listener = listener_on(channel);
    port = ntohs(rdma_get_src_port(listener));
    make_nonblocking(channel->fd);
    pthread_t clients[3];
    for (int i = 0; i < 3; i++) {
        EXPECT_CODE(0, pthread_create(&clients[i], NULL, connect_and_leave, NULL));
    }
    for (int ended = 0; ended < 3 * 40;) {
        struct rdma_cm_event *event;
        if (!is_readable(channel->fd, 10000)) {
            printf("the server's channel is silent after %d connections\n", ended);
            exit(1);
        }
        if (rdma_get_cm_event(channel, &event) != 0) {
            EXPECT(errno == EAGAIN);
            continue;
        }
        struct rdma_cm_id *id = event->id;
        int kind = event->event;
        struct ibv_qp_init_attr options = pair();
        struct rdma_conn_param how = {.rnr_retry_count = 7};
        EXPECT(rdma_ack_cm_event(event) == 0);
        if (kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
            EXPECT(rdma_create_qp(id, NULL, &options) == 0 && rdma_accept(id, &how) == 0);
        } else if (kind == RDMA_CM_EVENT_DISCONNECTED) {
            EXPECT(rdma_disconnect(id) == 0);
            destroy(id);
            ended++;
        }
    }
    for (int i = 0; i < 3; i++) {
        EXPECT_CODE(0, pthread_join(clients[i], NULL));
    }
    EXPECT(rdma_destroy_id(listener) == 0);
    rdma_destroy_event_channel(channel);
}

int main(void) {
    struct ibv_context *context = open_first();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    events_of_a_destroyed_identifier_are_gone();
    requests_to_a_destroyed_listener_are_gone();
    the_event_of_a_destroyed_completion_queue_is_gone(context, pd);
    asynchronous_events_of_destroyed_objects_are_gone(context, pd);
    each_event_is_an_edge();
    a_channel_lives_while_identifiers_come_and_go();
    a_server_accepts_and_lets_go();
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
    EXPECT_CODE(0, ibv_close_device(context));
    printf("%d failures\n", failures);
    return failures != 0;
}
