/* What can be registered, as the kernel says when it is to pin memory for a card. With an argument the kernel does not know how to be
 * asked about one mapping, as before Linux 6.11. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096, READS = IBV_ACCESS_REMOTE_READ, WRITES = IBV_ACCESS_LOCAL_WRITE };

static struct ibv_pd *pd;

static void forget_how_to_ask(void) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 16 /* ioctl */, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xC0686611 /* PROCMAP_QUERY */, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
    EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

static char *map(size_t pages, int rights) {
    char *at = mmap(NULL, pages * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(at != MAP_FAILED);
    return at;
}

static void takes(void *at, size_t bytes, int access, int line) {
    struct ibv_mr *mr = ibv_reg_mr(pd, at, bytes, access);
    if (!mr) {
        printf("line %d: errno %d\n", line, errno);
        failures++;
        return;
    }
    EXPECT_CODE(0, ibv_dereg_mr(mr));
}
#define TAKES(at, bytes, access) takes(at, bytes, access, __LINE__)
#define REFUSES(wanted, at, bytes, access) EXPECT_ERRNO(wanted, ibv_reg_mr(pd, (void *) (at), bytes, access) == NULL)

/* Programs take what is writable below their own end for their static data, and register it (OpenSHMEM): the JVM's heap is not there, nor
 * can it be registered where it is. Its classes are not there either, with an AOT cache and without. */
static void the_jvms_heap_is_out_of_reach(void) {
    extern char end;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024], may_write;
    unsigned long low, high;
    int of_jvm = 0;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %*c%c", &low, &high, &may_write) != 3 || may_write != 'w') {
            continue;
        }
        EXPECT(low >= (uintptr_t) &end || &end - (char *) low < 1 << 20);
        if (low >= 0x600000000000 && low < 0x700000000000) {
            of_jvm++;
            REFUSES(EFAULT, low, PAGE, READS);
            REFUSES(EFAULT, low - PAGE, 2 * PAGE, READS);
        }
    }
    EXPECT(of_jvm > 0);
    fclose(maps);
}

int main(int argc, char **argv) {
    (void) argv;
    pd = ibv_alloc_pd(open_first());
    if (argc > 1) {
        forget_how_to_ask();
    }
#ifdef __x86_64__
    the_jvms_heap_is_out_of_reach();
#endif
    char *both = map(6, PROT_READ | PROT_WRITE);
    TAKES(both, 6 * PAGE, READS);
    TAKES(both + 1, 6 * PAGE - 1, WRITES);
    EXPECT(mprotect(both + 2 * PAGE, PAGE, PROT_READ) == 0); /* three mappings, of which one is read only */
    TAKES(both, 6 * PAGE, READS);
    TAKES(both, 2 * PAGE, WRITES);
    TAKES(both + 3 * PAGE, 3 * PAGE, WRITES);
    REFUSES(EFAULT, both, 2 * PAGE + 1, WRITES);
    REFUSES(EFAULT, both + 3 * PAGE - 1, 2, WRITES);
    REFUSES(EFAULT, both, 6 * PAGE, WRITES | IBV_ACCESS_REMOTE_WRITE);
    REFUSES(EFAULT, both, 6 * PAGE, IBV_ACCESS_MW_BIND);
    EXPECT(mprotect(both + 2 * PAGE, PAGE, PROT_NONE) == 0);
    REFUSES(EFAULT, both, 6 * PAGE, 0);
    EXPECT(munmap(both + 2 * PAGE, PAGE) == 0);
    REFUSES(EFAULT, both, 6 * PAGE, READS);
    TAKES(both + 3 * PAGE, 3 * PAGE, READS);

    static char data[PAGE];
    static const char text[] = "read only";
    char local[64];
    char *heap = malloc(1 << 20);
    TAKES(data, sizeof data, WRITES);
    TAKES(local, sizeof local, WRITES);
    TAKES(heap, 1 << 20, WRITES);
    TAKES((void *) text, sizeof text, READS);
    REFUSES(EFAULT, text, sizeof text, WRITES);
    REFUSES(EFAULT, NULL, PAGE, READS);
    REFUSES(EFAULT, PAGE, PAGE, READS);
    REFUSES(EFAULT, -(long) PAGE * 2, PAGE, READS); /* the kernel's half */
    REFUSES(EFAULT, 1UL << 60, PAGE, READS);
    REFUSES(EFAULT, heap, 1UL << 40, READS);
    REFUSES(EINVAL, -(long) PAGE, 2 * PAGE, READS);
    REFUSES(EINVAL, heap, 1UL << 60, READS);
    REFUSES(EINVAL, NULL, PAGE, IBV_ACCESS_REMOTE_WRITE); /* the rights come first */

    struct ibv_mr *mr = ibv_reg_mr(pd, both, PAGE, READS);
    EXPECT(mr && ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, both, 6 * PAGE, 0) != 0 && errno == EFAULT);
    EXPECT(mprotect(both, PAGE, PROT_READ) == 0);
    EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, WRITES) != 0 && errno == EFAULT);
    EXPECT_CODE(0, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0));
    EXPECT_CODE(0, ibv_dereg_mr(mr));
    return failures > 0;
}
