/* The public functions of libibverbs.so.1, as rdma-core 44 has them. All they do is done in Java. */
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "verbena.h"

#define EXPORT __attribute__((visibility("default")))

/* struct ibv_comp_channel; what Java fills in. */
struct channel {
    void *context;
    int fd;
    int references;
};

/* ---- devices */

EXPORT void *ibv_get_device_list(int *count) { return pointer(java(get_device_list, count)); }
EXPORT void ibv_free_device_list(void *list) { java(free_device_list, list); }
EXPORT const char *ibv_get_device_name(void *device) { return pointer(java(get_device_name, device)); }
EXPORT int ibv_get_device_index(void *device) { return number(java(get_device_index, device)); }
EXPORT uint64_t ibv_get_device_guid(void *device) { return (uint64_t) java(get_device_guid, device); }
EXPORT void *ibv_open_device(void *device) { return pointer(java(open_device, device)); }
/* For libverbena-files.so: the folder with what sysfs and /dev have of devices. 0, or -1 and errno. */
EXPORT int verbena_files(char *into, size_t size) { return number(java(device_files, into, size)); }
EXPORT int ibv_close_device(void *context) { return code(java(close_device, context)); }
EXPORT int ibv_query_device(void *context, void *attributes) { return code(java(query_device, context, attributes)); }
/* Without the size at its end, as programs from before verbs_context call it: its attributes end at the link layer. */
EXPORT int ibv_query_port(void *context, uint8_t port, void *attributes) {
    return code(java(query_port, context, port, attributes, 0));
}
EXPORT int ibv_query_gid(void *context, uint8_t port, int index, void *gid) {
    return number(java(query_gid, context, port, index, gid));
}
EXPORT int _ibv_query_gid_ex(
    void *context, uint32_t port, uint32_t index, void *entry, uint32_t flags, size_t entry_size) {
    return code(java(query_gid_ex, context, port, index, entry, flags, entry_size));
}
EXPORT ssize_t _ibv_query_gid_table(void *context, void *entries, size_t max, uint32_t flags, size_t entry_size) {
    return java(query_gid_table, context, entries, max, flags, entry_size); /* a negative errno, ibv_query_gid_table(3) */
}
EXPORT int ibv_query_gid_type(void *context, uint8_t port, unsigned index, void *type) {
    return number(java(query_gid_type, context, port, index, type));
}
EXPORT int ibv_query_pkey(void *context, uint8_t port, int index, void *pkey) {
    return number(java(query_pkey, context, port, index, pkey));
}
EXPORT int ibv_get_pkey_index(void *context, uint8_t port, uint16_t pkey) {
    return number(java(get_pkey_index, context, port, pkey));
}
EXPORT int ibv_resolve_eth_l2_from_gid(void *context, void *attributes, uint8_t *mac, uint16_t *vlan) {
    return code(java(resolve_eth_l2, context, attributes, mac, vlan));
}

/* Of a device that this process has open. What another process has opened cannot be taken over. */
EXPORT void *ibv_import_device(int fd) { return pointer(java(import_device, fd)); }
EXPORT void *ibv_import_pd(void *context, uint32_t handle) { return pointer(java(import_pd, context, handle)); }
EXPORT void ibv_unimport_pd(void *pd) { java(unimport, pd); }
EXPORT void *ibv_import_mr(void *pd, uint32_t handle) { return pointer(java(import_mr, pd, handle)); }
EXPORT void ibv_unimport_mr(void *mr) { java(unimport, mr); }
EXPORT void *ibv_import_dm(void *context, uint32_t handle) { return pointer(java(import_dm, context, handle)); }
EXPORT void ibv_unimport_dm(void *dm) { java(unimport, dm); }

/* ---- events: their file descriptors are readable as long as there is one, so poll(2), epoll(7) and O_NONBLOCK are the kernel's
 * business */

EXPORT int ibv_get_async_event(void *context, void *event) {
    int fd = number(java(async_fd, context));
    if (fd < 0) {
        return -1;
    }
    long answer;
    do {
        if (verbena_await_event(fd) != 0) {
            return -1;
        }
        answer = java(take_async_event, context, event);
    } while (answer == -ENOENT); /* another thread has it, or its object is gone */
    return number(answer);
}
EXPORT void ibv_ack_async_event(void *event) { java(ack_async_event, event); }

