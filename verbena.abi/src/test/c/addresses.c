/* Addresses, and the devices that they mean: one device is one, whichever call gives it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

#include "check.h"

static struct rdma_event_channel *channel;

static struct sockaddr_in ipv4(const char *address, int port) {
    struct sockaddr_in made = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, address, &made.sin_addr);
    return made;
}

static struct rdma_cm_id *create_id(void) {
    struct rdma_cm_id *id = NULL;
    EXPECT(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
    return id;
}

static int bind4(struct rdma_cm_id *id, const char *address, int port) {
    struct sockaddr_in at = ipv4(address, port);
    return rdma_bind_addr(id, (struct sockaddr *) &at);
}

static int bind6(struct rdma_cm_id *id, int port) {
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    return rdma_bind_addr(id, (struct sockaddr *) &at);
}

static struct rdma_cm_event *next_event(enum rdma_cm_event_type wanted, int line) {
    struct rdma_cm_event *event = NULL;
    if (rdma_get_cm_event(channel, &event) || event->event != wanted) {
        printf("line %d: %s, not %s\n", line, event ? rdma_event_str(event->event) : "no event", rdma_event_str(wanted));
        exit(1);
    }
    return event;
}

#define NEXT(wanted) next_event(wanted, __LINE__)
#define PASS_OVER(wanted) rdma_ack_cm_event(NEXT(wanted))

/* What a connection uses is one of rdma_get_devices, of a device that ibv_get_device_list lists. */
static void is_listed(struct ibv_context *context) {
    int devices, contexts, found = 0, open = 0;
    struct ibv_device **list = ibv_get_device_list(&devices);
    struct ibv_context **opened = rdma_get_devices(&contexts);
    EXPECT(devices == contexts);
    for (int i = 0; i < devices; i++) {
        found += list[i] == context->device && strcmp(ibv_get_device_name(list[i]), context->device->name) == 0;
        open += opened[i] == context;
        EXPECT(opened[i]->device == list[i]);
    }
    EXPECT(found == 1);
    EXPECT(open == 1);
    rdma_free_devices(opened);
    ibv_free_device_list(list);
}

static void an_address_of_loopback_binds_no_device(void) {
    struct rdma_cm_id *id = create_id();
    EXPECT_CODE(0, bind4(id, "127.0.0.1", 0));
    EXPECT(id->verbs == NULL && id->pd == NULL);
    EXPECT(rdma_get_src_port(id) != 0);
    struct sockaddr_in to = ipv4("127.0.0.1", 7471);
    EXPECT_CODE(0, rdma_resolve_addr(id, NULL, (struct sockaddr *) &to, 1000));
    PASS_OVER(RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT(id->verbs != NULL && id->pd != NULL);
    is_listed(id->verbs);
    EXPECT_CODE(0, rdma_destroy_id(id));
}

static void an_address_of_an_interface_binds_its_device(void) {
    struct ifaddrs *all, *each;
    getifaddrs(&all);
    for (each = all; each; each = each->ifa_next) {
        if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET
            && ntohl(((struct sockaddr_in *) each->ifa_addr)->sin_addr.s_addr) >> 24 != 127) {
            break;
        }
    }
    if (each) { /* there may be loopback only */
        struct rdma_cm_id *id = create_id();
        EXPECT_CODE(0, rdma_bind_addr(id, each->ifa_addr));
        EXPECT(id->verbs != NULL);
        is_listed(id->verbs);
        EXPECT_CODE(0, rdma_destroy_id(id));
    }
    freeifaddrs(all);
}

static void refusals(void) {
    struct rdma_cm_id *id = create_id(), *second = create_id();
    EXPECT_ERRNO(EADDRNOTAVAIL, bind4(id, "8.8.8.8", 0) == -1);
    struct sockaddr_in from = ipv4("8.8.8.8", 0), to = ipv4("127.0.0.1", 7471);
    EXPECT_ERRNO(EADDRNOTAVAIL, rdma_resolve_addr(id, (struct sockaddr *) &from, (struct sockaddr *) &to, 1000) == -1);
    EXPECT_CODE(0, bind4(id, "127.0.0.1", 0));
    EXPECT_ERRNO(EADDRINUSE, bind4(second, "127.0.0.1", ntohs(rdma_get_src_port(id))) == -1);
    EXPECT_CODE(0, rdma_destroy_id(id));
    EXPECT_CODE(0, rdma_destroy_id(second));
}

