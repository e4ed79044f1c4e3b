/* Starts a JVM in this process and hands the table of calls to Java. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <jni.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbena.h"
#include "operations.h"

#define OPTIONS_MAX 64
#define MODULES_MAX 8192

static const char *const call_names[] = {
#define CALL(name, arguments) #name,
    VERBENA_CALLS(CALL)
#undef CALL
};

static verbena_function calls[VERBENA_CALL_COUNT];
static int started;
static int is_forked;
/* The JVM that writes an AOT cache when it is destroyed, if it was told to. */
static JavaVM *recording;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static JavaVM *running;
static pthread_key_t attached; /* to the JVM: a thread of the program */

static long no_device(long a, long b, long c, long d, long e, long f) {
    (void) a, (void) b, (void) c, (void) d, (void) e, (void) f;
    return -ENODEV;
}

/* Linking a method to a function of C takes a moment, and most programs make few of the calls. So the table begins with functions
 * that have Java link their method, put the outcome in their own place, and call it. */
static jclass java_part;
static jmethodID link_method;

static verbena_function link_call(enum verbena_call which) {
    JNIEnv *env;
    long linked = 0;
    if ((*running)->AttachCurrentThreadAsDaemon(running, (void **) &env, NULL) == JNI_OK) { /* most often it is so already */
        linked = (*env)->CallStaticLongMethod(env, java_part, link_method, (jlong) call_names[which]);
        if ((*env)->ExceptionCheck(env)) {
            (*env)->ExceptionDescribe(env);
            (*env)->ExceptionClear(env);
            linked = 0;
        }
    }
    verbena_function function = linked ? (verbena_function) linked : no_device;
    __atomic_store_n(&calls[which], function, __ATOMIC_RELEASE);
    return function;
}

#define CALL(name, arguments) \
    static long first_##name(long a, long b, long c, long d, long e, long f) { \
        return link_call(VERBENA_##name)(a, b, c, d, e, f); \
    }
VERBENA_CALLS(CALL)
#undef CALL

static const verbena_function first_calls[] = {
#define CALL(name, arguments) first_##name,
    VERBENA_CALLS(CALL)
#undef CALL
};

static void answer_no_device(void) {
    for (int i = 0; i < VERBENA_CALL_COUNT; i++) {
        calls[i] = no_device;
    }
}

/* A JVM does not live on in the child of a fork: its threads are gone. The child gets one of its own when it asks for it,
 * from another copy of the JVM's libraries, because those that are there are full of the parent's. What the parent has
 * opened is not the child's. */
static void in_child(void) {
    if (started) {
        started = 0;
        is_forked = 1;
        running = NULL;
        verbena_give_faults_back();
        pthread_setspecific(attached, NULL);
    }
    verbena_call_in_child();
    starting = (pthread_mutex_t) PTHREAD_MUTEX_INITIALIZER;
}

static int fail(const char *what, const char *detail) {
    fprintf(stderr, "verbena: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
    return -1;
}

/* Words of VERBENA_JVM_OPTIONS, one after the other. */
static int add_words(JavaVMOption *options, int count, const char *words) {
    char *copy = strdup(words), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word && count < OPTIONS_MAX; word = strtok_r(NULL, " ", &rest)) {
        options[count++].optionString = word;
    }
    return count;
}

/* ---- the end */

#define LEAVE_SECONDS 1

static sem_t leaving, left;

/* Waits for an exit(3) that cannot be carried out where it comes from. */
static void *wait_to_leave(void *nothing) {
    while (sem_wait(&leaving) != 0) {
    }
    calls[VERBENA_leave](0, 0, 0, 0, 0, 0);
    sem_post(&left);
    return nothing;
}

static void start_leaver(void) {
    pthread_t thread;
    sem_init(&leaving, 0, 0);
    sem_init(&left, 0, 0);
    if (pthread_create(&thread, NULL, wait_to_leave, NULL) == 0) {
        pthread_detach(thread);
    }
}

/* The program ends: its peers are told, as the kernel does it for a card. In a signal handler that has interrupted a call,
 * another thread tells them; it may need what the interrupted call holds, so it is given some time only. */