EXPORT void *ibv_create_comp_channel(void *context) { return pointer(java(create_comp_channel, context)); }
EXPORT int ibv_destroy_comp_channel(void *channel) { return code(java(destroy_comp_channel, channel)); }
/* A thread that waits looks after the device meanwhile, and sleeps where packets arrive. No Java is on its stack then, so signal
 * handlers may call verbs, or leave by a long jump. Where it does not wait, or may not do that, it waits for the descriptor. */
EXPORT int ibv_get_cq_event(struct channel *channel, void **cq, void **cq_context) {
    enum { TAKEN, POLL, READ, CLOSED }; /* answers of await_cq_event */
    enum { DESCRIPTORS = 64 }; /* of a device with more this thread waits as it would for others */
    struct pollfd asleep[DESCRIPTORS];
    void *event[2]; /* the queue and its cq_context; or how many to poll */
    int fd = channel->fd, is_attentive = !(fcntl(fd, F_GETFL) & O_NONBLOCK) && verbena_may_sleep();
    long answer;
    do {
        answer = is_attentive ? java(await_cq_event, channel, event, asleep, sizeof asleep) : READ;
        if (answer == POLL) {
            if (verbena_sleep(asleep, (size_t) event[0]) != 0) {
                return -1;
            }
        } else if (answer == READ) {
            if (verbena_await_event(fd) != 0) {
                return -1;
            }
            answer = java(take_cq_event, channel, event);
            answer = answer == -ENOENT ? READ : answer; /* another thread has it, or its queue is gone */
        } else if (answer == CLOSED) {
            for (;;) {
                pause();
            }
        }
    } while (answer > 0);
    if (answer < 0) {
        return number(answer);
    }
    *cq = event[0];
    *cq_context = event[1];
    return 0;
}
EXPORT void ibv_ack_cq_events(void *cq, unsigned count) { java(ack_cq_events, cq, count); }

/* ---- memory */

EXPORT void *ibv_alloc_pd(void *context) { return pointer(java(alloc_pd, context)); }
EXPORT int ibv_dealloc_pd(void *pd) { return code(java(dealloc_pd, pd)); }
EXPORT void *ibv_reg_mr(void *pd, void *address, size_t length, int access) {
    return pointer(java(reg_mr, pd, address, length, address, access));
}
EXPORT void *ibv_reg_mr_iova(void *pd, void *address, size_t length, uint64_t iova, int access) {
    return pointer(java(reg_mr, pd, address, length, iova, access));
}
EXPORT void *ibv_reg_mr_iova2(void *pd, void *address, size_t length, uint64_t iova, unsigned access) {
    return pointer(java(reg_mr, pd, address, length, iova, access));
}
EXPORT void *ibv_reg_dmabuf_mr(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access) {
    (void) pd, (void) offset, (void) length, (void) iova, (void) fd, (void) access;
    return pointer(-EOPNOTSUPP);
}
EXPORT int ibv_rereg_mr(void *mr, int flags, void *pd, void *address, size_t length, int access) {
    enum { ERR_INPUT = -1, ERR_CMD = -4 }; /* enum ibv_rereg_mr_err_code */
    enum { WRONG_INPUT = -4095 };
    long answer = java(rereg_mr, mr, flags, pd, address, length, access);
    if (answer == WRONG_INPUT) {
        errno = EINVAL;
        return ERR_INPUT;
    }
    return answer < 0 ? (errno = (int) -answer, ERR_CMD) : 0;
}
EXPORT int ibv_dereg_mr(void *mr) { return code(java(dereg_mr, mr)); }

/* ---- completion queues */

EXPORT void *ibv_create_cq(void *context, int entries, void *cq_context, void *channel, int vector) {
    return pointer(java(create_cq, context, entries, cq_context, channel, vector));
}
EXPORT int ibv_resize_cq(void *cq, int entries) { return code(java(resize_cq, cq, entries)); }
EXPORT int ibv_destroy_cq(void *cq) { return code(java(destroy_cq, cq)); }

/* ---- queues */

