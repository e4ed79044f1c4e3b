/* Waiting for completions in C: in ibv_get_cq_event, which is a system call to a program, with signals, cancellation, long jumps
 * and other threads; and by poll(2) for the channel's descriptor, which is readable as long as an event is there. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static struct ibv_context *context;
static struct ibv_pd *pd;

/* A channel, its queue, and a queue pair in ERR: each request ends there at once, and with an event when the queue is armed. */
struct source {
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
};

static struct source source_on(struct ibv_comp_channel *channel) {
    struct source made = {.channel = channel, .cq = ibv_create_cq(context, 64, channel, channel, 0)};
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    made.qp = create_rc(pd, made.cq);
    EXPECT_CODE(0, connect_to(made.qp, made.qp));
    EXPECT_CODE(0, ibv_modify_qp(made.qp, &error, IBV_QP_STATE));
    return made;
}

static struct source new_source(void) { return source_on(ibv_create_comp_channel(context)); }

/* Arms the queue and has something come into it. */
static void cause(struct source *of) {
    struct ibv_recv_wr receive = {.wr_id = 1}, *bad;
    EXPECT_CODE(0, ibv_req_notify_cq(of->cq, 0));
    EXPECT_CODE(0, ibv_post_recv(of->qp, &receive, &bad));
}

static void drain(struct source *of) {
    struct ibv_wc wc;
    while (ibv_poll_cq(of->cq, 1, &wc) > 0) {
    }
}

static int take(struct source *from) {
    struct ibv_cq *cq = NULL;
    void *own = NULL;
    int answer = ibv_get_cq_event(from->channel, &cq, &own);
    if (answer == 0) {
        EXPECT(cq == from->cq && own == from->channel);
        ibv_ack_cq_events(cq, 1);
        drain(from);
    }
    return answer;
}

static int is_readable(struct source *which, int milliseconds) {
    struct pollfd what = {.fd = which->channel->fd, .events = POLLIN};
    return poll(&what, 1, milliseconds) == 1;
}

static void end(struct source *which) {
    EXPECT_CODE(0, ibv_destroy_qp(which->qp));
    EXPECT_CODE(0, ibv_destroy_cq(which->cq));
    EXPECT_CODE(0, ibv_destroy_comp_channel(which->channel));
}

/* ---- a thread that waits */

static sem_t waiting, got;
static pid_t waiter_id;

static void *wait_once(void *from) {
    waiter_id = gettid();
    sem_post(&waiting);
    errno = 0;
    return (void *) (long) (take(from) == 0 ? 0 : errno);
}

/* Until this thread of ours sleeps in the kernel: nothing else tells that it waits. */
static void await_sleep(pid_t thread) {
    char path[64], state = 0;
    for (int still = 0; still < 3;) { /* on its way it may sleep for a moment, too */
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int) thread);
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) {
            state = 0;
        }
        if (file) {
            fclose(file);
        }
        still = state == 'S' ? still + 1 : 0;
        poll(NULL, 0, 2);
    }
}

static pthread_t start_waiter(struct source *on) {
    pthread_t thread;
    EXPECT_CODE(0, pthread_create(&thread, NULL, wait_once, on));
    sem_wait(&waiting);
    await_sleep(waiter_id);
    return thread;
}

static long result_of(pthread_t thread) {
    void *result;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    if (pthread_timedjoin_np(thread, &result, &until) != 0) {
        printf("a thread waits for ever\n");
        exit(1);
    }
    return (long) result;
}

static int threads(void) {
    int count = 0;
    DIR *all = opendir("/proc/self/task");
    while (readdir(all)) {
        count++;
    }
    closedir(all);
    return count;
}

static void an_event_needs_no_thread_of_the_library(void) {
    struct source first = new_source();
    int before = threads();
    struct source second = new_source();
    EXPECT(threads() == before);
    pthread_t waiter = start_waiter(&second);
    cause(&second);
    EXPECT(result_of(waiter) == 0);
    cause(&first);
    EXPECT(take(&first) == 0);
    end(&first);
    end(&second);
}