static void leave(void) {
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE)) {
        if (java(leave, 0) == -EDEADLK) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += LEAVE_SECONDS;
            sem_post(&leaving);
            while (sem_timedwait(&left, &until) != 0 && errno == EINTR) {
            }
            return;
        }
        if (recording) {
            (*recording)->DestroyJavaVM(recording);
        }
    }
}

/* What this library needs stands beside it (lib/NAME of ours, and runtime, modules), unless an environment variable names
 * another. NULL when it is not there. */
static const char *find(const char *variable, const char *name, char *path) {
    const char *named = getenv(variable);
    if (named) {
        return *named ? named : NULL;
    }
    Dl_info us;
    char beside[PATH_MAX];
    if (!dladdr(calls, &us) || !realpath(us.dli_fname, path)) {
        return NULL;
    }
    *strrchr(path, '/') = 0;
    if (snprintf(beside, sizeof beside, "%s/../%s", path, name) >= (int) sizeof beside) {
        return NULL;
    }
    return realpath(beside, path);
}

/* The JVM takes these signals for itself and can do without: our threads block them. */
static const int programs_own[] = {SIGCHLD, SIGPIPE, SIGXFSZ};
#define PROGRAMS_OWN (sizeof programs_own / sizeof *programs_own)

/* The JVM has one signal that none of its threads blocks, nor a thread that calls: SIGUSR2, unless this variable names
 * another. A program that waits for SIGUSR2 by signalfd(2) would not get it. SIGSTKFLT is what Linux never sends. */
static char jvms_signal[] = "_JAVA_SR_SIGNUM=16";
_Static_assert(SIGSTKFLT == 16, "the number in the variable");

/* Another thread may read the environment meanwhile: it is replaced as a whole, and the copy is not freed. */
static char **environment_with_jvms_signal(void) {
    size_t count = 0;
    while (environ[count]) {
        count++;
    }
    char **copy = malloc((count + 2) * sizeof *copy);
    if (copy) {
        memcpy(copy, environ, count * sizeof *copy);
        copy[count] = jvms_signal;
        copy[count + 1] = NULL;
    }
    return copy;
}

/* Programs take what is mapped below their own end for their static data (OpenSHMEM), and let peers read and write it. So the
 * JVM's heap, and its classes where there is an AOT cache, lie above all programs and below what mmap(2) chooses. Each
 * JVM of forked children has a place of its own. Zero when there is none. */
#if defined(__x86_64__)
#define PLACES 0x600000000000UL
#elif defined(__aarch64__)
#define PLACES 0xC00000000000UL
#endif
#define PLACES_MAX 8
#define PLACE_BYTES 0x20000000000UL /* the upper half is for classes */

/* What is free below the program, and taken from the JVM while it starts: without an AOT cache that fits, it wants its classes as low
 * as possible. When nothing is free there, it takes what mmap(2) chooses. */
#define GAPS_MAX 64
#define LOWEST 0x10000UL /* vm.mmap_min_addr */
static struct {
    void *at;
    size_t bytes;
} gaps[GAPS_MAX];
static int gap_count;

static void take_gap(uintptr_t from, uintptr_t to) {
    if (from < to && gap_count < GAPS_MAX) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
        void *taken = mmap((void *) from, to - from, PROT_NONE, flags, -1, 0);
        if (taken != MAP_FAILED) { /* by a kernel before 4.17 perhaps elsewhere */
            gaps[gap_count].at = taken;
            gaps[gap_count++].bytes = to - from;
        }
    }
}

static void take_gaps(void) {
#ifdef PLACES
    uintptr_t program = getauxval(AT_PHDR) & -4096UL, at = LOWEST;
    if (program == 0 || program > PLACES) {
        return; /* started by ld.so as its argument: it lies among the libraries */
    }
    int fd = (int) syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
    char line[PATH_MAX + 128];
    unsigned long low, high;
    while (maps && at < program && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &low, &high) == 2) {
            take_gap(at, low < program ? low : program);
            at = high > at ? high : at;
        }
    }
    if (maps) {
        fclose(maps);
    }
#endif
}

static void give_gaps_back(void) {
    while (gap_count > 0) {
        gap_count--;
        munmap(gaps[gap_count].at, gaps[gap_count].bytes);
    }
}

