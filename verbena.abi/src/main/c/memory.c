/* Memory of the program: what it has, and access to it that survives when it has gone.
 *
 * The program may unmap, protect or cut short what it has registered, at any moment and beside a peer's access. Here a fault within
 * the bytes of an access ends that access. The JVM's handler gives the fault to `pass_on` (signals.c), which asks verbena_recover:
 * the thread then goes on in `give_up`, which returns to where the access began. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "verbena.h"

#define PAGE 4096
#define RED_ZONE 256 /* of the stack below its pointer, and some more */

/* ---- access */

/* What a thread is doing with memory that may go away. */
static __thread struct access {
    void *begun[5]; /* of __builtin_setjmp */
    uintptr_t one, other;
    size_t bytes; /* of each; 0: nothing is under way */
} under_way __attribute__((tls_model("initial-exec")));

static void give_up(void) { __builtin_longjmp(under_way.begun, 1); }

/* Runs `what` with `bytes` at `a` and at `b`. -1 when some of them are not there, and the rest of it is not done. */
#define GUARDED(a, b, size, what) \
    do { \
        struct access *volatile mine = &under_way; \
        mine->one = (uintptr_t) (a); \
        mine->other = (uintptr_t) (b); \
        if (__builtin_setjmp(mine->begun)) { \
            mine->bytes = 0; \
            return -1; \
        } \
        mine->bytes = (size); \
        __atomic_signal_fence(__ATOMIC_SEQ_CST); \
        what; \
        __atomic_signal_fence(__ATOMIC_SEQ_CST); \
        mine->bytes = 0; \
    } while (0)

/* memmove(3). */
__attribute__((noinline)) long guarded_copy(char *to, const char *from, size_t bytes) {
    GUARDED(to, from, bytes, memmove(to, from, bytes));
    return 0;
}

enum { ADD, COMPARE_AND_SWAP, STORE };

/* An atomic on 8 bytes at any address; at one that is no multiple of 8 the caller sees to it that it is alone. */
__attribute__((noinline)) long guarded_atomic(long which, uint64_t *at, uint64_t value, uint64_t expected, uint64_t *original) {
    if ((uintptr_t) at % sizeof *at != 0) {
        uint64_t found, next;
        if (guarded_copy((char *) &found, (const char *) at, sizeof found) != 0) {
            return -1;
        }
        next = which == ADD ? found + value : which == STORE || found == expected ? value : found;
        *original = found;
        return guarded_copy((char *) at, (const char *) &next, sizeof next);
    }
    uint64_t *result = original;
    if (which == ADD) {
        GUARDED(at, at, sizeof *at, *result = __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST));
    } else if (which == COMPARE_AND_SWAP) {
        *result = expected;
        GUARDED(at, at, sizeof *at, __atomic_compare_exchange_n(at, result, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    } else {
        GUARDED(at, at, sizeof *at, __atomic_store_n(at, value, __ATOMIC_SEQ_CST));
    }
    return 0;
}

/* Whether a fault is one of these, and the thread goes on in `give_up` when the handler returns. */
int verbena_recover(const siginfo_t *fault, void *context) {
    struct access *mine = &under_way;
    uintptr_t at = (uintptr_t) fault->si_addr;
    if (fault->si_code <= 0 || (at - mine->one >= mine->bytes && at - mine->other >= mine->bytes)) {
        return 0;
    }
    ucontext_t *of = context;
#if defined(__x86_64__)
    uintptr_t stack = ((uintptr_t) of->uc_mcontext.gregs[REG_RSP] - RED_ZONE) & ~(uintptr_t) 15;
    of->uc_mcontext.gregs[REG_RSP] = (greg_t) (stack - sizeof(void *)); /* as behind a call */
    of->uc_mcontext.gregs[REG_RIP] = (greg_t) give_up;
#elif defined(__aarch64__)
    of->uc_mcontext.sp = (of->uc_mcontext.sp - RED_ZONE) & ~(uintptr_t) 15;
    of->uc_mcontext.pc = (uintptr_t) give_up;
#else
    (void) of, (void) give_up;
    return 0;
#endif
    return 1;
}

/* ---- what there is */

/* PROCMAP_QUERY of Linux 6.11: what <linux/fs.h> may not have yet. */
struct procmap_query {
    uint64_t size, query_flags, query_addr, vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
    uint64_t vma_name_addr, build_id_addr;
};
#define PROCMAP_QUERY _IOWR('f', 17, struct procmap_query)
#define VMA_READABLE 1
#define VMA_WRITABLE 2

/* The end of the mapping at `from`, when it has all these rights; 0 otherwise, -1 when the kernel cannot say so. */
static uintptr_t asked(int maps, uintptr_t from, uint64_t rights) {
    struct procmap_query query = {.size = sizeof query, .query_addr = from};
    if (ioctl(maps, PROCMAP_QUERY, &query) == 0) {
        return (query.vma_flags & rights) == rights ? (uintptr_t) query.vma_end : 0;
    }
    return errno == ENOENT ? 0 : (uintptr_t) -1;
}

/* Whether all of `from` to `to` is mapped with these rights, by the text of /proc/self/maps. */
static int reads_so(int maps, uintptr_t from, uintptr_t to, uint64_t rights) {
    FILE *text = fdopen(dup(maps), "r");
    char line[256], may_read, may_write;
    unsigned long low, high;
    while (from < to && text && fgets(line, sizeof line, text)) {
        size_t length = strlen(line);
        for (int c = line[length - 1]; c != '\n' && c != EOF;) { /* the rest of a long name */
            c = getc(text);
        }
        if (sscanf(line, "%lx-%lx %c%c", &low, &high, &may_read, &may_write) != 4 || high <= from) {
            continue;
        }
        uint64_t has = (may_read == 'r' ? VMA_READABLE : 0) | (may_write == 'w' ? VMA_WRITABLE : 0);
        if (low > from || (has & rights) != rights) {
            break;
        }
        from = high;
    }
    if (text) {
        fclose(text);
    }
    return from >= to;
}

/* What the kernel says when it is to pin memory: 0, or an errno. The JVM's is not the program's. Without /proc nobody knows more, and
 * nothing else is refused. */
long check_memory(uintptr_t from, size_t bytes, long is_written) {
    uintptr_t to = from + bytes, at = from;
    if (to + PAGE - 1 < from || bytes / PAGE >= UINT32_MAX) {
        return EINVAL;
    }
    if (verbena_is_jvms(from, to)) {
        return EFAULT;
    }
    int maps = (int) syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC); /* not what is shown to the program */
    if (maps < 0) {
        return 0;
    }
    uint64_t rights = VMA_READABLE | (is_written ? VMA_WRITABLE : 0);
    uintptr_t end = at;
    while (at < to && (end = asked(maps, at, rights)) != 0 && end != (uintptr_t) -1) {
        at = end;
    }
    int is_there = at >= to || (end == (uintptr_t) -1 && reads_so(maps, at, to, rights));
    close(maps);
    return is_there ? 0 : EFAULT;
}
