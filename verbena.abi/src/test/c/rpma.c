/* What librpma's own examples try: private data, reads, writes, flushes, atomic writes, messages and immediate data,
 * with one queue for completions, with one of their own for receives, and with a shared receive queue.
 * rpma ADDRESS PORT queue|queues|shared [client]; the server takes CONNECTIONS of them, all at once. */
#include <arpa/inet.h>
#include <librpma.h>
#include <stdbool.h>

#include "check.h"

#define CONNECTIONS 3
#define BYTES 65536
#define GREETING "written by the server"
#define NUMBER 0x4711
#define ANY ((enum ibv_wc_opcode) -1)

static const char *queues;
static struct rpma_peer *peer;
static struct rpma_conn_cfg *configuration;
static struct rpma_srq *shared;

/* Ends the program when a call fails that the rest needs. */
#define NEED(call) \
    do { \
        int answer = (call); \
        if (answer) { \
            printf("line %d: %s: %s\n", __LINE__, #call, rpma_err_2str(answer)); \
            exit(1); \
        } \
    } while (0)

struct buffer {
    char *bytes;
    struct rpma_mr_local *region;
};

static struct buffer allocate(void) {
    struct buffer made = {.bytes = aligned_alloc(4096, BYTES)};
    memset(made.bytes, 0, BYTES);
    NEED(rpma_mr_reg(peer, made.bytes, BYTES,
        RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST
            | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV,
        &made.region));
    return made;
}

static void deallocate(struct buffer buffer) {
    EXPECT_CODE(0, rpma_mr_dereg(&buffer.region));
    free(buffer.bytes);
}

static struct rpma_cq *receives(struct rpma_conn *connection) {
    struct rpma_cq *found = NULL;
    if (shared) {
        NEED(rpma_srq_get_rcq(shared, &found));
    }
    if (!found) {
        NEED(rpma_conn_get_rcq(connection, &found));
    }
    if (!found) {
        NEED(rpma_conn_get_cq(connection, &found));
    }
    return found;
}

static struct rpma_cq *requests(struct rpma_conn *connection) {
    struct rpma_cq *found;
    NEED(rpma_conn_get_cq(connection, &found));
    return found;
}

static struct ibv_wc completion(struct rpma_cq *of, enum ibv_wc_opcode opcode) {
    struct ibv_wc done;
    int answer;
    while ((answer = rpma_cq_get_wc(of, 1, &done, NULL)) == RPMA_E_NO_COMPLETION) {
        NEED(rpma_cq_wait(of));
    }
    NEED(answer);
    NEED(done.status == IBV_WC_SUCCESS ? 0 : RPMA_E_PROVIDER);
    EXPECT(opcode == ANY || done.opcode == opcode);
    return done;
}

/* What was sent is done, and so is a receive. An answer may overtake the acknowledgement of what it answers, so in one queue
   the two completions have no order. Returns the receive's. */
static struct ibv_wc both(struct rpma_conn *connection, enum ibv_wc_opcode sent, enum ibv_wc_opcode received) {
    int one_queue = requests(connection) == receives(connection);
    struct ibv_wc first = completion(requests(connection), one_queue ? ANY : sent);
    struct ibv_wc second = completion(receives(connection), one_queue ? ANY : received);
    if (first.opcode == received) {
        struct ibv_wc later = second;
        second = first, first = later;
    }
    EXPECT(first.opcode == sent && second.opcode == received);
    return second;
}

static void expect_event(struct rpma_conn *connection, enum rpma_conn_event wanted) {
    enum rpma_conn_event event;
    NEED(rpma_conn_next_event(connection, &event));
    NEED(event == wanted ? 0 : RPMA_E_UNKNOWN);
}

static void receive(struct rpma_conn *connection, struct buffer into) {
    if (shared) {
        NEED(rpma_srq_recv(shared, into.region, 0, BYTES, into.bytes));
    } else {
        NEED(rpma_recv(connection, into.region, 0, BYTES, into.bytes));
    }
}

/* ---- the server */

struct served {
    struct rpma_conn *connection;
    struct buffer memory, messages;
};

static struct served answer_one(struct rpma_ep *endpoint) {
    struct served made = {.memory = allocate(), .messages = allocate()};
    strcpy(made.memory.bytes, GREETING);
    struct rpma_conn_req *request;
    NEED(rpma_ep_next_conn_req(endpoint, configuration, &request));
    struct rpma_conn_private_data hello;
    NEED(rpma_conn_req_get_private_data(request, &hello));
    EXPECT(hello.len >= 6 && memcmp(hello.ptr, "hello", 6) == 0); /* the wire pads it */
    if (shared) {
        receive(NULL, made.messages);
    } else {
        NEED(rpma_conn_req_recv(request, made.messages.region, 0, BYTES, made.messages.bytes));
    }
    char descriptor[255];
    size_t length;
    NEED(rpma_mr_get_descriptor_size(made.memory.region, &length));
    NEED(rpma_mr_get_descriptor(made.memory.region, descriptor));
    struct rpma_conn_private_data told = {.ptr = descriptor, .len = (uint8_t) length};
    NEED(rpma_conn_req_connect(&request, &told, &made.connection));
    expect_event(made.connection, RPMA_CONN_ESTABLISHED);
    return made;
}

static int serve(const char *address, const char *port) {
    struct rpma_ep *endpoint;
    struct served all[CONNECTIONS];
    NEED(rpma_ep_listen(peer, address, port, &endpoint));
    printf("listening\n");
    for (int i = 0; i < CONNECTIONS; i++) {
        all[i] = answer_one(endpoint);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        struct served *one = &all[i];
        struct ibv_wc done = completion(receives(one->connection), IBV_WC_RECV);
        struct buffer message = {.bytes = (char *) (uintptr_t) done.wr_id};
        EXPECT(done.byte_len == BYTES && message.bytes[BYTES - 1] == 'm');
        EXPECT((done.wc_flags & IBV_WC_WITH_IMM) && ntohl(done.imm_data) == NUMBER);
        receive(one->connection, all[i].messages);
        strcpy(one->memory.bytes + 4096, "answered");
        NEED(rpma_send(one->connection, one->memory.region, 4096, 9, RPMA_F_COMPLETION_ALWAYS, NULL));
        done = both(one->connection, IBV_WC_SEND, IBV_WC_RECV_RDMA_WITH_IMM);
        EXPECT((done.wc_flags & IBV_WC_WITH_IMM) && ntohl(done.imm_data) == NUMBER + 1);
        EXPECT(strcmp(one->memory.bytes + 8192, "with a number") == 0);
        EXPECT(memcmp(one->memory.bytes + 64, "8 bytes!", 8) == 0);
        EXPECT_CODE(0, rpma_send(one->connection, one->memory.region, 4096, 9, RPMA_F_COMPLETION_ALWAYS, NULL));
        completion(requests(one->connection), IBV_WC_SEND);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        expect_event(all[i].connection, RPMA_CONN_CLOSED);
        EXPECT_CODE(0, rpma_conn_disconnect(all[i].connection));
        EXPECT_CODE(0, rpma_conn_delete(&all[i].connection));
    }
    if (shared) {
        EXPECT_CODE(0, rpma_srq_delete(&shared));
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        deallocate(all[i].memory);
        deallocate(all[i].messages);
    }
    EXPECT_CODE(0, rpma_ep_shutdown(&endpoint));
    return failures;
}

/* ---- the client */

static struct rpma_conn *ask(const char *address, const char *port) {
    struct rpma_conn_req *request;
    struct rpma_conn *connection;
    struct rpma_conn_private_data hello = {.ptr = "hello", .len = 6};
    NEED(rpma_conn_req_new(peer, address, port, configuration, &request));
    NEED(rpma_conn_req_connect(&request, &hello, &connection));
    expect_event(connection, RPMA_CONN_ESTABLISHED);
    return connection;
}

static void one_sided(struct rpma_conn *connection, struct rpma_mr_remote *remote, struct buffer mine) {
    struct rpma_cq *done = requests(connection);
    NEED(rpma_read(connection, mine.region, 0, remote, 0, sizeof GREETING, RPMA_F_COMPLETION_ALWAYS, NULL));
    completion(done, IBV_WC_RDMA_READ);
    EXPECT(strcmp(mine.bytes, GREETING) == 0);

    memset(mine.bytes, 'w', 4096);
    NEED(rpma_write(connection, remote, 128, mine.region, 0, 1024, RPMA_F_COMPLETION_ON_ERROR, NULL));
    NEED(rpma_flush(connection, remote, 128, 1024, RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS, NULL));
    completion(done, ANY); /* librpma's business: it reads a byte */
    NEED(rpma_atomic_write(connection, remote, 64, "8 bytes!", RPMA_F_COMPLETION_ON_ERROR, NULL));
    NEED(rpma_read(connection, mine.region, 4096, remote, 0, 1152, RPMA_F_COMPLETION_ALWAYS, NULL));
    completion(done, IBV_WC_RDMA_READ);
    EXPECT(memcmp(mine.bytes + 4096 + 64, "8 bytes!", 8) == 0);
    EXPECT(memcmp(mine.bytes + 4096 + 128, mine.bytes, 1024) == 0);
}

static void messages(struct rpma_conn *connection, struct rpma_mr_remote *remote, struct buffer mine, struct buffer theirs) {
    receive(connection, theirs);
    memset(mine.bytes, 'm', BYTES);
    NEED(rpma_send_with_imm(connection, mine.region, 0, BYTES, RPMA_F_COMPLETION_ALWAYS, NUMBER, NULL));
    struct ibv_wc done = both(connection, IBV_WC_SEND, IBV_WC_RECV);
    EXPECT(done.byte_len == 9 && strcmp((char *) (uintptr_t) done.wr_id, "answered") == 0);

    receive(connection, theirs);
    strcpy(mine.bytes, "with a number");
    NEED(rpma_write_with_imm(connection, remote, 8192, mine.region, 0, 14, RPMA_F_COMPLETION_ALWAYS, NUMBER + 1, NULL));
    both(connection, IBV_WC_RDMA_WRITE, IBV_WC_RECV); /* all has been looked at */
}

static int ask_all(const char *address, const char *port) {
    struct rpma_conn *connections[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        connections[i] = ask(address, port);
    }
    struct buffer mine = allocate(), theirs = allocate();
    for (int i = 0; i < CONNECTIONS; i++) {
        struct rpma_conn_private_data told;
        struct rpma_mr_remote *remote;
        size_t size;
        NEED(rpma_conn_get_private_data(connections[i], &told));
        NEED(rpma_mr_remote_from_descriptor(told.ptr, told.len, &remote));
        NEED(rpma_mr_remote_get_size(remote, &size));
        EXPECT(size == BYTES);
        one_sided(connections[i], remote, mine);
        messages(connections[i], remote, mine, theirs);
        EXPECT_CODE(0, rpma_mr_remote_delete(&remote));
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        EXPECT_CODE(0, rpma_conn_disconnect(connections[i]));
        expect_event(connections[i], RPMA_CONN_CLOSED);
        EXPECT_CODE(0, rpma_conn_delete(&connections[i]));
    }
    if (shared) {
        EXPECT_CODE(0, rpma_srq_delete(&shared));
    }
    deallocate(mine);
    deallocate(theirs);
    return failures;
}

static void configure(void) {
    NEED(rpma_conn_cfg_new(&configuration));
    NEED(rpma_conn_cfg_set_sq_size(configuration, 8));
    NEED(rpma_conn_cfg_set_rq_size(configuration, 8));
    NEED(rpma_conn_cfg_set_cq_size(configuration, 16));
    if (strcmp(queues, "queues") == 0) {
        NEED(rpma_conn_cfg_set_rcq_size(configuration, 8));
    }
    if (strcmp(queues, "shared") == 0) {
        struct rpma_srq_cfg *how;
        NEED(rpma_srq_cfg_new(&how));
        NEED(rpma_srq_cfg_set_rcq_size(how, 16));
        NEED(rpma_srq_new(peer, how, &shared));
        NEED(rpma_srq_cfg_delete(&how));
        NEED(rpma_conn_cfg_set_srq(configuration, shared));
    }
}

int main(int count, char **arguments) {
    if (count < 4) {
        return 2;
    }
    bool asks = count > 4;
    queues = arguments[3];
    struct ibv_context *context;
    NEED(rpma_utils_get_ibv_context(
        arguments[1], asks ? RPMA_UTIL_IBV_CONTEXT_REMOTE : RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
    NEED(rpma_peer_new(context, &peer));
    configure();
    int failed = asks ? ask_all(arguments[1], arguments[2]) : serve(arguments[1], arguments[2]);
    EXPECT_CODE(0, rpma_conn_cfg_delete(&configuration));
    EXPECT_CODE(0, rpma_peer_delete(&peer));
    printf("librpma: %s\n", failed + failures == 0 ? "done" : "failed");
    return failed + failures != 0;
}
