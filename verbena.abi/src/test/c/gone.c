/* Memory that goes away after it was registered: unmapped, protected, or of a file that was cut short. Each request that needs it
 * ends with an error, and nothing else ends: two processes, of which each in turn has no memory any more. "iwarp" connects by
 * rdma_cm(7). */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096, BYTES = 40 * PAGE, ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
enum way { PROTECTED, READ_ONLY, CUT };
enum side { NEAR, FAR, NONE };

struct trial {
    enum ibv_wr_opcode opcode;
    enum side gone;
    enum ibv_wc_status near, far; /* far: of its receive */
    int is_reading_only; /* read-only memory does */
};

static const struct trial trials[] = {
    {IBV_WR_SEND, NONE, IBV_WC_SUCCESS, IBV_WC_SUCCESS, 0},
    {IBV_WR_SEND, NEAR, IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR, 1},
    {IBV_WR_SEND, FAR, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR, 0},
    {IBV_WR_RDMA_WRITE, NEAR, IBV_WC_LOC_PROT_ERR, 0, 1},
    {IBV_WR_RDMA_WRITE, FAR, IBV_WC_REM_ACCESS_ERR, 0, 0},
    {IBV_WR_RDMA_READ, NEAR, IBV_WC_LOC_PROT_ERR, 0, 0},
    {IBV_WR_RDMA_READ, FAR, IBV_WC_REM_ACCESS_ERR, 0, 1},
    {IBV_WR_ATOMIC_FETCH_AND_ADD, NEAR, IBV_WC_LOC_PROT_ERR, 0, 0},
    {IBV_WR_ATOMIC_FETCH_AND_ADD, FAR, IBV_WC_REM_ACCESS_ERR, 0, 0},
    {IBV_WR_ATOMIC_CMP_AND_SWP, FAR, IBV_WC_REM_ACCESS_ERR, 0, 0},
};

struct told { /* to the other process */
    uint32_t qpn, rkey;
    uint64_t address;
};

struct end {
    struct rdma_cm_id *id; /* by rdma_cm */
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
};

static int other; /* process */
static int is_near;
static struct ibv_context *context;
static struct ibv_pd *domain;

static struct told swap(struct told mine) {
    struct told theirs;
    if (write(other, &mine, sizeof mine) != sizeof mine || read(other, &theirs, sizeof theirs) != sizeof theirs) {
        printf("the other process has ended\n");
        exit(1);
    }
    return theirs;
}

/* ---- connections */

static struct ibv_qp_init_attr sizes(struct ibv_cq *cq) {
    return (struct ibv_qp_init_attr) {
        .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64}};
}

static int connect_by_number(struct ibv_qp *qp, uint32_t peer) {
    struct ibv_qp named = {.qp_num = peer};
    return connect_to(qp, &named);
}

static struct end connect_pair(void) {
    if (!domain) {
        context = open_first();
        domain = ibv_alloc_pd(context);
    }
    struct end e = {.pd = domain, .cq = ibv_create_cq(context, 16, NULL, NULL, 0)};
    struct ibv_qp_init_attr options = sizes(e.cq);
    e.qp = ibv_create_qp(domain, &options);
    EXPECT(e.qp != NULL);
    struct told theirs = swap((struct told) {.qpn = e.qp->qp_num});
    EXPECT_CODE(0, connect_by_number(e.qp, theirs.qpn));
    swap(theirs);
    return e;
}

static struct end connect_by_address(int port) {
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_flags = is_near ? 0 : RAI_PASSIVE}, *found;
    struct ibv_qp_init_attr options = sizes(NULL);
    struct rdma_cm_id *id = NULL, *listener = NULL;
    char service[8];
    snprintf(service, sizeof service, "%d", port);
    EXPECT(rdma_getaddrinfo("127.0.0.1", service, &hints, &found) == 0);
    struct told none = {0};
    if (is_near) {
        swap(none);
        EXPECT(rdma_create_ep(&id, found, NULL, &options) == 0);
        EXPECT(rdma_connect(id, NULL) == 0);
    } else {
        EXPECT(rdma_create_ep(&listener, found, NULL, &options) == 0 && rdma_listen(listener, 1) == 0);
        swap(none);
        EXPECT(rdma_get_request(listener, &id) == 0 && rdma_accept(id, NULL) == 0);
        rdma_destroy_ep(listener);
    }
    rdma_freeaddrinfo(found);
    return (struct end) {.id = id, .pd = id->pd, .cq = id->send_cq, .qp = id->qp};
}

static void end_of(struct end e) {
    if (e.id) {
        rdma_destroy_ep(e.id);
    } else {
        EXPECT_CODE(0, ibv_destroy_qp(e.qp));
        EXPECT_CODE(0, ibv_destroy_cq(e.cq));
    }
}

/* ---- memory */

static char *map(int *file) {
    char name[] = "/tmp/verbena-gone-XXXXXX";
    *file = mkstemp(name);
    unlink(name);
    EXPECT(ftruncate(*file, BYTES) == 0);
    char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    memset(at, is_near ? 'n' : 'f', BYTES);
    return at;
}

/* All but the first page goes. Nothing else may take its place. */
static void take_away(char *memory, int file, enum way how) {
    if (how == CUT) {
        EXPECT(ftruncate(file, PAGE) == 0);
    } else {
        EXPECT(mprotect(memory + PAGE, BYTES - PAGE, how == PROTECTED ? PROT_NONE : PROT_READ) == 0);
    }
}

