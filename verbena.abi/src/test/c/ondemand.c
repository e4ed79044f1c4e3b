/* Memory on demand: it need not be there when it is registered, it may go and come back, and the region may be the whole address
 * space. Each request that needs what is not there ends with an error, and nothing else ends. Then the region without memory. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096, BYTES = 16 * PAGE };
enum { REMOTE = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
enum { ON_DEMAND = REMOTE | IBV_ACCESS_ON_DEMAND };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static char *const place = (char *) 0x200000000000; /* where nobody else maps anything */
static char own[PAGE];

static char *map(int flags, int fd) {
    char *at = mmap(place, BYTES, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);
    EXPECT(at == place);
    return at;
}
static void map_again(void) { map(MAP_PRIVATE | MAP_ANONYMOUS, -1); }

/* One request over a connection of its own, because an error ends the queue pair. */
static enum ibv_wc_status request(enum ibv_wr_opcode opcode, const void *from, size_t bytes, uint32_t lkey, const void *to, uint32_t rkey) {
    struct ibv_qp *near = create_rc(pd, cq), *far = create_rc(pd, cq);
    EXPECT_CODE(0, connect_to(near, far));
    EXPECT_CODE(0, connect_to(far, near));
    struct ibv_sge sge = {(uintptr_t) from, (uint32_t) bytes, lkey};
    struct ibv_send_wr wr = {.wr_id = 1, .opcode = opcode, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED}, *bad;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = (uintptr_t) to;
        wr.wr.atomic.rkey = rkey;
        wr.wr.atomic.compare_add = 5;
    } else {
        wr.wr.rdma.remote_addr = (uintptr_t) to;
        wr.wr.rdma.rkey = rkey;
    }
    EXPECT_CODE(0, ibv_post_send(near, &wr, &bad));
    enum ibv_wc_status status = next_of(cq, __LINE__).status;
    EXPECT_CODE(0, ibv_destroy_qp(near));
    EXPECT_CODE(0, ibv_destroy_qp(far));
    return status;
}

#define EXPECT_STATUS(wanted, call) EXPECT_CODE(IBV_WC_##wanted, (int) (call))

static void try_capabilities(void) {
    enum { ALL = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ
                 | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV };
    struct ibv_device_attr_ex attributes;
    EXPECT_CODE(0, ibv_query_device_ex(context, NULL, &attributes));
    EXPECT(attributes.odp_caps.general_caps == (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT));
    EXPECT((attributes.odp_caps.per_transport_caps.rc_odp_caps & ALL) == ALL);
    EXPECT((attributes.xrc_odp_caps & ALL) == ALL);
    EXPECT(attributes.odp_caps.per_transport_caps.ud_odp_caps
           == (IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV));
}

static void try_comings_and_goings(struct ibv_mr *mine) {
    EXPECT(ibv_reg_mr(pd, place, BYTES, REMOTE) == NULL && errno == EFAULT);
    struct ibv_mr *mr = ibv_reg_mr(pd, place, BYTES, ON_DEMAND);
    EXPECT(mr != NULL && mr->addr == place && mr->length == BYTES);
    EXPECT_STATUS(REM_ACCESS_ERR, request(IBV_WR_RDMA_WRITE, own, 8, mine->lkey, place, mr->rkey));
    EXPECT_STATUS(LOC_PROT_ERR, request(IBV_WR_RDMA_READ, place, 8, mr->lkey, own, mine->rkey));
    map_again();
    memset(own, 'w', PAGE);
    EXPECT_STATUS(SUCCESS, request(IBV_WR_RDMA_WRITE, own, PAGE, mine->lkey, place + 100, mr->rkey));
    EXPECT(place[100] == 'w' && place[99 + PAGE] == 'w' && place[100 + PAGE] == 0);
    EXPECT_CODE(0, madvise(place, BYTES, MADV_DONTNEED));
    EXPECT_STATUS(SUCCESS, request(IBV_WR_RDMA_READ, own, PAGE, mine->lkey, place + 100, mr->rkey));
    EXPECT(own[0] == 0 && own[PAGE - 1] == 0);
    EXPECT_STATUS(SUCCESS, request(IBV_WR_ATOMIC_FETCH_AND_ADD, own, 8, mine->lkey, place, mr->rkey));
    EXPECT(*(uint64_t *) place == 5);
    EXPECT_CODE(0, mprotect(place, BYTES, PROT_READ));
    EXPECT_STATUS(SUCCESS, request(IBV_WR_RDMA_READ, own, 8, mine->lkey, place, mr->rkey));
    EXPECT_STATUS(REM_ACCESS_ERR, request(IBV_WR_RDMA_WRITE, own, 8, mine->lkey, place, mr->rkey));
    EXPECT_CODE(0, munmap(place, BYTES));
    EXPECT_STATUS(REM_ACCESS_ERR, request(IBV_WR_ATOMIC_FETCH_AND_ADD, own, 8, mine->lkey, place, mr->rkey));
    int fd = memfd_create("verbena", 0);
    EXPECT_CODE(0, ftruncate(fd, BYTES));
    map(MAP_SHARED, fd);
    EXPECT_STATUS(SUCCESS, request(IBV_WR_RDMA_WRITE, own, 8, mine->lkey, place + BYTES - 8, mr->rkey));
    EXPECT_CODE(0, ftruncate(fd, PAGE));
    EXPECT_STATUS(REM_ACCESS_ERR, request(IBV_WR_RDMA_WRITE, own, 8, mine->lkey, place + BYTES - 8, mr->rkey));
    EXPECT_CODE(0, ftruncate(fd, BYTES));
    EXPECT_STATUS(SUCCESS, request(IBV_WR_RDMA_WRITE, own, 8, mine->lkey, place + BYTES - 8, mr->rkey));
    close(fd);
    EXPECT_CODE(0, munmap(place, BYTES));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
}

