/* A library that leaves its objects to its destructor, which the dynamic loader calls while it holds its lock. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include "check.h"

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener;

/* Begins to listen; returns how much went wrong. */
int begin(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    channel = rdma_create_event_channel();
    EXPECT(channel != NULL);
    EXPECT(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) == 0);
    EXPECT(rdma_bind_addr(listener, (struct sockaddr *) &at) == 0);
    EXPECT(rdma_listen(listener, 1) == 0);
    return failures;
}

__attribute__((destructor)) static void end(void) {
    EXPECT(rdma_destroy_id(listener) == 0);
    rdma_destroy_event_channel(channel);
}