static void families_are_apart_when_they_are_to_be(void) {
    int yes = 1;
    struct rdma_cm_id *six = create_id(), *four = create_id();
    EXPECT_CODE(0, rdma_set_option(six, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &yes, sizeof yes));
    EXPECT_CODE(0, bind6(six, 0));
    int port = ntohs(rdma_get_src_port(six));
    EXPECT_CODE(0, bind4(four, "0.0.0.0", port));
    EXPECT_CODE(0, rdma_destroy_id(six));
    EXPECT_CODE(0, rdma_destroy_id(four));

    six = create_id(), four = create_id();
    EXPECT_CODE(0, bind6(six, 0)); /* both */
    port = ntohs(rdma_get_src_port(six));
    EXPECT_ERRNO(EADDRINUSE, bind4(four, "0.0.0.0", port) == -1);
    EXPECT_CODE(0, rdma_destroy_id(six));
    EXPECT_CODE(0, rdma_destroy_id(four));
}

static void addresses_by_name(void) {
    struct sockaddr_in from = ipv4("127.0.0.1", 1), to = ipv4("127.0.0.1", 2);
    struct rdma_addrinfo *found, hints = {
        .ai_family = AF_INET, .ai_qp_type = IBV_QPT_RC, .ai_port_space = RDMA_PS_TCP,
        .ai_src_addr = (struct sockaddr *) &from, .ai_src_len = sizeof from,
        .ai_dst_addr = (struct sockaddr *) &to, .ai_dst_len = sizeof to,
    };
    EXPECT_ERRNO(EINVAL, rdma_getaddrinfo(NULL, NULL, NULL, &found) == -1);
    EXPECT_CODE(0, rdma_getaddrinfo(NULL, NULL, &hints, &found));
    EXPECT(found->ai_src_len == sizeof from && memcmp(found->ai_src_addr, &from, sizeof from) == 0);
    EXPECT(found->ai_dst_len == sizeof to && memcmp(found->ai_dst_addr, &to, sizeof to) == 0);
    EXPECT(found->ai_src_addr != hints.ai_src_addr && found->ai_port_space == RDMA_PS_TCP);
    rdma_freeaddrinfo(found);

    struct servent *http = getservbyname("http", "tcp"); /* there may be no /etc/services */
    if (http) {
        EXPECT_CODE(0, rdma_getaddrinfo("127.0.0.1", "http", NULL, &found));
        EXPECT(((struct sockaddr_in *) found->ai_dst_addr)->sin_port == http->s_port);
        EXPECT(found->ai_qp_type == IBV_QPT_RC && found->ai_port_space == RDMA_PS_TCP && found->ai_src_addr == NULL);
        rdma_freeaddrinfo(found);
    }
    struct rdma_addrinfo passive = {.ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_UDP};
    EXPECT_CODE(0, rdma_getaddrinfo(NULL, "7471", &passive, &found));
    EXPECT(found->ai_flags == RAI_PASSIVE && found->ai_dst_addr == NULL && found->ai_src_addr != NULL);
    EXPECT(found->ai_qp_type == IBV_QPT_UD);
    rdma_freeaddrinfo(found);
    struct rdma_addrinfo numeric = {.ai_flags = RAI_NUMERICHOST};
    EXPECT_CODE(EAI_NONAME, rdma_getaddrinfo("no.number", "7471", &numeric, &found));
    EXPECT_CODE(EAI_SERVICE, rdma_getaddrinfo("127.0.0.1", "no such service", NULL, &found));
}

/* A queue pair that the program has made, brought to INIT, and put into id->qp. */
static struct ibv_qp *give_own(struct rdma_cm_id *id, struct ibv_cq *cq) {
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT};
    int mask = 0;
    id->qp = create_rc(id->pd, cq);
    EXPECT_CODE(0, rdma_init_qp_attr(id, &init, &mask));
    EXPECT_CODE(0, ibv_modify_qp(id->qp, &init, mask));
    return id->qp;
}

