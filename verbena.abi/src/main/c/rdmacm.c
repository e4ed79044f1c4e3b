/* The public functions of librdmacm.so.1, as rdma-core 44 has them; rsockets are in rsocket.c. All they do is done in Java, which
 * libibverbs.so.1 has started. */
#include <stdint.h>
#include <unistd.h>

#include "verbena.h"

VERBENA_OWN_CODE

#define EXPORT __attribute__((visibility("default")))

/* ---- events */

struct channel { /* struct rdma_event_channel */
    int fd;
};

EXPORT void *rdma_create_event_channel(void) { return pointer(java(create_event_channel, 0)); }
EXPORT void rdma_destroy_event_channel(void *channel) { java(destroy_event_channel, channel); }
EXPORT int rdma_get_cm_event(struct channel *channel, void **event) {
    long answer;
    do {
        if (verbena_await_event(channel->fd) != 0) {
            return -1;
        }
        answer = java(take_cm_event, channel, event);
    } while (answer == -ENOENT); /* another thread has it, or its identifier is gone */
    return number(answer);
}
EXPORT int rdma_ack_cm_event(void *event) { return number(java(ack_cm_event, event)); }

/* ---- identifiers */

EXPORT int rdma_create_id(void *channel, void **id, void *context, int space) {
    return number(java(create_id, channel, id, context, space));
}
EXPORT int rdma_destroy_id(void *id) { return number(java(destroy_id, id)); }
EXPORT int rdma_migrate_id(void *id, void *channel) { return number(java(migrate_id, id, channel)); }
EXPORT int rdma_bind_addr(void *id, void *address) { return number(java(bind_addr, id, address)); }
EXPORT int rdma_resolve_addr(void *id, void *source, void *destination, int timeout) {
    return number(java(resolve_addr, id, source, destination, timeout));
}
EXPORT int rdma_resolve_route(void *id, int timeout) { return number(java(resolve_route, id, timeout)); }
EXPORT uint16_t rdma_get_src_port(void *id) { return (uint16_t) java(get_port, id, 0); }
EXPORT uint16_t rdma_get_dst_port(void *id) { return (uint16_t) java(get_port, id, 1); }
EXPORT int rdma_set_option(void *id, int level, int name, void *value, size_t length) {
    return number(java(set_option, id, level, name, value, length));
}
EXPORT int rdma_notify(void *id, int event) { return number(java(notify, id, event)); }

/* ---- queue pairs */

EXPORT int rdma_create_qp(void *id, void *pd, void *attributes) { return number(java(cm_create_qp, id, pd, attributes)); }
EXPORT int rdma_create_qp_ex(void *id, void *attributes) { return number(java(cm_create_qp_ex, id, attributes)); }
EXPORT void rdma_destroy_qp(void *id) { java(cm_destroy_qp, id); }
EXPORT int rdma_create_srq(void *id, void *pd, void *attributes) { return number(java(cm_create_srq, id, pd, attributes)); }
EXPORT int rdma_create_srq_ex(void *id, void *attributes) { return number(java(cm_create_srq_ex, id, attributes)); }
EXPORT void rdma_destroy_srq(void *id) { java(cm_destroy_srq, id); }
EXPORT int rdma_init_qp_attr(void *id, void *attributes, int *mask) {
    return number(java(init_qp_attr, id, attributes, mask));
}

/* ---- connections */

EXPORT int rdma_connect(void *id, void *parameters) { return number(java(connect, id, parameters)); }
EXPORT int rdma_establish(void *id) { return number(java(establish, id)); }
EXPORT int rdma_listen(void *id, int backlog) { return number(java(listen, id, backlog)); }
EXPORT int rdma_get_request(void *listener, void **id) { return number(java(get_request, listener, id)); }
EXPORT int rdma_accept(void *id, void *parameters) { return number(java(accept, id, parameters)); }
EXPORT int rdma_reject(void *id, const void *data, uint8_t length) { return number(java(reject, id, data, length)); }
EXPORT int rdma_reject_ece(void *id, const void *data, uint8_t length) { return number(java(reject, id, data, length)); }
EXPORT int rdma_disconnect(void *id) { return number(java(disconnect, id)); }

/* ---- multicast */

struct join { /* struct rdma_cm_join_mc_attr_ex */
    uint32_t mask;
    uint32_t flags;
    void *address;
};

EXPORT int rdma_join_multicast(void *id, void *address, void *context) {
    return number(java(join_multicast, id, address, 0, context));
}
EXPORT int rdma_join_multicast_ex(void *id, const struct join *join, void *context) {
    if (!join || join->mask != 3) { /* both fields, and no later one */
        return number(-EINVAL);
    }
    return number(java(join_multicast, id, join->address, join->flags, context));
}
EXPORT int rdma_leave_multicast(void *id, void *address) { return number(java(leave_multicast, id, address)); }

/* ---- addresses, endpoints, devices */

EXPORT int rdma_getaddrinfo(const char *node, const char *service, const void *hints, void **result) {
    enum { EAI = 4096 }; /* Java's mark of codes that are getaddrinfo's */
    long answer = java(cm_getaddrinfo, node, service, hints, result);
    return answer < -EAI ? (int) (answer + EAI) : number(answer);
}
EXPORT void rdma_freeaddrinfo(void *list) { java(cm_freeaddrinfo, list); }
EXPORT int rdma_create_ep(void **id, void *info, void *pd, void *attributes) {
    return number(java(create_ep, id, info, pd, attributes));
}
EXPORT void rdma_destroy_ep(void *id) { java(destroy_ep, id); }
EXPORT void *rdma_get_devices(int *count) { return pointer(java(get_devices, count)); }
EXPORT void rdma_free_devices(void *list) { java(free_devices, list); }

enum { CM_EVENT = 4 };
EXPORT const char *rdma_event_str(int event) { return pointer(java(text, CM_EVENT, event)); }

/* Options of one vendor's cards: there are none. */
EXPORT int rdma_set_local_ece(void *id, void *ece) { (void) id, (void) ece; return number(-EOPNOTSUPP); }
EXPORT int rdma_get_remote_ece(void *id, void *ece) { (void) id, (void) ece; return number(-EOPNOTSUPP); }
