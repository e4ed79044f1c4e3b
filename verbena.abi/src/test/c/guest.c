/* A library that leaves its objects to its destructor, which the dynamic loader calls while it holds its lock. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include "check.h"

#define CHANNELS 16
#define IDENTIFIERS 20000

static struct rdma_event_channel *channels[CHANNELS];
static struct rdma_cm_id *listeners[CHANNELS];

/* Begins to listen; returns how much went wrong. */
int begin(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < CHANNELS; i++) {
        channels[i] = rdma_create_event_channel();
        EXPECT(channels[i] != NULL);
        EXPECT(rdma_create_id(channels[i], &listeners[i], NULL, RDMA_PS_TCP) == 0);
        EXPECT(rdma_bind_addr(listeners[i], (struct sockaddr *) &at) == 0);
        EXPECT(rdma_listen(listeners[i], 1) == 0);
    }
    return failures;
}

__attribute__((destructor)) static void end(void) {
    for (int i = 1; i < CHANNELS; i++) {
        EXPECT(rdma_destroy_id(listeners[i]) == 0);
        rdma_destroy_event_channel(channels[i]);
    }
    /* While their threads end, the JVM stops all threads to collect garbage. */
    for (int i = 0; i < IDENTIFIERS; i++) {
        struct rdma_cm_id *id;
        EXPECT(rdma_create_id(channels[0], &id, NULL, RDMA_PS_TCP) == 0);
        EXPECT(rdma_destroy_id(id) == 0);
    }
    EXPECT(rdma_destroy_id(listeners[0]) == 0);
    rdma_destroy_event_channel(channels[0]);
}