static void a_connection_of_the_programs_own_queue_pairs(void) {
    static char buffer[64] = "by queue pairs of one's own";
    struct rdma_cm_id *listener = create_id(), *client = create_id();
    EXPECT_CODE(0, bind4(listener, "127.0.0.1", 0));
    EXPECT_CODE(0, rdma_listen(listener, 1));
    struct sockaddr_in to = ipv4("127.0.0.1", ntohs(rdma_get_src_port(listener)));
    EXPECT_CODE(0, rdma_resolve_addr(client, NULL, (struct sockaddr *) &to, 1000));
    PASS_OVER(RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_CODE(0, rdma_resolve_route(client, 1000));
    PASS_OVER(RDMA_CM_EVENT_ROUTE_RESOLVED);
    struct ibv_cq *cq = ibv_create_cq(client->verbs, 16, NULL, NULL, 0);
    struct ibv_mr *mr = ibv_reg_mr(client->pd, buffer, 64, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp *active = give_own(client, cq);
    struct rdma_conn_param parameters = {.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
    EXPECT_CODE(0, rdma_connect(client, &parameters));

    struct rdma_cm_event *event = NEXT(RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *server = event->id;
    EXPECT(server->verbs == client->verbs);
    EXPECT(event->param.conn.qp_num == active->qp_num);
    rdma_ack_cm_event(event);
    struct ibv_qp *passive = give_own(server, cq);
    struct ibv_sge into = {.addr = (uintptr_t) buffer + 32, .length = 32, .lkey = mr->lkey};
    struct ibv_sge from = {.addr = (uintptr_t) buffer, .length = 32, .lkey = mr->lkey};
    struct ibv_recv_wr receive = {.wr_id = 1, .sg_list = &into, .num_sge = 1}, *bad_receive;
    EXPECT_CODE(0, ibv_post_recv(passive, &receive, &bad_receive));
    EXPECT_CODE(0, rdma_accept(server, &parameters));
    PASS_OVER(RDMA_CM_EVENT_ESTABLISHED);
    PASS_OVER(RDMA_CM_EVENT_ESTABLISHED);

    struct ibv_send_wr send = {.wr_id = 1, .opcode = IBV_WR_SEND, .sg_list = &from, .num_sge = 1}, *bad;
    EXPECT_CODE(0, ibv_post_send(active, &send, &bad));
    EXPECT_WC(1, IBV_WC_SUCCESS, cq);
    EXPECT(memcmp(buffer, buffer + 32, 32) == 0);
    EXPECT_CODE(0, rdma_disconnect(client));
    PASS_OVER(RDMA_CM_EVENT_DISCONNECTED);
    PASS_OVER(RDMA_CM_EVENT_DISCONNECTED);
    EXPECT_CODE(0, rdma_destroy_id(server)); /* the queue pairs stay the program's */
    EXPECT_CODE(0, ibv_destroy_qp(passive));
    rdma_destroy_qp(client);
    EXPECT(client->qp == NULL);
    EXPECT_CODE(0, rdma_destroy_id(client));
    EXPECT_CODE(0, rdma_destroy_id(listener));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
}

/* rdma_resolve_addr binds an identifier that is not bound, as rdma_cm does, and the peer is told the port. */
static void the_asking_end_has_a_port_from_resolving_on(void) {
    enum { IDS = 64 };
    struct rdma_cm_id *listener = create_id(), *ids[IDS], *taker = create_id(), *bound = create_id();
    EXPECT_CODE(0, bind4(listener, "127.0.0.1", 0));
    EXPECT_CODE(0, rdma_listen(listener, 1));
    struct sockaddr_in to = ipv4("127.0.0.1", ntohs(rdma_get_src_port(listener)));
    for (int i = 0; i < IDS; i++) {
        ids[i] = create_id();
        EXPECT(rdma_get_src_port(ids[i]) == 0);
        EXPECT_CODE(0, rdma_resolve_addr(ids[i], NULL, (struct sockaddr *) &to, 1000));
        PASS_OVER(RDMA_CM_EVENT_ADDR_RESOLVED);
        EXPECT(rdma_get_src_port(ids[i]) != 0);
        EXPECT(((struct sockaddr_in *) rdma_get_local_addr(ids[i]))->sin_port == rdma_get_src_port(ids[i]));
        EXPECT(rdma_get_src_port(ids[i]) != rdma_get_src_port(listener));
        for (int j = 0; j < i; j++) {
            EXPECT(rdma_get_src_port(ids[i]) != rdma_get_src_port(ids[j]));
        }
    }
    int port = ntohs(rdma_get_src_port(ids[0])), other = ntohs(rdma_get_src_port(ids[1]));
    EXPECT_ERRNO(EADDRINUSE, bind4(taker, "127.0.0.1", port) == -1);
    EXPECT_CODE(0, rdma_destroy_id(ids[1]));
    EXPECT_CODE(0, bind4(taker, "127.0.0.1", other)); /* it went with its identifier */
    EXPECT_CODE(0, rdma_destroy_id(taker));
    EXPECT_CODE(0, bind4(bound, "127.0.0.1", other)); /* a port of the program's choice stays */
    EXPECT_CODE(0, rdma_resolve_addr(bound, NULL, (struct sockaddr *) &to, 1000));
    PASS_OVER(RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_CODE(other, ntohs(rdma_get_src_port(bound)));
    EXPECT_CODE(0, rdma_destroy_id(bound));

    EXPECT_CODE(0, rdma_resolve_route(ids[0], 1000));
    PASS_OVER(RDMA_CM_EVENT_ROUTE_RESOLVED);
    struct ibv_cq *cq = ibv_create_cq(ids[0]->verbs, 16, NULL, NULL, 0);
    struct ibv_qp *qp = give_own(ids[0], cq);
    struct rdma_conn_param parameters = {.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
    EXPECT_CODE(0, rdma_connect(ids[0], &parameters));
    struct rdma_cm_event *event = NEXT(RDMA_CM_EVENT_CONNECT_REQUEST);
    EXPECT_CODE(port, ntohs(rdma_get_dst_port(event->id)));
    EXPECT_CODE(port, ntohs(((struct sockaddr_in *) rdma_get_peer_addr(event->id))->sin_port));
    struct rdma_cm_id *asked = event->id;
    rdma_ack_cm_event(event);
    EXPECT_CODE(0, rdma_reject(asked, NULL, 0));
    PASS_OVER(RDMA_CM_EVENT_REJECTED);
    EXPECT_CODE(0, rdma_destroy_id(asked));
    EXPECT_CODE(0, ibv_destroy_qp(qp));
    ids[0]->qp = NULL;
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    for (int i = 0; i < IDS; i++) {
        if (i != 1) {
            EXPECT_CODE(0, rdma_destroy_id(ids[i]));
        }
    }
    EXPECT_CODE(0, rdma_destroy_id(listener));
}

/* As uDAPL does: the queue pair of one identifier answers the request that another one brings. */
static void a_queue_pair_moves_to_another_identifier(void) {
    struct rdma_cm_id *listener = create_id(), *client = create_id(), *spare = create_id();
    EXPECT_CODE(0, bind4(listener, "127.0.0.1", 0));
    EXPECT_CODE(0, rdma_listen(listener, 1));
    struct sockaddr_in to = ipv4("127.0.0.1", ntohs(rdma_get_src_port(listener)));
    for (int i = 0; i < 2; i++) {
        struct rdma_cm_id *id = i == 0 ? client : spare;
        EXPECT_CODE(0, rdma_resolve_addr(id, NULL, (struct sockaddr *) &to, 1000));
        PASS_OVER(RDMA_CM_EVENT_ADDR_RESOLVED);
    }
    EXPECT_CODE(0, rdma_resolve_route(client, 1000));
    PASS_OVER(RDMA_CM_EVENT_ROUTE_RESOLVED);
    struct ibv_cq *cq = ibv_create_cq(client->verbs, 16, NULL, NULL, 0);
    struct ibv_qp_init_attr attributes = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
    };
    EXPECT_CODE(0, rdma_create_qp(client, client->pd, &attributes));
    EXPECT_CODE(0, rdma_create_qp(spare, spare->pd, &attributes));
    struct rdma_conn_param parameters = {.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
    EXPECT_CODE(0, rdma_connect(client, &parameters));

    struct rdma_cm_event *event = NEXT(RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *server = event->id;
    rdma_ack_cm_event(event);
    server->qp = spare->qp;
    spare->qp = NULL;
    EXPECT_CODE(0, rdma_destroy_id(spare));
    EXPECT_CODE(0, rdma_accept(server, &parameters));
    PASS_OVER(RDMA_CM_EVENT_ESTABLISHED);
    PASS_OVER(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_CODE(0, rdma_disconnect(client));
    PASS_OVER(RDMA_CM_EVENT_DISCONNECTED);
    PASS_OVER(RDMA_CM_EVENT_DISCONNECTED);
    struct ibv_qp *moved = server->qp;
    EXPECT_CODE(0, rdma_destroy_id(server));
    EXPECT_CODE(0, ibv_destroy_qp(moved));
    rdma_destroy_qp(client);
    EXPECT_CODE(0, rdma_destroy_id(client));
    EXPECT_CODE(0, rdma_destroy_id(listener));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
}

static void wait_for_event(struct rdma_event_channel *on) {
    struct pollfd ready = {.fd = on->fd, .events = POLLIN};
    EXPECT(poll(&ready, 1, 10000) == 1);
}

/* As librpma does it with each request that it has accepted. */
static void events_that_are_not_read_yet_move_with_their_identifier(void) {
    struct rdma_event_channel *before = channel, *other = rdma_create_event_channel();
    struct rdma_cm_id *moves = create_id(), *stays = create_id();
    struct sockaddr_in to = ipv4("127.0.0.1", 7471);
    EXPECT_CODE(0, rdma_resolve_addr(moves, NULL, (struct sockaddr *) &to, 1000));
    wait_for_event(channel);
    EXPECT_CODE(0, rdma_resolve_addr(stays, NULL, (struct sockaddr *) &to, 1000));
    EXPECT_CODE(0, rdma_migrate_id(moves, other));
    EXPECT(moves->channel == other);
    channel = other;
    wait_for_event(other);
    struct rdma_cm_event *event = NEXT(RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT(event->id == moves);
    rdma_ack_cm_event(event);
    channel = before;
    event = NEXT(RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT(event->id == stays);
    rdma_ack_cm_event(event);
    EXPECT_CODE(0, rdma_destroy_id(stays));
    EXPECT_CODE(0, rdma_destroy_id(moves));
    rdma_destroy_event_channel(other);
}

static void *destroy(void *id) {
    return (void *) (intptr_t) rdma_destroy_id(id);
}

/* rdma_destroy_id(3): it waits until the program has acknowledged the events that it has read. */
static void an_identifier_goes_when_its_events_are_acknowledged(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t destroyer;
        void *result;
        struct sockaddr_in at = ipv4("127.0.0.1", 0);
        struct timespec until;
        struct rdma_cm_id *id = create_id();
        EXPECT(rdma_resolve_addr(id, NULL, (struct sockaddr *) &at, 2000) == 0);
        struct rdma_cm_event *event = NEXT(RDMA_CM_EVENT_ADDR_RESOLVED);
        EXPECT(pthread_create(&destroyer, NULL, destroy, id) == 0);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        EXPECT(pthread_timedjoin_np(destroyer, &result, &until) == ETIMEDOUT);
        rdma_ack_cm_event(event);
        until.tv_sec += 20;
        EXPECT(pthread_timedjoin_np(destroyer, &result, &until) == 0);
        EXPECT(result == NULL);
    }
}

int main(void) {
    channel = rdma_create_event_channel();
    an_address_of_loopback_binds_no_device();
    an_address_of_an_interface_binds_its_device();
    refusals();
    families_are_apart_when_they_are_to_be();
    addresses_by_name();
    a_connection_of_the_programs_own_queue_pairs();
    the_asking_end_has_a_port_from_resolving_on();
    a_queue_pair_moves_to_another_identifier();
    events_that_are_not_read_yet_move_with_their_identifier();
    an_identifier_goes_when_its_events_are_acknowledged();
    rdma_destroy_event_channel(channel);
    printf("%d failures\n", failures);
    return failures != 0;
}
