/* Opens a device with all kinds of objects and closes it, again and again: nothing is left behind. Usage: cycles COUNT */
#include <dirent.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include "check.h"

static int descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static long resident_kilobytes(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%*d %ld", &pages) != 1) {
        exit(1);
    }
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void cycle(void) {
    static char buffer[4096];
    struct ibv_context *context = open_first();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, channel, 0);
    struct ibv_mr *mr = ibv_reg_mr(pd, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp *qp = create_rc(pd, cq);
    EXPECT(qp && mr);
    EXPECT_CODE(0, connect_to(qp, qp));
    EXPECT_CODE(0, ibv_destroy_qp(qp));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    EXPECT_CODE(0, ibv_destroy_cq(cq));
    EXPECT_CODE(0, ibv_destroy_comp_channel(channel));
    EXPECT_CODE(0, ibv_dealloc_pd(pd));
    EXPECT_CODE(0, ibv_close_device(context));

    struct rdma_event_channel *events = rdma_create_event_channel();
    struct rdma_cm_id *id;
    EXPECT(rdma_create_id(events, &id, NULL, RDMA_PS_TCP) == 0);
    EXPECT(rdma_destroy_id(id) == 0);
    rdma_destroy_event_channel(events);
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 100;
    for (int i = 0; i < count / 2; i++) {
        cycle();
    }
    int before = descriptors();
    long resident = resident_kilobytes();
    for (int i = 0; i < count - count / 2; i++) {
        cycle();
    }
    EXPECT(descriptors() < before + 8); /* the JVM opens a file now and then; a leak would be one or more each cycle */
    printf("%d cycles: %d descriptors, %ld KB, %+ld KB in the second half\n", count, descriptors(), resident_kilobytes(),
        resident_kilobytes() - resident);
    return failures != 0;
}
