/* Programs that are wrong in one way each, by name; a line that a finding has to name ends with a comment. "sound"
 * does all of that right. One process, two queue pairs of one device. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

enum { BYTES = 4096 };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *near, *far;
static struct ibv_mr *mr;
static volatile sig_atomic_t children; /* that have ended */
static char memory[4 * BYTES] __attribute__((aligned(4096)));

static int post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, char *at, int flags) {
    struct ibv_sge sge = {.addr = (uintptr_t) at, .length = BYTES, .lkey = mr->lkey};
    struct ibv_send_wr *bad;
    struct ibv_send_wr wr = {.wr_id = opcode, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = flags,
        .wr.rdma = {.remote_addr = (uintptr_t) memory + 3 * BYTES, .rkey = mr->rkey}};
    return ibv_post_send(qp, &wr, &bad); /* place of post */
}

static void finish(uint64_t request) { EXPECT_WC(request, IBV_WC_SUCCESS, cq); }

static void receive(struct ibv_qp *qp, char *at) {
    struct ibv_sge sge = {.addr = (uintptr_t) at, .length = BYTES, .lkey = mr->lkey};
    struct ibv_recv_wr *bad, wr = {.wr_id = 100, .sg_list = &sge, .num_sge = 1};
    EXPECT_CODE(0, ibv_post_recv(qp, &wr, &bad)); /* place of receive */
}

static void changed(int wrong) {
    post(near, IBV_WR_RDMA_WRITE, memory, IBV_SEND_SIGNALED);
    if (wrong) {
        memory[1]++;
    }
    finish(IBV_WR_RDMA_WRITE);
}

static void unfenced(int wrong) {
    post(near, IBV_WR_RDMA_READ, memory, IBV_SEND_SIGNALED);
    if (!wrong) {
        finish(IBV_WR_RDMA_READ);
    }
    post(near, IBV_WR_RDMA_WRITE, memory, IBV_SEND_SIGNALED);
    if (wrong) {
        finish(IBV_WR_RDMA_READ);
    }
    finish(IBV_WR_RDMA_WRITE);
}

static void shared(int wrong) {
    receive(far, memory + BYTES);
    receive(far, wrong ? memory + BYTES : memory + 2 * BYTES);
    for (int i = 0; i < 4; i++) {
        if (i % 2 == 0) {
            post(near, IBV_WR_SEND, memory, IBV_SEND_SIGNALED);
        }
        EXPECT(next_of(cq, __LINE__).status == IBV_WC_SUCCESS);
    }
}

static void two_done(void) {
    EXPECT(next_of(cq, __LINE__).status == IBV_WC_SUCCESS);
    EXPECT(next_of(cq, __LINE__).status == IBV_WC_SUCCESS);
}

static void cleared(int wrong) {
    memory[BYTES] = 7;
    receive(far, memory + BYTES);
    if (wrong) {
        memory[BYTES] = 0;
    }
    post(near, IBV_WR_SEND, memory, IBV_SEND_SIGNALED);
    two_done();
}

static void echoed(int wrong) {
    receive(far, memory + BYTES);
    post(near, IBV_WR_SEND, memory, IBV_SEND_SIGNALED);
    receive(near, wrong ? memory : memory + 2 * BYTES);
    two_done();
    post(far, IBV_WR_SEND, memory + BYTES, IBV_SEND_SIGNALED);
    two_done();
}

static void stuck(int wrong) {
    int full = 0;
    for (int i = 0; !full && i < 1000; i++) {
        full = post(near, IBV_WR_RDMA_WRITE, memory, wrong || i % 2 == 0 ? 0 : IBV_SEND_SIGNALED);
        if (!wrong && i % 2 == 1) {
            finish(IBV_WR_RDMA_WRITE);
        }
    }
    EXPECT_CODE(wrong ? ENOMEM : 0, full);
}

static void closed(int wrong) {
    struct ibv_mr *brief = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_sge sge = {.addr = (uintptr_t) memory, .length = BYTES, .lkey = brief->lkey};
    struct ibv_send_wr *bad, wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_SIGNALED, .wr.rdma = {.remote_addr = (uintptr_t) memory + 3 * BYTES, .rkey = mr->rkey}};
    if (wrong) {
        EXPECT_CODE(0, ibv_dereg_mr(brief));
    }
    EXPECT_CODE(0, ibv_post_send(near, &wr, &bad)); /* place of closed */
    EXPECT_WC(7, wrong ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS, cq);
    if (!wrong) {
        EXPECT_CODE(0, ibv_dereg_mr(brief));
    }
}

static void leaked(int wrong) {
    struct ibv_mr *left = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE); /* place of leaked */
    if (!wrong) {
        EXPECT_CODE(0, ibv_dereg_mr(left));
    }
}

static void small(int wrong) {
    enum { RECEIVES = 16 };
    struct ibv_cq *few = ibv_create_cq(context, wrong ? RECEIVES / 4 : RECEIVES, NULL, NULL, 0); /* place of small */
    struct ibv_srq_init_attr of = {.attr = {.max_wr = RECEIVES, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &of);
    struct ibv_sge sge = {.addr = (uintptr_t) memory, .length = BYTES / RECEIVES, .lkey = mr->lkey};
    for (int i = 0; i < RECEIVES; i++) {
        struct ibv_recv_wr *bad, wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};
        EXPECT_CODE(0, ibv_post_srq_recv(srq, &wr, &bad));
        sge.addr += sge.length;
    }
    struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = few, .srq = srq, .cap = {.max_send_wr = 1},
        .qp_type = IBV_QPT_RC};
    EXPECT_CODE(0, ibv_destroy_qp(ibv_create_qp(pd, &init)));
    EXPECT_CODE(0, ibv_destroy_srq(srq));
    EXPECT_CODE(0, ibv_destroy_cq(few));
}

/* It has no children, so none of another may come to its notice. */
static void count_child(int signal) { children += signal == SIGCHLD; }

static void end_without_children(void) {
    if (children) {
        printf("%d children that are none of this program\n", (int) children);
        fflush(stdout);
        _exit(1);
    }
}

static const struct {
    const char *name;
    void (*run)(int wrong);
} programs[] = {{"changed", changed}, {"unfenced", unfenced}, {"shared", shared}, {"cleared", cleared}, {"echoed", echoed},
    {"stuck", stuck}, {"closed", closed}, {"leaked", leaked}, {"small", small}};

int main(int count, char **names) {
    if (count != 2) {
        fprintf(stderr, "usage: wrong NAME | sound\n");
        return 2;
    }
    signal(SIGCHLD, count_child);
    atexit(end_without_children); /* after the report, which an exit handler of a library prints */
    context = open_first();
    pd = ibv_alloc_pd(context);
    cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    near = create_rc(pd, cq);
    far = create_rc(pd, cq);
    mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    EXPECT_CODE(0, connect_to(near, far));
    EXPECT_CODE(0, connect_to(far, near));
    int is_sound = strcmp(names[1], "sound") == 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (is_sound || strcmp(names[1], programs[i].name) == 0) {
            programs[i].run(!is_sound);
        }
    }
    EXPECT_CODE(0, ibv_destroy_qp(near));
    EXPECT_CODE(0, ibv_destroy_qp(far));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    if (strcmp(names[1], "leaked") != 0) {
        EXPECT_CODE(0, ibv_dealloc_pd(pd));
        EXPECT_CODE(0, ibv_close_device(context));
    }
    return failures != 0;
}
