/* What the test programs share: a line for each thing that is not as the man pages say, and exit code 1 then. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int failures;

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: not so: %s (errno %d)\n", __LINE__, #condition, errno); \
            failures++; \
        } \
    } while (0)

/* A call that returns the errno itself. */
#define EXPECT_CODE(wanted, call) \
    do { \
        int code = (call); \
        if (code != (wanted)) { \
            printf("line %d: %s gave %d, not %s\n", __LINE__, #call, code, #wanted); \
            failures++; \
        } \
    } while (0)

/* A call that returns NULL or -1, and sets errno. */
#define EXPECT_ERRNO(wanted, condition) \
    do { \
        errno = 0; \
        if (!(condition) || errno != (wanted)) { \
            printf("line %d: %s: errno %d, not %s\n", __LINE__, #condition, errno, #wanted); \
            failures++; \
        } \
    } while (0)

static inline struct ibv_context *open_first(void) {
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
    if (!context) {
        perror("no device");
        exit(1);
    }
    ibv_free_device_list(list);
    return context;
}

/* The next completion; the program ends when none comes within ten seconds. */
static inline struct ibv_wc next_of(struct ibv_cq *cq, int line) {
    struct ibv_wc wc;
    for (time_t end = time(NULL) + 10; time(NULL) < end;) {
        if (ibv_poll_cq(cq, 1, &wc) > 0) {
            return wc;
        }
    }
    printf("line %d: no completion comes\n", line);
    exit(1);
}

/* The next completion has this number and this status. */
#define EXPECT_WC(number, wanted, cq) \
    do { \
        struct ibv_wc seen = next_of(cq, __LINE__); \
        if (seen.wr_id != (number) || seen.status != (wanted)) { \
            printf("line %d: request %lu ended with %s, not %s with %s\n", __LINE__, (unsigned long) seen.wr_id, \
                ibv_wc_status_str(seen.status), #number, #wanted); \
            failures++; \
        } \
    } while (0)

static inline struct ibv_qp *create_rc(struct ibv_pd *pd, struct ibv_cq *cq) {
    struct ibv_qp_init_attr options = {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
    };
    return ibv_create_qp(pd, &options);
}

/* RESET to RTS, towards a queue pair of the same device. Returns 0 or an errno. */
static inline int connect_to(struct ibv_qp *qp, struct ibv_qp *peer) {
    union ibv_gid gid;
    ibv_query_gid(qp->context, 1, 0, &gid);
    struct ibv_qp_attr init = {
        .qp_state = IBV_QPS_INIT, .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
    };
    struct ibv_qp_attr rtr = {
        .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num, .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12, .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}},
    };
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    int code = ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    if (!code) {
        code = ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                                           | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    }
    if (!code) {
        code = ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
                                           | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
    }
    return code;
}

#endif
