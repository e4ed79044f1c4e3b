/* A program that does everything wrong: each call gets what its man page says, and the process lives. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>

#include "check.h"

static void devices(struct ibv_context *context) {
    struct ibv_port_attr port;
    union ibv_gid gid;
    uint16_t pkey;
    EXPECT_CODE(EINVAL, ibv_query_port(context, 9, &port));
    EXPECT_ERRNO(EINVAL, ibv_query_gid(context, 1, 4000, &gid) == -1);
    EXPECT_ERRNO(EINVAL, ibv_query_pkey(context, 1, 4000, &pkey) == -1);
    EXPECT_ERRNO(EINVAL, ibv_open_device(NULL) == NULL);
    EXPECT_ERRNO(EINVAL, ibv_open_device((struct ibv_device *) &port) == NULL);

    struct ibv_pd *pd = ibv_alloc_pd(context);
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
    EXPECT_CODE(EINVAL, ibv_dealloc_pd(pd)); /* only its pointer is looked at */
    EXPECT_ERRNO(EINVAL, ibv_alloc_pd((struct ibv_context *) pd) == NULL);
}

/* perftest, for one, leaves a completion queue */
static void what_is_left_goes_with_its_device(void) {
    static char buffer[64];
    struct ibv_context *context = open_first();
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, channel, 0);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_parent_domain_init_attr around = {.pd = pd};
    struct ibv_pd *parent = ibv_alloc_parent_domain(context, &around);
    struct ibv_mr *mr = ibv_reg_mr(pd, buffer, 64, IBV_ACCESS_LOCAL_WRITE);
    EXPECT(parent != NULL && mr != NULL && ibv_alloc_mw(pd, IBV_MW_TYPE_2) != NULL);
    struct ibv_srq_init_attr few = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &few);
    struct ibv_qp *qp = create_rc(parent, cq);
    EXPECT(srq != NULL && qp != NULL);
    EXPECT_CODE(0, ibv_close_device(context));
    EXPECT_CODE(EINVAL, ibv_destroy_qp(qp));
    EXPECT_CODE(EINVAL, ibv_destroy_srq(srq));
    EXPECT_CODE(EINVAL, ibv_destroy_cq(cq));
    EXPECT_CODE(EINVAL, ibv_dereg_mr(mr));
    EXPECT_CODE(EINVAL, ibv_dealloc_pd(pd));
    EXPECT_CODE(EINVAL, ibv_destroy_comp_channel(channel));
    EXPECT_CODE(EINVAL, ibv_close_device(context));
}

static void memory(struct ibv_pd *pd) {
    static char buffer[64];
    EXPECT_ERRNO(EFAULT, ibv_reg_mr(pd, NULL, 64, IBV_ACCESS_LOCAL_WRITE) == NULL);
    EXPECT_ERRNO(EINVAL, ibv_reg_mr(pd, buffer, 64, IBV_ACCESS_REMOTE_WRITE) == NULL); /* without local writing */
    EXPECT_ERRNO(EINVAL, ibv_reg_mr(pd, buffer, 64, 1 << 15) == NULL);
    EXPECT_ERRNO(EINVAL, ibv_reg_mr(pd, buffer, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND) == NULL);
    struct ibv_mr *mr = ibv_reg_mr(pd, buffer, 64, IBV_ACCESS_LOCAL_WRITE);
    EXPECT(mr != NULL);
    EXPECT_CODE(EBUSY, ibv_dealloc_pd(pd));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    EXPECT_CODE(EINVAL, ibv_dereg_mr(mr));
    EXPECT_ERRNO(EINVAL, ibv_alloc_mw(pd, 7) == NULL);
}

