/* Rsockets do their work in the program's own thread. Both ends of a connection are in one thread here: how often does that sleep
 * until another thread has done something, for each message that goes from one end to the other? Ends with status 0 when that
 * happens for few of them only. Argument: an address of the device. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

#define MESSAGES 2000
#define WINDOW (128 << 10)

static char sent[WINDOW], heard[WINDOW];

static struct rusage used(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage;
}

static long micros(struct timeval time) { return time.tv_sec * 1000000L + time.tv_usec; }

static void by_blocking(int from, int to, int length) {
    EXPECT(rsend(from, sent, (size_t) length, 0) == length);
    EXPECT(rrecv(to, heard, (size_t) length, MSG_WAITALL) == length);
}

/* As an event loop does it, with both ends in one list. */
static void by_polling(int from, int to, int length) {
    struct pollfd fds[] = {{.fd = from, .events = POLLOUT}, {.fd = to, .events = POLLIN}};
    int out = 0, in = 0;
    while (in < length) {
        fds[0].events = out < length ? POLLOUT : 0;
        EXPECT(rpoll(fds, 2, 20000) > 0);
        if (fds[0].revents & POLLOUT) {
            ssize_t n = rsend(from, sent + out, (size_t) (length - out), MSG_DONTWAIT);
            out += n > 0 ? (int) n : 0;
        }
        if (fds[1].revents & POLLIN) {
            ssize_t n = rrecv(to, heard + in, (size_t) (length - in), MSG_DONTWAIT);
            in += n > 0 ? (int) n : 0;
        }
    }
}

/* As a program does it that spins. */
static void by_spinning(int from, int to, int length) {
    int out = 0, in = 0;
    while (in < length) {
        ssize_t n = rsend(from, sent + out, (size_t) (length - out), MSG_DONTWAIT);
        out += n > 0 ? (int) n : 0;
        n = rrecv(to, heard + in, (size_t) (length - in), MSG_DONTWAIT);
        in += n > 0 ? (int) n : 0;
    }
}

static void measure(const char *how, void (*one)(int, int, int), int a, int b, int length, int sleeps_max) {
    for (int i = 0; i < MESSAGES; i++) { /* the JVM is cold */
        one(a, b, length);
    }
    struct rusage before = used();
    for (int i = 0; i < MESSAGES; i++) {
        one(a, b, length);
    }
    struct rusage after = used();
    long sleeps = (after.ru_nvcsw - before.ru_nvcsw) * 1000 / MESSAGES;
    printf("%s, %d bytes: %ld sleeps in 1000 messages, and for each %.1f us of its own and %.1f us of the kernel\n", how, length,
        sleeps, (double) (micros(after.ru_utime) - micros(before.ru_utime)) / MESSAGES,
        (double) (micros(after.ru_stime) - micros(before.ru_stime)) / MESSAGES);
    EXPECT(sleeps < sleeps_max);
}

int main(int count, char **arguments) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    EXPECT(inet_pton(AF_INET, count > 1 ? arguments[1] : "127.0.0.1", &at.sin_addr) == 1);
    int listener = rsocket(AF_INET, SOCK_STREAM, 0), a = rsocket(AF_INET, SOCK_STREAM, 0);
    EXPECT(rbind(listener, (struct sockaddr *) &at, sizeof at) == 0 && rlisten(listener, 1) == 0);
    EXPECT(rgetsockname(listener, (struct sockaddr *) &at, &length) == 0);
    EXPECT(rconnect(a, (struct sockaddr *) &at, sizeof at) == 0);
    int b = raccept(listener, NULL, NULL);
    memset(sent, 'v', sizeof sent);
    measure("blocking", by_blocking, a, b, 64, 500);
    measure("polling", by_polling, a, b, 64, 500);
    usleep(50000); /* the program may ask the kernel now, until its calls show that it spins */
    measure("spinning", by_spinning, a, b, 64, 150);
    measure("blocking", by_blocking, a, b, WINDOW / 4, 500);
    measure("polling", by_polling, a, b, WINDOW, 500);
    EXPECT(memcmp(sent, heard, sizeof sent) == 0);
    EXPECT(rclose(a) == 0 && rclose(b) == 0 && rclose(listener) == 0);
    printf("%d not so\n", failures);
    return failures ? 1 : 0;
}
