/* Waiting for rsockets, where a thread of the program does the device's work meanwhile: no way to wait disturbs another, and none
 * waits for ever. Both ends are in this process, but for a peer that is killed. Ends with status 0 when all is so. Argument: an
 * address of the device. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define PATIENCE 20000

static const char *host;
static struct sockaddr_in at;
static int listener;

struct pair {
    int a, b;
};

static int client(void) {
    int s = rsocket(AF_INET, SOCK_STREAM, 0);
    EXPECT(s >= 0 && rconnect(s, (struct sockaddr *) &at, sizeof at) == 0);
    return s;
}

static struct pair connected(void) {
    struct pair p = {.a = client()};
    p.b = raccept(listener, NULL, NULL);
    EXPECT(p.b >= 0);
    return p;
}

static void end(struct pair p) { EXPECT(rclose(p.a) == 0 && rclose(p.b) == 0); }

static void say(int s, const char *what) { EXPECT(rsend(s, what, strlen(what), 0) == (ssize_t) strlen(what)); }

static void hear(int s, const char *what) {
    char got[100] = "";
    EXPECT(rrecv(s, got, strlen(what), MSG_WAITALL) == (ssize_t) strlen(what) && strcmp(got, what) == 0);
}

static int ours(int s, short events, int timeout) {
    struct pollfd fds = {.fd = s, .events = events};
    EXPECT(rpoll(&fds, 1, timeout) >= 0);
    return fds.revents;
}

static int kernels(int s, short events, int timeout) {
    struct pollfd fds = {.fd = s, .events = events};
    EXPECT(poll(&fds, 1, timeout) >= 0);
    return fds.revents;
}

static pthread_t start(void *(*what)(void *), int *s) {
    pthread_t made;
    EXPECT(pthread_create(&made, NULL, what, s) == 0);
    return made;
}

static long outcome(pthread_t of) {
    void *answer;
    EXPECT(pthread_join(of, &answer) == 0);
    return (long) answer;
}

/* Whoever has waited by rpoll, or in a call, may ask the kernel next. */
static void the_kernel_tells_after_a_while(void) {
    struct pair p = connected();
    for (int i = 0; i < 20; i++) {
        say(p.a, "by rpoll");
        EXPECT(ours(p.b, POLLIN, PATIENCE) == POLLIN);
        hear(p.b, "by rpoll");
        EXPECT(kernels(p.b, POLLIN, 0) == 0);
        say(p.a, "by poll");
        EXPECT(kernels(p.b, POLLIN, PATIENCE) == POLLIN);
        hear(p.b, "by poll");
        EXPECT(kernels(p.b, POLLIN, 0) == 0);
    }
    static char block[1 << 20];
    EXPECT(rfcntl(p.a, F_SETFL, O_NONBLOCK) == 0);
    EXPECT(ours(p.a, POLLOUT, 0) == POLLOUT);
    long sent = 0, heard = 0;
    for (ssize_t n; (n = rsend(p.a, block, sizeof block, 0)) > 0; sent += n) {
    }
    while (kernels(p.a, POLLOUT, 0) & POLLOUT) { /* not for long */
    }
    while (heard < sent) {
        ssize_t n = rrecv(p.b, block, sizeof block, 0);
        EXPECT(n > 0);
        heard += n > 0 ? n : sent;
    }
    EXPECT(kernels(p.a, POLLOUT, PATIENCE) == POLLOUT);
    int epoll = epoll_create1(0);
    struct epoll_event told = {.events = EPOLLIN};
    EXPECT(ours(p.b, POLLIN, 0) == 0);
    EXPECT(epoll_ctl(epoll, EPOLL_CTL_ADD, p.b, &told) == 0);
    EXPECT(rclose(p.a) == 0);
    EXPECT(epoll_wait(epoll, &told, 1, PATIENCE) == 1);
    close(epoll);
    EXPECT(rclose(p.b) == 0);
}

#define MANY 60

static void many(void) {
    struct pair all[MANY];
    struct pollfd fds[MANY + 2];
    int ends[2];
    EXPECT(pipe(ends) == 0);
    for (int i = 0; i < MANY; i++) {
        all[i] = connected();
        fds[i] = (struct pollfd) {.fd = all[i].b, .events = POLLIN};
    }
    fds[MANY] = (struct pollfd) {.fd = ends[0], .events = POLLIN};
    fds[MANY + 1] = (struct pollfd) {.fd = listener, .events = POLLIN};
    EXPECT(rpoll(fds, MANY + 2, 0) == 0);
    EXPECT(rpoll(fds, MANY + 2, 30) == 0);
    for (int i = 0; i < MANY; i += 7) {
        say(all[i].a, "you");
        EXPECT(rpoll(fds, MANY + 2, PATIENCE) == 1 && fds[i].revents == POLLIN);
        hear(all[i].b, "you");
    }
    EXPECT(write(ends[1], "x", 1) == 1);
    EXPECT(rpoll(fds, MANY + 2, PATIENCE) == 1 && fds[MANY].revents == POLLIN);
    fds[MANY].fd = -1;
    int another = client();
    EXPECT(rpoll(fds, MANY + 2, PATIENCE) == 1 && fds[MANY + 1].revents == POLLIN);
    end((struct pair) {another, raccept(listener, NULL, NULL)});
    for (int i = 0; i < MANY; i++) {
        end(all[i]);
    }
    close(ends[0]);
    close(ends[1]);
}