/* What the library finds wrong by itself, and what the kernel would. */
static void regions_anew(struct ibv_pd *pd) {
    static char buffer[64], other[64];
    struct ibv_mr *mr = ibv_reg_mr(pd, buffer, 64, IBV_ACCESS_LOCAL_WRITE);
    EXPECT_ERRNO(EINVAL, ibv_rereg_mr(mr, 1 << 9, NULL, NULL, 0, 0) == IBV_REREG_MR_ERR_INPUT);
    EXPECT_ERRNO(EINVAL, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, 64, 0) == IBV_REREG_MR_ERR_INPUT);
    EXPECT_ERRNO(EINVAL, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, other, 0, 0) == IBV_REREG_MR_ERR_INPUT);
    EXPECT_ERRNO(EINVAL, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, IBV_ACCESS_LOCAL_WRITE) == IBV_REREG_MR_ERR_INPUT);
    EXPECT_ERRNO(EINVAL, ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0) == IBV_REREG_MR_ERR_CMD);
    EXPECT_ERRNO(EINVAL, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0) == IBV_REREG_MR_ERR_CMD);
    /* remote writing without local writing */
    EXPECT_ERRNO(EINVAL, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE) == IBV_REREG_MR_ERR_CMD);
    EXPECT_CODE(0, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, other, 64, 0));
    EXPECT(mr->addr == other);
    EXPECT_CODE(0, ibv_dereg_mr(mr));
}

#define OVERWRITTEN(object, call) \
    do { \
        uint32_t kept = (object)->handle; \
        (object)->handle = 0xDEADBEEF; \
        EXPECT_ERRNO(ENOENT, call); \
        (object)->handle = kept; \
    } while (0)

/* The kernel goes by `handle`, and by the device that `context` names. */
static void structs_that_were_overwritten(struct ibv_context *context) {
    static char buffer[64];
    struct ibv_context *another = open_first();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_mr *mr = ibv_reg_mr(pd, buffer, 64, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
    struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_srq_init_attr few = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &few);
    struct ibv_qp *qp = create_rc(pd, cq);
    union ibv_gid gid;
    ibv_query_gid(context, 1, 0, &gid);
    struct ibv_ah_attr way = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}};
    struct ibv_ah *ah = ibv_create_ah(pd, &way);
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_RESET};
    struct ibv_qp_init_attr init;

    OVERWRITTEN(pd, ibv_dealloc_pd(pd) == ENOENT);
    OVERWRITTEN(pd, ibv_reg_mr(pd, buffer, 64, IBV_ACCESS_LOCAL_WRITE) == NULL);
    OVERWRITTEN(pd, ibv_alloc_mw(pd, IBV_MW_TYPE_2) == NULL);
    OVERWRITTEN(pd, ibv_create_srq(pd, &few) == NULL);
    OVERWRITTEN(pd, ibv_create_ah(pd, &way) == NULL);
    OVERWRITTEN(pd, create_rc(pd, cq) == NULL);
    OVERWRITTEN(cq, create_rc(pd, cq) == NULL);
    OVERWRITTEN(mr, ibv_dereg_mr(mr) == ENOENT);
    OVERWRITTEN(mr, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0) == IBV_REREG_MR_ERR_CMD);
    OVERWRITTEN(mw, ibv_dealloc_mw(mw) == ENOENT);
    OVERWRITTEN(cq, ibv_req_notify_cq(cq, 0) == ENOENT);
    OVERWRITTEN(cq, ibv_resize_cq(cq, 8) == ENOENT);
    OVERWRITTEN(srq, ibv_query_srq(srq, &few.attr) == ENOENT);
    OVERWRITTEN(srq, ibv_destroy_srq(srq) == ENOENT);
    OVERWRITTEN(qp, ibv_modify_qp(qp, &attributes, IBV_QP_STATE) == ENOENT);
    OVERWRITTEN(qp, ibv_query_qp(qp, &attributes, IBV_QP_STATE, &init) == ENOENT);
    OVERWRITTEN(qp, ibv_destroy_qp(qp) == ENOENT);
    OVERWRITTEN(ah, ibv_destroy_ah(ah) == ENOENT);
    EXPECT_CODE(0, ibv_destroy_ah(ah));
    EXPECT_CODE(0, ibv_destroy_qp(qp));
    OVERWRITTEN(cq, ibv_destroy_cq(cq) == ENOENT);
    EXPECT_CODE(0, ibv_destroy_srq(srq));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    EXPECT_CODE(0, ibv_dealloc_mw(mw));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    pd->context = another;
    EXPECT_CODE(ENOENT, ibv_dealloc_pd(pd));
    pd->context = context;
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
    EXPECT_CODE(0, ibv_close_device(another));
}