/* ---- a trial */

static void post_receive(struct ibv_qp *qp, char *memory, uint32_t bytes, struct ibv_mr *mr) {
    struct ibv_sge sge = {(uintptr_t) memory, bytes, mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 2, .sg_list = &sge, .num_sge = 1}, *bad;
    EXPECT_CODE(0, ibv_post_recv(qp, &wr, &bad));
}

static int post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, struct ibv_sge *from, struct told to, unsigned flags) {
    struct ibv_send_wr wr = {.wr_id = 1, .opcode = opcode, .sg_list = from, .num_sge = 1, .send_flags = flags}, *bad;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        wr.wr.atomic.remote_addr = to.address;
        wr.wr.atomic.rkey = to.rkey;
        wr.wr.atomic.compare_add = 1;
    } else {
        wr.wr.rdma.remote_addr = to.address;
        wr.wr.rdma.rkey = to.rkey;
    }
    return ibv_post_send(qp, &wr, &bad);
}

/* `bytes` from the end of the first page on, so that some are there; of an atomic those behind it. */
static void attempt(const struct trial *what, enum way how, uint32_t bytes, int is_iwarp, int port) {
    int is_atomic = what->opcode >= IBV_WR_ATOMIC_CMP_AND_SWP, file;
    struct end e = is_iwarp ? connect_by_address(port) : connect_pair();
    char *memory = map(&file), *at = memory + (is_atomic ? PAGE : PAGE - 8);
    struct ibv_mr *mr = ibv_reg_mr(e.pd, memory, BYTES, is_iwarp ? ALL & ~IBV_ACCESS_REMOTE_ATOMIC : ALL);
    EXPECT(mr != NULL);
    int works = what->gone == NONE || (how == READ_ONLY && what->is_reading_only);
    if (what->gone == (is_near ? NEAR : FAR)) {
        take_away(memory, file, how);
    }
    if (!is_near && what->opcode == IBV_WR_SEND) {
        post_receive(e.qp, at, bytes, mr);
    }
    struct told theirs = swap((struct told) {.address = (uintptr_t) at, .rkey = mr->rkey});
    if (is_near) {
        struct ibv_sge from = {(uintptr_t) at, bytes, mr->lkey};
        EXPECT_CODE(0, post(e.qp, what->opcode, &from, theirs, 0));
        struct ibv_wc wc = next_of(e.cq, __LINE__);
        enum ibv_wc_status wanted = works ? IBV_WC_SUCCESS : what->near;
        int is_right = wc.status == wanted || (is_iwarp && !works); /* where a WRITE may end before it has arrived */
        if (!is_right) {
            printf("request %d of %u bytes, gone %d by %d: %s\n", what->opcode, bytes, what->gone, how, ibv_wc_status_str(wc.status));
            failures++;
        }
        swap(theirs);
    } else {
        swap(theirs); /* the peer has its completion */
        if (what->opcode == IBV_WR_SEND && (works || what->gone == FAR) && !is_iwarp) {
            EXPECT_WC(2, works ? IBV_WC_SUCCESS : what->far, e.cq);
        }
    }
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    end_of(e);
    munmap(memory, BYTES);
    close(file);
}

/* Data of a request, which is copied when it is posted. */
static void try_inline(void) {
    struct end e = connect_pair();
    int file;
    char *memory = map(&file);
    take_away(memory, file, PROTECTED);
    if (is_near) {
        struct ibv_sge from = {(uintptr_t) memory + PAGE - 8, 16, 0};
        EXPECT_CODE(EINVAL, post(e.qp, IBV_WR_SEND, &from, (struct told) {0}, IBV_SEND_INLINE));
    }
    swap((struct told) {0});
    end_of(e);
    munmap(memory, BYTES);
    close(file);
}

/* ---- the program's own faults */

static sigjmp_buf back;
static volatile sig_atomic_t faults;

static void on_fault(int signal) {
    (void) signal;
    faults++;
    siglongjmp(back, 1);
}

static void cause_a_fault(void) {
    if (sigsetjmp(back, 1) == 0) {
        *(volatile char *) (uintptr_t) PAGE = 1;
    }
}

int main(int argc, char **argv) {
    int is_iwarp = argc > 1 && strcmp(argv[1], "iwarp") == 0;
    int pair[2], status, port = argc > 2 ? atoi(argv[2]) : 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 1;
    }
    pid_t child = fork();
    is_near = child != 0;
    other = pair[is_near];
    close(pair[!is_near]);
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    static const uint32_t lengths[] = {16, 5000, 30 * PAGE};
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        int is_atomic = trials[i].opcode >= IBV_WR_ATOMIC_CMP_AND_SWP;
        for (int how = PROTECTED; how <= CUT && !(is_iwarp && is_atomic); how++) {
            for (int length = 0; length < (is_atomic ? 1 : 3); length++) {
                attempt(&trials[i], how, is_atomic ? 8 : lengths[length], is_iwarp, port);
            }
        }
    }
    if (!is_iwarp) {
        try_inline();
    }
    EXPECT(faults == 0);
    cause_a_fault();
    EXPECT(faults == 1);
    if (is_near) {
        EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
    return failures > 0;
}