static jint create_java(jint (*create)(JavaVM **, void **, void *), JavaVM **vm, JNIEnv **env, JavaVMInitArgs *arguments) {
    char **before = environ, **with = environ && !getenv("_JAVA_SR_SIGNUM") ? environment_with_jvms_signal() : NULL;
    if (with) {
        environ = with;
    }
    take_gaps();
    jint code = create(vm, (void **) env, arguments);
    give_gaps_back();
    if (with && environ == with) {
        environ = before; /* programs that this one starts need not see it */
    }
    return code;
}

static uintptr_t find_place(void) {
#ifdef PLACES
    for (uintptr_t at = PLACES; at < PLACES + PLACES_MAX * PLACE_BYTES; at += PLACE_BYTES) {
        void *taken = mmap((void *) at, PLACE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (taken != MAP_FAILED) {
            munmap(taken, PLACE_BYTES);
        }
        if ((uintptr_t) taken == at) {
            return at;
        }
    }
#endif
    return 0;
}

static uintptr_t place;

int verbena_is_jvms(uintptr_t from, uintptr_t to) { return place && from < place + PLACE_BYTES && to > place; }

static JavaVMOption option(char *text, const char *prefix, const char *value) {
    return (JavaVMOption) {.optionString = strcat(strcpy(text, prefix), value)};
}

static int start_java(void) {
    static char jvm_path[PATH_MAX], modules_path[PATH_MAX], cache_path[PATH_MAX];
    const char *jvm = find("VERBENA_JVM", "runtime/lib/server/libjvm.so", jvm_path);
    const char *modules = find("VERBENA_MODULES", "modules", modules_path); /* none: the runtime has them */
    const char *cache = find("VERBENA_AOT_CACHE", "lib/run.aot", cache_path); /* none: the start is slower */
    if (!jvm) {
        return fail("this libibverbs is Verbena's; start the program with `verbena run PROGRAM`", NULL);
    }
    if (modules && strlen(modules) >= MODULES_MAX) {
        return fail("VERBENA_MODULES is too long", NULL);
    }
    void *library = verbena_load_jvm(jvm, is_forked);
    if (!library) {
        return fail("no JVM", verbena_why_no_jvm());
    }
    jint (*create)(JavaVM **, void **, void *) = (jint (*)(JavaVM **, void **, void *)) dlsym(library, "JNI_CreateJavaVM");
    if (!create) {
        return fail("no JVM", dlerror());
    }

    JavaVMOption options[OPTIONS_MAX] = {
        {.optionString = "--add-modules=verbena.abi"},
        {.optionString = "--enable-native-access=verbena.foreign,verbena.abi"},
        {.optionString = "-Dverbena.libibverbs=none"}, /* the system's: that is us */
        {.optionString = "-Dverbena.librdmacm=none"},
        {.optionString = "-Xrs"}, /* signals are the program's */
        {.optionString = "-XX:+UseSerialGC"},
        {.optionString = "-XX:FreqInlineSize=50"}, /* half the work for the second compiler: docs/decisions/35-jvm-in-c.md */
        {.optionString = "-XX:NewSize=4m"}, /* the program's memory is for the program: 12 MB less */
        {.optionString = "-XX:-UsePerfData"}, /* a file in /tmp */
        {.optionString = "-XX:+UnlockDiagnosticVMOptions"}, /* for the next */
        {.optionString = "-XX:ArchiveRelocationMode=0"}, /* the AOT cache is shared with other processes: 10 MB less */
        {.optionString = "-XX:+DisplayVMOutputToStderr"}, /* standard output is the program's */
        {.optionString = "-XX:ErrorFile=/dev/null"}, /* and so is the folder that it runs in */
        {.optionString = "-Xlog:disable"},
        {.optionString = "-Xlog:all=warning,aot*=off,cds*=off:stderr"}, /* without a cache that fits all works, too */
    };
    int count = 0;
    while (options[count].optionString) {
        count++;
    }
    static char modules_option[MODULES_MAX + 32], cache_option[PATH_MAX + 32], heap_option[64], classes_option[64];
    place = find_place();
    if (place) {
        snprintf(heap_option, sizeof heap_option, "-XX:HeapBaseMinAddress=%lu", place);
        snprintf(classes_option, sizeof classes_option, "-XX:SharedBaseAddress=%lu", place + PLACE_BYTES / 2);
        options[count++].optionString = heap_option;
        options[count++].optionString = classes_option;
    }
    if (modules) {
        options[count++] = option(modules_option, "--module-path=", modules);
    }
    if (cache && strlen(cache) < PATH_MAX) {
        options[count++] = option(cache_option, "-XX:AOTCache=", cache);
    }
    if (getenv("VERBENA_JVM_OPTIONS")) {
        count = add_words(options, count, getenv("VERBENA_JVM_OPTIONS"));
    }
    JavaVMInitArgs arguments = {.version = JNI_VERSION_21, .nOptions = count, .options = options};
    struct sigaction before[PROGRAMS_OWN];
    for (size_t i = 0; i < PROGRAMS_OWN; i++) {
        sigaction(programs_own[i], NULL, &before[i]);
    }
    /* A report of the JVM's own is written when an option names its file. */
    const char *more = getenv("VERBENA_JVM_OPTIONS");
    if (!more || !strstr(more, "-XX:ErrorFile=")) {
        verbena_take_faults((void *) create);
    }
    JavaVM *vm;
    JNIEnv *env;
    if (create_java(create, &vm, &env, &arguments) != JNI_OK) {
        verbena_give_faults_back();
        return fail("the JVM does not start", jvm);
    }
    running = vm;
    verbena_settle_faults();
    verbena_keep_sockets((void *) create);
    (*env)->FindClass(env, "java/lang/ProcessImpl"); /* takes SIGCHLD when it is initialized: now, and never again */
    (*env)->ExceptionClear(env);
    for (size_t i = 0; i < PROGRAMS_OWN; i++) {
        sigaction(programs_own[i], &before[i], NULL);
    }
    recording = more && strstr(more, "-XX:AOTCacheOutput=") ? vm : NULL;

    jclass abi = (*env)->FindClass(env, "verbena/abi/entry/Abi");
    jmethodID start = abi ? (*env)->GetStaticMethodID(env, abi, "start", "(JJI)V") : NULL;
    link_method = start ? (*env)->GetStaticMethodID(env, abi, "link", "(J)J") : NULL;
    if (link_method) {
        java_part = (*env)->NewGlobalRef(env, abi);
        (*env)->CallStaticVoidMethod(env, abi, start, (jlong) verbena_operations, (jlong) verbena_operation_names,
            (jint) VERBENA_OPERATION_COUNT);
    }
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        (*env)->ExceptionClear(env);
        return fail("Java part of the library did not start", NULL);
    }
    memcpy(calls, first_calls, sizeof calls);
    return 0;
}