static void try_address_space(void) {
    struct ibv_mr *all = ibv_reg_mr(pd, NULL, SIZE_MAX, ON_DEMAND);
    EXPECT(all != NULL);
    EXPECT_ERRNO(EINVAL, ibv_reg_mr(pd, NULL, SIZE_MAX, ON_DEMAND | IBV_ACCESS_MW_BIND) == NULL);
    map_again();
    memset(own, 'a', PAGE);
    EXPECT_STATUS(SUCCESS, request(IBV_WR_RDMA_WRITE, own, PAGE, all->lkey, place, all->rkey));
    EXPECT(place[0] == 'a' && place[PAGE - 1] == 'a');
    EXPECT_CODE(0, munmap(place, BYTES));
    EXPECT_STATUS(REM_ACCESS_ERR, request(IBV_WR_RDMA_WRITE, own, PAGE, all->lkey, place, all->rkey));
    EXPECT_STATUS(LOC_PROT_ERR, request(IBV_WR_RDMA_WRITE, place, PAGE, all->lkey, own, all->rkey));
#if defined(__x86_64__)
    /* The heap of the JVM is nobody's business. */
    EXPECT_STATUS(REM_ACCESS_ERR, request(IBV_WR_RDMA_READ, own, 8, all->lkey, (void *) 0x600000000000, all->rkey));
#endif
    EXPECT_CODE(0, ibv_dereg_mr(all));
}

static int advise(enum ibv_advise_mr_advice advice, uint32_t flags, void *at, uint32_t bytes, uint32_t lkey) {
    struct ibv_sge range = {(uintptr_t) at, bytes, lkey};
    return ibv_advise_mr(pd, advice, flags, &range, 1);
}

static int resident(void) {
    unsigned char pages[BYTES / PAGE];
    int count = 0;
    EXPECT_CODE(0, mincore(place, BYTES, pages));
    for (size_t i = 0; i < sizeof pages; i++) {
        count += pages[i] & 1;
    }
    return count;
}

static void try_advice(struct ibv_mr *mine) {
    struct ibv_pd *other = ibv_alloc_pd(context);
    struct ibv_mr *mr = ibv_reg_mr(pd, place, BYTES, ON_DEMAND), *read = ibv_reg_mr(pd, place, BYTES, IBV_ACCESS_ON_DEMAND);
    struct ibv_mr *others = ibv_reg_mr(other, place, BYTES, ON_DEMAND);
    EXPECT_CODE(EFAULT, advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, place, PAGE, mr->lkey));
    EXPECT_CODE(0, advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0, place, PAGE, mr->lkey));
    map_again();
    EXPECT_CODE(0, advise(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, IBV_ADVISE_MR_FLAG_FLUSH, place, BYTES, mr->lkey));
    EXPECT(resident() == 0);
    EXPECT_CODE(0, advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, place + PAGE, PAGE + 1, mr->lkey));
    EXPECT(resident() == 2);
    EXPECT_CODE(0, advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, place, BYTES, read->lkey));
    EXPECT(resident() == BYTES / PAGE);
    EXPECT_CODE(EPERM, advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, place, PAGE, read->lkey));
    EXPECT_CODE(EPERM, advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0, place, PAGE, others->lkey));
    EXPECT_CODE(EFAULT, advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0, place + 1, BYTES, mr->lkey));
    EXPECT_CODE(ENOENT, advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0, place, PAGE, 0));
    EXPECT_CODE(EINVAL, advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0, own, 8, mine->lkey));
    EXPECT_CODE(EINVAL, advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 2, place, PAGE, mr->lkey));
    EXPECT_CODE(EOPNOTSUPP, advise((enum ibv_advise_mr_advice) 3, 0, place, PAGE, mr->lkey));
    EXPECT_CODE(EINVAL, ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 0));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    EXPECT_CODE(0, ibv_dereg_mr(read));
    EXPECT_CODE(0, ibv_dereg_mr(others));
    EXPECT_CODE(0, ibv_dealloc_pd(other));
    EXPECT_CODE(0, munmap(place, BYTES));
}

static void try_null(struct ibv_mr *mine) {
    struct ibv_mr *none = ibv_alloc_null_mr(pd);
    EXPECT(none != NULL && none->length == SIZE_MAX && none->rkey == 0);
    memset(own, 'x', PAGE);
    EXPECT_STATUS(SUCCESS, request(IBV_WR_RDMA_WRITE, NULL, 100, none->lkey, own, mine->rkey));
    EXPECT(own[0] == 0 && own[99] == 0 && own[100] == 'x');
    EXPECT_STATUS(SUCCESS, request(IBV_WR_RDMA_READ, (void *) 4711, PAGE, none->lkey, own, mine->rkey));
    EXPECT_STATUS(REM_ACCESS_ERR, request(IBV_WR_RDMA_READ, own, 8, mine->lkey, NULL, none->lkey));
    EXPECT(ibv_rereg_mr(none, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, REMOTE) != 0);
    EXPECT_CODE(0, ibv_dereg_mr(none));
}

int main(void) {
    context = open_first();
    pd = ibv_alloc_pd(context);
    cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_mr *mine = ibv_reg_mr(pd, own, sizeof own, REMOTE);
    try_capabilities();
    try_comings_and_goings(mine);
    try_address_space();
    try_advice(mine);
    try_null(mine);
    EXPECT_CODE(0, ibv_dereg_mr(mine));
    return failures > 0;
}