static void queues(struct ibv_context *context, struct ibv_pd *pd) {
    EXPECT_ERRNO(EINVAL, ibv_create_cq(context, 0, NULL, NULL, 0) == NULL);
    EXPECT_ERRNO(EINVAL, ibv_create_cq(context, -1, NULL, NULL, 0) == NULL);
    EXPECT_ERRNO(EINVAL, ibv_create_cq(context, 1 << 30, NULL, NULL, 0) == NULL);
    EXPECT_ERRNO(EINVAL, ibv_create_cq(context, 16, NULL, NULL, 99) == NULL);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);

    struct ibv_qp_init_attr options = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_DRIVER};
    EXPECT_ERRNO(EOPNOTSUPP, ibv_create_qp(pd, &options) == NULL);
    options.qp_type = IBV_QPT_RC;
    options.cap.max_send_wr = 1 << 30;
    EXPECT(ibv_create_qp(pd, &options) == NULL);
    options.send_cq = NULL;
    EXPECT_ERRNO(EINVAL, ibv_create_qp(pd, &options) == NULL);

    struct ibv_qp *qp = create_rc(pd, cq);
    EXPECT_CODE(EBUSY, ibv_destroy_cq(cq));
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
    EXPECT_CODE(EINVAL, ibv_modify_qp(qp, &rts, IBV_QP_STATE)); /* from RESET */
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    EXPECT_CODE(EINVAL, ibv_modify_qp(qp, &init, IBV_QP_STATE)); /* the rest is missing */
    struct ibv_qp_attr none = {.qp_state = 77};
    EXPECT_CODE(EINVAL, ibv_modify_qp(qp, &none, IBV_QP_STATE));

    struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad = NULL;
    EXPECT_CODE(EINVAL, ibv_post_send(qp, &send, &bad)); /* in RESET */
    EXPECT(bad == &send);
    struct ibv_recv_wr receives[6] = {{0}}, *bad_receive = NULL;
    EXPECT_CODE(EINVAL, ibv_post_recv(qp, receives, &bad_receive)); /* in RESET */
    EXPECT(bad_receive == receives);

    EXPECT_CODE(0, connect_to(qp, qp)); /* to itself */
    for (int i = 0; i < 5; i++) {
        receives[i].next = &receives[i + 1];
        receives[i].wr_id = i;
    }
    EXPECT_CODE(ENOMEM, ibv_post_recv(qp, receives, &bad_receive)); /* four are posted, the fifth is too many */
    EXPECT(bad_receive == &receives[4]);

    struct ibv_send_wr wrong = {.wr_id = 2, .opcode = 99}, first = {
        .wr_id = 1, .next = &wrong, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    EXPECT_CODE(EINVAL, ibv_post_send(qp, &first, &bad));
    EXPECT(bad == &wrong);
    struct ibv_sge nowhere = {.addr = 8, .length = 64, .lkey = 4711}, two[2] = {nowhere, nowhere};
    struct ibv_send_wr many = {.opcode = IBV_WR_SEND, .sg_list = two, .num_sge = 2};
    EXPECT_CODE(EINVAL, ibv_post_send(qp, &many, &bad)); /* made for one entry */
    struct ibv_wc wc;
    int got = 0;
    while (got < 2) { /* the send, and its receive */
        int n = ibv_poll_cq(cq, 1, &wc);
        if (n > 0) {
            EXPECT(wc.status == IBV_WC_SUCCESS);
            got++;
        }
    }
    struct ibv_send_wr stray = {.wr_id = 3, .opcode = IBV_WR_SEND, .sg_list = &nowhere, .num_sge = 1};
    EXPECT_CODE(0, ibv_post_send(qp, &stray, &bad)); /* a key that is none: a completion tells */
    while (ibv_poll_cq(cq, 1, &wc) == 0) {
    }
    EXPECT(wc.wr_id == 3 && wc.status == IBV_WC_LOC_PROT_ERR);

    EXPECT_CODE(0, ibv_destroy_qp(qp));
    EXPECT_CODE(EINVAL, ibv_destroy_qp(qp));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    EXPECT_CODE(EINVAL, ibv_destroy_cq(cq));
}