static void *hear_one(void *s) {
    char byte = 0;
    ssize_t n = rrecv(*(int *) s, &byte, 1, 0);
    return (void *) (n == 1 ? (long) byte : -(long) (n ? errno : 0));
}

static void *poll_one(void *s) { return (void *) (long) ours(*(int *) s, POLLIN, PATIENCE); }

/* Threads that wait for several rsockets, and one for the same in two ways. */
static void several_wait(void) {
    struct pair p = connected(), q = connected();
    pthread_t first = start(hear_one, &p.b), second = start(hear_one, &q.b), third = start(poll_one, &p.a);
    say(q.a, "2");
    EXPECT(outcome(second) == '2');
    say(p.a, "1");
    EXPECT(outcome(first) == '1');
    say(p.b, "3");
    EXPECT(outcome(third) == POLLIN);
    hear(p.a, "3");
    first = start(poll_one, &p.b), second = start(poll_one, &q.b), third = start(poll_one, &p.b);
    say(q.a, "4");
    EXPECT(outcome(second) == POLLIN);
    hear(q.b, "4");
    say(p.a, "5");
    EXPECT(outcome(first) == POLLIN && outcome(third) == POLLIN);
    hear(p.b, "5");
    end(p);
    end(q);
}

/* Another thread ends it while one waits. */
static void ended_meanwhile(void) {
    struct pair p = connected(), q = connected(), r = connected();
    pthread_t hears = start(hear_one, &p.b), polls = start(poll_one, &q.b), other = start(hear_one, &r.b);
    usleep(20000);
    EXPECT(rclose(p.b) == 0);
    long heard = outcome(hears);
    EXPECT(heard == 0 || heard == -EBADF);
    EXPECT(rshutdown(q.b, SHUT_RD) == 0);
    EXPECT(outcome(polls) & POLLIN);
    EXPECT(rclose(r.a) == 0);
    EXPECT(outcome(other) == 0);
    EXPECT(rclose(p.a) == 0 && rclose(r.b) == 0);
    end(q);
}

static struct pair spoken;

static void on_alarm(int signal) {
    (void) signal;
    say(spoken.a, "!");
}

/* A handler may make calls while its thread is in rpoll, which ends with EINTR. */
static void signals(void) {
    spoken = connected();
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART}, before;
    struct itimerval soon = {.it_value.tv_usec = 50000};
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &soon, NULL);
    struct pollfd fds = {.fd = spoken.a, .events = POLLIN};
    EXPECT_ERRNO(EINTR, rpoll(&fds, 1, PATIENCE) == -1);
    hear(spoken.b, "!");
    sigaction(SIGALRM, &before, NULL);
    end(spoken);
}

static void a_cancelled_thread(void) {
    struct pair p = connected();
    pthread_t polls = start(poll_one, &p.b);
    usleep(50000);
    EXPECT(pthread_cancel(polls) == 0);
    EXPECT(outcome(polls) == (long) PTHREAD_CANCELED);
    say(p.a, "on");
    EXPECT(ours(p.b, POLLIN, PATIENCE) == POLLIN);
    hear(p.b, "on");
    end(p);
}

/* The peer is another process, which is killed while this one waits: in one way, and in the other. Over some devices only a question
 * tells. */
static void killed(const char *program, int polls) {
    char port[8];
    snprintf(port, sizeof port, "%d", ntohs(at.sin_port));
    pid_t peer = vfork();
    if (peer == 0) {
        execl(program, program, host, port, (char *) NULL);
        _exit(1);
    }
    int s = raccept(listener, NULL, NULL), one = 1;
    hear(s, "here");
    EXPECT(rsetsockopt(s, IPPROTO_TCP, TCP_KEEPIDLE, &one, sizeof one) == 0);
    EXPECT(rsetsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one) == 0);
    EXPECT(kill(peer, SIGKILL) == 0);
    if (polls) {
        EXPECT(ours(s, POLLIN, 60000) & (POLLIN | POLLHUP));
    }
    char byte;
    EXPECT(rrecv(s, &byte, 1, 0) <= 0);
    EXPECT(rclose(s) == 0);
    EXPECT(waitpid(peer, NULL, 0) == peer);
}

int main(int count, char **arguments) {
    host = count > 1 ? arguments[1] : "127.0.0.1";
    at.sin_family = AF_INET;
    EXPECT(inet_pton(AF_INET, host, &at.sin_addr) == 1);
    if (count > 2) { /* the peer that is killed */
        at.sin_port = htons((uint16_t) atoi(arguments[2]));
        say(client(), "here");
        pause();
    }
    listener = rsocket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof at;
    EXPECT(rbind(listener, (struct sockaddr *) &at, sizeof at) == 0 && rlisten(listener, 10) == 0);
    EXPECT(rgetsockname(listener, (struct sockaddr *) &at, &length) == 0);
    the_kernel_tells_after_a_while();
    many();
    several_wait();
    ended_meanwhile();
    signals();
    a_cancelled_thread();
    killed(arguments[0], 0);
    killed(arguments[0], 1);
    EXPECT(rclose(listener) == 0);
    printf("%d not so\n", failures);
    return failures ? 1 : 0;
}