static void detach(void *vm) {
    verbena_end_visit(); /* a thread that was cancelled */
    (*(JavaVM *) vm)->DetachCurrentThread(vm);
}

/* The JVM would attach the thread by itself, and detach it when it ends; also in the child of a fork, where that waits for
 * threads of the parent. So it is done here, where a fork is known. */
void verbena_attach(void) {
    JNIEnv *env;
    verbena_java();
    if (running && (*running)->AttachCurrentThreadAsDaemon(running, (void **) &env, NULL) == JNI_OK) {
        pthread_setspecific(attached, running);
    }
}

int verbena_is_known(void) {
    void *env;
    return running && (*running)->GetEnv(running, &env, JNI_VERSION_21) == JNI_OK;
}

const verbena_function *verbena_java(void) {
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE)) {
        return calls;
    }
    int error = errno;
    pthread_mutex_lock(&starting);
    if (!started) {
        /* The program's signals are not for the JVM's threads: they inherit this mask. */
        sigset_t before;
        static int is_first = 1;
        verbena_block_signals(&before);
        if (is_first) {
            pthread_key_create(&attached, detach);
        }
        answer_no_device();
        if (start_java() != 0) {
            answer_no_device();
        }
        start_leaver();
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (is_first) {
            pthread_atfork(NULL, NULL, in_child);
            atexit(leave);
            is_first = 0;
        }
        __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&starting);
    errno = error;
    return calls;
}