static void events(struct ibv_context *context) {
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_async_event event;
    struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, channel, 0), *from;
    void *own;
    fcntl(channel->fd, F_SETFL, O_NONBLOCK);
    fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
    EXPECT_ERRNO(EAGAIN, ibv_get_cq_event(channel, &from, &own) == -1);
    EXPECT_ERRNO(EAGAIN, ibv_get_async_event(context, &event) == -1);
    EXPECT_CODE(EBUSY, ibv_destroy_comp_channel(channel));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    EXPECT_CODE(0, ibv_destroy_comp_channel(channel));
}

static void connections(void) {
    struct rdma_cm_id *id;
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x08080808)};
    EXPECT_ERRNO(EINVAL, rdma_create_id(channel, &id, NULL, 99) == -1);
    EXPECT(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
    EXPECT_ERRNO(EINVAL, rdma_connect(id, NULL) == -1);
    EXPECT_ERRNO(EINVAL, rdma_accept(id, NULL) == -1);
    EXPECT_ERRNO(EINVAL, rdma_listen(id, 1) == -1);
    EXPECT(rdma_bind_addr(id, (struct sockaddr *) &nowhere) == -1); /* not this host's */
    nowhere.sin_family = AF_UNIX;
    EXPECT_ERRNO(EINVAL, rdma_bind_addr(id, (struct sockaddr *) &nowhere) == -1);
    EXPECT(rdma_destroy_id(id) == 0);
    EXPECT_ERRNO(EINVAL, rdma_destroy_id(id) == -1);
    rdma_destroy_event_channel(channel);
}

/* The library keeps the devices of rdma_get_devices open for connections; to the program it is as with a card's. */
static void a_device_that_the_library_has_opened(void) {
    struct ibv_context **devices = rdma_get_devices(NULL);
    struct ibv_context *first = devices[0];
    struct ibv_pd *pd = ibv_alloc_pd(first);
    EXPECT(ibv_create_cq(first, 1, NULL, NULL, 0) && ibv_reg_mr(pd, &failures, sizeof failures, 0));
    EXPECT_CODE(0, ibv_close_device(first));
    EXPECT_CODE(EINVAL, ibv_dealloc_pd(pd));
    pd = ibv_alloc_pd(first);
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
    rdma_free_devices(devices);
}

static void addresses_of_no_device(void) {
    const char *none[] = {"127.0.0.5", "127.0.1.1", "8.8.8.8"};
    for (int i = 0; i < 3; i++) {
        struct rdma_cm_id *id;
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(7471)};
        inet_pton(AF_INET, none[i], &at.sin_addr);
        EXPECT(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == 0);
        EXPECT_ERRNO(EADDRNOTAVAIL, rdma_bind_addr(id, (struct sockaddr *) &at) == -1);
        EXPECT_CODE(0, rdma_destroy_id(id));
    }
}

int main(void) {
    struct ibv_context *context = open_first();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
    devices(context);
    pd = ibv_alloc_pd(context);
    memory(pd);
    regions_anew(pd);
    structs_that_were_overwritten(context);
    queues(context, pd);
    events(context);
    connections();
    what_is_left_goes_with_its_device();
    a_device_that_the_library_has_opened();
    addresses_of_no_device();
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
    EXPECT_CODE(0, ibv_close_device(context));
    EXPECT_CODE(EINVAL, ibv_close_device(context));
    printf("%d failures\n", failures);
    return failures != 0;
}