static void the_descriptor_says_whether_there_is_an_event(void) {
    struct source of = new_source();
    EXPECT(!is_readable(&of, 0));
    cause(&of);
    EXPECT(is_readable(&of, 10000) && is_readable(&of, 0));
    EXPECT(take(&of) == 0);
    EXPECT(!is_readable(&of, 0));
    struct source other = source_on(of.channel); /* two events at once */
    cause(&of);
    cause(&other);
    struct ibv_cq *cq[2];
    void *own;
    for (int i = 0; i < 2; i++) {
        EXPECT(is_readable(&of, 10000));
        EXPECT(ibv_get_cq_event(of.channel, &cq[i], &own) == 0);
        ibv_ack_cq_events(cq[i], 1);
    }
    EXPECT(cq[0] == of.cq && cq[1] == other.cq);
    EXPECT(!is_readable(&of, 0));
    EXPECT_CODE(0, ibv_destroy_qp(other.qp));
    EXPECT_CODE(0, ibv_destroy_cq(other.cq));

    fcntl(of.channel->fd, F_SETFL, fcntl(of.channel->fd, F_GETFL) | O_NONBLOCK);
    EXPECT_ERRNO(EAGAIN, take(&of) == -1);
    drain(&of);
    cause(&of);
    EXPECT(is_readable(&of, 10000));
    EXPECT(take(&of) == 0);
    EXPECT_ERRNO(EAGAIN, take(&of) == -1);
    fcntl(of.channel->fd, F_SETFL, fcntl(of.channel->fd, F_GETFL) & ~O_NONBLOCK);
    pthread_t waiter = start_waiter(&of);
    cause(&of);
    EXPECT(result_of(waiter) == 0);
    EXPECT(!is_readable(&of, 0));
    end(&of);
}

/* ---- signals */

static volatile sig_atomic_t handled;
static struct source *in_handler;
static sigjmp_buf elsewhere;

static void count(int signal) {
    (void) signal;
    handled++;
}

static void call_verbs(int signal) {
    struct ibv_port_attr port;
    struct ibv_wc wc;
    (void) signal;
    if (ibv_query_port(context, 1, &port) != 0 || ibv_poll_cq(in_handler->cq, 1, &wc) != 0) {
        failures++;
    }
    handled++;
}

static void jump(int signal) {
    (void) signal;
    siglongjmp(elsewhere, 1);
}

static void handle(void (*by)(int), int flags) {
    struct sigaction action = {.sa_handler = by, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    handled = 0;
}

/* Returns when `waiter` has handled it. */
static void interrupt(pthread_t waiter) {
    pthread_kill(waiter, SIGUSR1);
    while (!handled) {
        poll(NULL, 0, 1);
    }
}

static void signals_interrupt_as_their_handlers_ask_for(void) {
    struct source of = new_source();
    handle(count, 0);
    pthread_t waiter = start_waiter(&of);
    interrupt(waiter);
    EXPECT(result_of(waiter) == EINTR);

    handle(count, SA_RESTART);
    waiter = start_waiter(&of);
    interrupt(waiter);
    await_sleep(waiter_id);
    cause(&of);
    EXPECT(result_of(waiter) == 0);

    /* A program with handlers of both kinds. */
    struct sigaction other = {.sa_handler = count};
    sigemptyset(&other.sa_mask);
    sigaction(SIGUSR2, &other, NULL);
    handle(count, SA_RESTART);
    waiter = start_waiter(&of);
    interrupt(waiter);
    await_sleep(waiter_id);
    handled = 0;
    pthread_kill(waiter, SIGUSR2);
    EXPECT(result_of(waiter) == EINTR);
    signal(SIGUSR2, SIG_DFL);

    in_handler = &of;
    handle(call_verbs, SA_RESTART);
    waiter = start_waiter(&of);
    interrupt(waiter);
    cause(&of);
    EXPECT(result_of(waiter) == 0);
    end(&of);
}

static void *jump_out(void *from) {
    waiter_id = gettid();
    if (sigsetjmp(elsewhere, 1) == 0) {
        sem_post(&waiting);
        take(from);
        return (void *) 1L;
    }
    sem_post(&got);
    return (void *) (long) take(from);
}

static void a_long_jump_leaves_the_wait(void) {
    struct source of = new_source();
    pthread_t waiter;
    handle(jump, 0);
    EXPECT_CODE(0, pthread_create(&waiter, NULL, jump_out, &of));
    sem_wait(&waiting);
    await_sleep(waiter_id);
    pthread_kill(waiter, SIGUSR1);
    sem_wait(&got); /* an event that comes before the jump may be lost by it, with a card too */
    cause(&of);
    EXPECT(result_of(waiter) == 0);
    end(&of);
}

static void a_thread_that_waits_can_be_cancelled(void) {
    struct source of = new_source();
    for (int i = 0; i < 3; i++) {
        pthread_t waiter = start_waiter(&of);
        EXPECT_CODE(0, pthread_cancel(waiter));
        EXPECT((void *) result_of(waiter) == PTHREAD_CANCELED);
        cause(&of);
        EXPECT(is_readable(&of, 10000));
        EXPECT(take(&of) == 0);
    }
    end(&of);
}

/* ---- several threads */

static int is_over;
static long taken;

static void *take_all(void *from) {
    struct source *of = from;
    for (int is_last = 0; !is_last;) {
        struct ibv_cq *cq;
        void *own;
        EXPECT(ibv_get_cq_event(of->channel, &cq, &own) == 0);
        ibv_ack_cq_events(of->cq, 1);
        __atomic_add_fetch(&taken, 1, __ATOMIC_ACQ_REL);
        is_last = __atomic_load_n(&is_over, __ATOMIC_ACQUIRE); /* before the other thread goes on */
        sem_post(&got);
    }
    return NULL;
}

static void *poll_and_take(void *from) {
    struct source *of = from;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        is_readable(of, 1); /* and another thread may be faster */
    }
    return NULL;
}