EXPORT void *ibv_create_srq(void *pd, void *attributes) { return pointer(java(create_srq, pd, attributes)); }
EXPORT int ibv_modify_srq(void *srq, void *attributes, int mask) { return code(java(modify_srq, srq, attributes, mask)); }
EXPORT int ibv_query_srq(void *srq, void *attributes) { return code(java(query_srq, srq, attributes)); }
EXPORT int ibv_destroy_srq(void *srq) { return code(java(destroy_srq, srq)); }
EXPORT void *ibv_create_qp(void *pd, void *attributes) { return pointer(java(create_qp, pd, attributes)); }
EXPORT int ibv_modify_qp(void *qp, void *attributes, int mask) { return code(java(modify_qp, qp, attributes, mask)); }
EXPORT int ibv_query_qp(void *qp, void *attributes, int mask, void *init) {
    return code(java(query_qp, qp, attributes, mask, init));
}
EXPORT int ibv_destroy_qp(void *qp) { return code(java(destroy_qp, qp)); }
EXPORT void *ibv_qp_to_qp_ex(void *qp) { return pointer(java(qp_to_qp_ex, qp)); }
EXPORT int ibv_query_qp_data_in_order(void *qp, int opcode, uint32_t flags) {
    (void) qp, (void) opcode, (void) flags;
    return 0; /* no promise */
}
/* Enhanced connection establishment is for options of one vendor's cards: there are none. */
EXPORT int ibv_set_ece(void *qp, void *ece) { (void) qp, (void) ece; return errno = EOPNOTSUPP; }
EXPORT int ibv_query_ece(void *qp, void *ece) { (void) qp, (void) ece; return errno = EOPNOTSUPP; }

/* ---- datagrams */

EXPORT void *ibv_create_ah(void *pd, void *attributes) { return pointer(java(create_ah, pd, attributes)); }
EXPORT int ibv_init_ah_from_wc(void *context, uint8_t port, void *wc, void *grh, void *attributes) {
    return code(java(init_ah_from_wc, context, port, wc, grh, attributes));
}
EXPORT void *ibv_create_ah_from_wc(void *pd, void *wc, void *grh, uint8_t port) {
    return pointer(java(create_ah_from_wc, pd, wc, grh, port));
}
EXPORT int ibv_destroy_ah(void *ah) { return code(java(destroy_ah, ah)); }
EXPORT int ibv_attach_mcast(void *qp, const void *gid, uint16_t lid) { return code(java(attach_mcast, qp, gid, lid)); }
EXPORT int ibv_detach_mcast(void *qp, const void *gid, uint16_t lid) { return code(java(detach_mcast, qp, gid, lid)); }

/* ---- words and numbers */

enum { WC_STATUS, NODE_TYPE, PORT_STATE, EVENT_TYPE };
EXPORT const char *ibv_wc_status_str(int status) { return pointer(java(text, WC_STATUS, status)); }
EXPORT const char *ibv_node_type_str(int type) { return pointer(java(text, NODE_TYPE, type)); }
EXPORT const char *ibv_port_state_str(int state) { return pointer(java(text, PORT_STATE, state)); }
EXPORT const char *ibv_event_type_str(int type) { return pointer(java(text, EVENT_TYPE, type)); }

enum { RATE_TO_MULT, MULT_TO_RATE, RATE_TO_MBPS, MBPS_TO_RATE };
EXPORT int ibv_rate_to_mult(int rate) { return (int) java(rate, RATE_TO_MULT, rate); }
EXPORT int mult_to_ibv_rate(int mult) { return (int) java(rate, MULT_TO_RATE, mult); }
EXPORT int ibv_rate_to_mbps(int rate) { return (int) java(rate, RATE_TO_MBPS, rate); }
EXPORT int mbps_to_ibv_rate(int mbps) { return (int) java(rate, MBPS_TO_RATE, mbps); }

/* ---- the host */

/* Memory of a software device is shared with a child like any other: nothing to do. A child cannot use what its parent
 * opened. */
EXPORT int ibv_fork_init(void) { return 0; }
EXPORT int ibv_is_fork_initialized(void) { return 2; } /* IBV_FORK_UNNEEDED */
EXPORT int ibv_dontfork_range(void *base, size_t size) { (void) base, (void) size; return 0; }
EXPORT int ibv_dofork_range(void *base, size_t size) { (void) base, (void) size; return 0; }
EXPORT const char *ibv_get_sysfs_path(void) { return "/sys"; }
EXPORT int ibv_read_sysfs_file(const char *folder, const char *file, char *into, size_t size) {
    char path[PATH_MAX];
    if (size == 0 || snprintf(path, sizeof path, "%s/%s", folder, file) >= (int) sizeof path) {
        errno = EINVAL;
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    ssize_t n = read(fd, into, size);
    close(fd);
    if (n > 0 && into[n - 1] == '\n') {
        into[--n] = 0;
    } else if (n >= 0 && (size_t) n < size) {
        into[n] = 0;
    }
    return (int) n;
}
EXPORT void ibv_static_providers(void *unused, ...) { (void) unused; }
