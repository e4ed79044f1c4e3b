/* libverbena-files.so, preloaded by `verbena run`: paths under which programs look for RDMA devices lead into a folder that
 * Java fills (DeviceFiles), because no kernel does it here. Other paths are left alone, and a process that asks for none
 * of these starts no JVM. And what a program says of the signals of faults goes to libibverbs.so.1 (signals.c). */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define FOLDERS_AT_ONCE 16

static const char *const served[] = {"/sys/class/infiniband", "/sys/class/infiniband_verbs", "/dev/infiniband"};

/* The C library's function of this name. */
#define REAL(name) ({ \
    static __typeof__(&name) real; \
    if (!real) { \
        real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name); \
    } \
    real; \
})

/* ---- the folder */

static char folder[PATH_MAX]; /* canonical; empty: not known, or none */
static int is_known;
static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

static int is_served(const char *path) {
    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        size_t length = strlen(served[i]);
        if (strncmp(path, served[i], length) == 0 && (path[length] == '/' || path[length] == 0)) {
            return 1;
        }
    }
    return 0;
}

/* `verbena run` names the folder for all processes of a program; the first that looks has Java make it. */
static void find(void) {
    const char *named = getenv("VERBENA_FILES");
    struct stat status;
    if (named && REAL(stat)(named, &status) == 0 && status.st_uid == geteuid() && REAL(realpath)(named, folder)) {
        return;
    }
    void *library = dlopen("libibverbs.so.1", RTLD_NOW);
    int (*make)(char *, size_t) = library ? (int (*)(char *, size_t)) dlsym(library, "verbena_files") : NULL;
    if (!make || make(folder, sizeof folder) != 0) {
        folder[0] = 0; /* rdma-core's library, or no JVM: what the kernel has is what there is */
    }
}

static const char *files(void) {
    static __thread int is_finding; /* what Java opens meanwhile is not for here */
    if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
        if (is_finding) {
            return NULL;
        }
        int error = errno;
        is_finding = 1;
        pthread_mutex_lock(&finding);
        if (!is_known) {
            find();
            __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&finding);
        is_finding = 0;
        errno = error;
    }
    return folder[0] ? folder : NULL;
}

/* Where `path` leads; `room` holds PATH_MAX bytes. */
static const char *led(const char *path, char *room) {
    if (!path || !is_served(path)) {
        return path;
    }
    const char *root = files();
    return root && snprintf(room, PATH_MAX, "%s%s", root, path) < PATH_MAX ? room : path;
}

/* The path that the program knows, in place. */
static void lead_back(char *path) {
    size_t length = strlen(folder);
    if (length && path && strncmp(path, folder, length) == 0 && path[length] == '/') {
        memmove(path, path + length, strlen(path + length) + 1);
    }
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at) {
    (void) status, (void) type, (void) at;
    return remove(path);
}

/* The process that the folder is named after takes it away (NAME.PID.RANDOM). */
__attribute__((destructor)) static void remove_folder(void) {
    const char *path = folder[0] ? folder : getenv("VERBENA_FILES");
    char mine[32];
    snprintf(mine, sizeof mine, "verbena-files.%d.", (int) getpid());
    const char *name = path ? strrchr(path, '/') : NULL;
    if (name && strncmp(name + 1, mine, strlen(mine)) == 0) {
        nftw(path, remove_one, FOLDERS_AT_ONCE, FTW_DEPTH | FTW_PHYS);
    }
}

/* ---- what is led there */

#define LEAD(type, name, parameters, ...) \
    EXPORT type name parameters { \
        char room[PATH_MAX]; \
        path = led(path, room); \
        return REAL(name)(__VA_ARGS__); \
    }

#define MODE(flags) ({ \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    } \
    mode; \
})

LEAD(int, open, (const char *path, int flags, ...), path, flags, MODE(flags))
LEAD(int, open64, (const char *path, int flags, ...), path, flags, MODE(flags))
LEAD(int, openat, (int at, const char *path, int flags, ...), at, path, flags, MODE(flags))
LEAD(int, openat64, (int at, const char *path, int flags, ...), at, path, flags, MODE(flags))
LEAD(FILE *, fopen, (const char *path, const char *mode), path, mode)
LEAD(FILE *, fopen64, (const char *path, const char *mode), path, mode)
LEAD(int, stat, (const char *path, struct stat *into), path, into)
LEAD(int, stat64, (const char *path, struct stat64 *into), path, into)
LEAD(int, lstat, (const char *path, struct stat *into), path, into)
LEAD(int, lstat64, (const char *path, struct stat64 *into), path, into)
LEAD(int, fstatat, (int at, const char *path, struct stat *into, int flags), at, path, into, flags)
LEAD(int, fstatat64, (int at, const char *path, struct stat64 *into, int flags), at, path, into, flags)
LEAD(int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *into), at, path, flags, mask, into)
LEAD(int, access, (const char *path, int mode), path, mode)
LEAD(int, euidaccess, (const char *path, int mode), path, mode)
LEAD(int, faccessat, (int at, const char *path, int mode, int flags), at, path, mode, flags)
LEAD(DIR *, opendir, (const char *path), path)
LEAD(ssize_t, readlink, (const char *path, char *into, size_t size), path, into, size)
LEAD(ssize_t, readlinkat, (int at, const char *path, char *into, size_t size), at, path, into, size)
LEAD(ssize_t, getxattr, (const char *path, const char *name, void *into, size_t size), path, name, into, size)
LEAD(ssize_t, lgetxattr, (const char *path, const char *name, void *into, size_t size), path, name, into, size)
LEAD(ssize_t, listxattr, (const char *path, char *into, size_t size), path, into, size)
LEAD(ssize_t, llistxattr, (const char *path, char *into, size_t size), path, into, size)
LEAD(int, chdir, (const char *path), path)
LEAD(int, scandir, (const char *path, struct dirent ***into, int (*filter)(const struct dirent *),
    int (*order)(const struct dirent **, const struct dirent **)), path, into, filter, order)