/* Events one by one: each is taken once, by whichever thread. */
static void threads_share_a_channel(int takers) {
    enum { EVENTS = 500 };
    struct source of = new_source();
    pthread_t taker[4], poller;
    is_over = 0;
    taken = 0;
    for (int i = 0; i < takers; i++) {
        EXPECT_CODE(0, pthread_create(&taker[i], NULL, take_all, &of));
    }
    EXPECT_CODE(0, pthread_create(&poller, NULL, poll_and_take, &of));
    for (int i = 1; i <= EVENTS; i++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 20;
        cause(&of);
        if (sem_timedwait(&got, &until) != 0) {
            printf("event %d of %d is not taken\n", i, EVENTS);
            exit(1);
        }
        EXPECT(__atomic_load_n(&taken, __ATOMIC_ACQUIRE) == i);
        drain(&of);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < takers; i++) {
        cause(&of);
        sem_wait(&got);
        drain(&of);
    }
    for (int i = 0; i < takers; i++) {
        result_of(taker[i]);
    }
    result_of(poller);
    EXPECT(!is_readable(&of, 0));
    end(&of);
}

/* An event of a queue that goes is no event: the thread waits for the next one. */
static void an_event_of_a_queue_that_is_gone_is_passed_over(void) {
    struct source of = new_source();
    struct source gone = source_on(of.channel);
    cause(&gone);
    EXPECT(is_readable(&of, 10000));
    EXPECT_CODE(0, ibv_destroy_qp(gone.qp));
    EXPECT_CODE(0, ibv_destroy_cq(gone.cq));
    pthread_t waiter = start_waiter(&of);
    cause(&of);
    EXPECT(result_of(waiter) == 0);
    end(&of);
}

/* ---- the end */

static void leave(int signal) {
    (void) signal;
    exit(0);
}

/* A program that ends in a handler that has interrupted the wait. */
static void exit_while_waiting(void) {
    struct source of = new_source();
    handle(leave, 0);
    alarm(0);
    signal(SIGALRM, leave);
    fflush(stdout);
    if (failures) {
        exit(1);
    }
    ualarm(200000, 0);
    take(&of);
    exit(3);
}

int main(void) {
    context = open_first();
    pd = ibv_alloc_pd(context);
    sem_init(&waiting, 0, 0);
    sem_init(&got, 0, 0);
    an_event_needs_no_thread_of_the_library();
    the_descriptor_says_whether_there_is_an_event();
    signals_interrupt_as_their_handlers_ask_for();
    a_long_jump_leaves_the_wait();
    a_thread_that_waits_can_be_cancelled();
    threads_share_a_channel(1);
    threads_share_a_channel(4);
    an_event_of_a_queue_that_is_gone_is_passed_over();
    exit_while_waiting();
}