LEAD(int, scandir64, (const char *path, struct dirent64 ***into, int (*filter)(const struct dirent64 *),
    int (*order)(const struct dirent64 **, const struct dirent64 **)), path, into, filter, order)

/* Of programs that were built with checks, or before glibc 2.33. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int at, const char *path, int flags);
int __openat64_2(int at, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *into);
int __xstat64(int version, const char *path, struct stat64 *into);
int __lxstat(int version, const char *path, struct stat *into);
int __lxstat64(int version, const char *path, struct stat64 *into);
char *__realpath_chk(const char *path, char *into, size_t size);
LEAD(int, __open_2, (const char *path, int flags), path, flags)
LEAD(int, __open64_2, (const char *path, int flags), path, flags)
LEAD(int, __openat_2, (int at, const char *path, int flags), at, path, flags)
LEAD(int, __openat64_2, (int at, const char *path, int flags), at, path, flags)
LEAD(int, __xstat, (int version, const char *path, struct stat *into), version, path, into)
LEAD(int, __xstat64, (int version, const char *path, struct stat64 *into), version, path, into)
LEAD(int, __lxstat, (int version, const char *path, struct stat *into), version, path, into)
LEAD(int, __lxstat64, (int version, const char *path, struct stat64 *into), version, path, into)

/* ---- what tells paths */

EXPORT char *realpath(const char *path, char *into) {
    char room[PATH_MAX];
    char *found = REAL(realpath)(led(path, room), into);
    lead_back(found);
    return found;
}

EXPORT char *__realpath_chk(const char *path, char *into, size_t size) {
    char room[PATH_MAX];
    char *found = REAL(__realpath_chk)(led(path, room), into, size);
    lead_back(found);
    return found;
}

EXPORT char *canonicalize_file_name(const char *path) { return realpath(path, NULL); }

EXPORT int glob(const char *path, int flags, int (*onError)(const char *, int), glob_t *into) {
    char room[PATH_MAX];
    int result = REAL(glob)(led(path, room), flags, onError, into);
    for (size_t i = 0; result == 0 && i < into->gl_pathc; i++) {
        lead_back(into->gl_pathv[into->gl_offs + i]);
    }
    return result;
}

/* ---- signals of faults */

/* What libibverbs.so.1 puts here, once a JVM handles faults in front of the program: sigaction(2) of a caller at an address,
 * which answers 1 for what is not its business. */
EXPORT int (*verbena_sigaction)(int, const struct sigaction *, struct sigaction *, uintptr_t);

static int act(int signal, const struct sigaction *new, struct sigaction *old, uintptr_t from) {
    __typeof__(verbena_sigaction) hook = __atomic_load_n(&verbena_sigaction, __ATOMIC_ACQUIRE);
    int result = hook ? hook(signal, new, old, from) : 1;
    return result == 1 ? REAL(sigaction)(signal, new, old) : result;
}

/* Looked up now: later it may be a signal handler that asks. */
__attribute__((constructor)) static void find_sigaction(void) { act(SIGSEGV, NULL, NULL, 0); }

#define HERE ((uintptr_t) __builtin_return_address(0))

EXPORT int sigaction(int signal, const struct sigaction *new, struct sigaction *old) { return act(signal, new, old, HERE); }

static sighandler_t handle(int signal, sighandler_t handler, int flags, uintptr_t from) {
    struct sigaction new = {.sa_handler = handler, .sa_flags = flags}, old;
    return act(signal, &new, &old, from) == 0 ? old.sa_handler : SIG_ERR;
}

static int is_fault(int signal) { return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL; }

EXPORT sighandler_t signal(int signal_, sighandler_t handler) {
    return is_fault(signal_) ? handle(signal_, handler, SA_RESTART, HERE) : REAL(signal)(signal_, handler);
}

/* What signal(2) is for programs that ask for the standard of C and no more. */
EXPORT sighandler_t __sysv_signal(int signal_, sighandler_t handler) {
    return is_fault(signal_) ? handle(signal_, handler, SA_RESETHAND | SA_NODEFER, HERE) : REAL(__sysv_signal)(signal_, handler);
}
