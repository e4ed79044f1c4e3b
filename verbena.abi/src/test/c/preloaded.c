/* A program of sockets whose sockets librspreload.so makes rsockets: both ends in one process, over loopback. Needs that library
 * preloaded. Ends with status 0 when all is so. Argument: an address of the device. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

static struct sockaddr_in at = {.sin_family = AF_INET};

/* A listener at a free port, as socket(2) of this type makes it. */
static int listening(int type) {
    int s = socket(AF_INET, type, 0);
    socklen_t length = sizeof at;
    at.sin_port = 0;
    EXPECT(s >= 0 && bind(s, (struct sockaddr *) &at, sizeof at) == 0 && listen(s, 5) == 0);
    EXPECT(getsockname(s, (struct sockaddr *) &at, &length) == 0);
    return s;
}

static int is_readable(int s) {
    struct timeval patience = {.tv_sec = 20};
    fd_set reads;
    FD_ZERO(&reads);
    FD_SET(s, &reads);
    return select(s + 1, &reads, NULL, NULL, &patience) == 1 && FD_ISSET(s, &reads);
}

static void talk(int a, int b) {
    char got[8] = "";
    EXPECT(write(a, "hello", 5) == 5);
    EXPECT(is_readable(b));
    EXPECT(read(b, got, sizeof got) == 5 && strcmp(got, "hello") == 0);
    EXPECT(close(a) == 0);
    EXPECT(close(b) == 0);
}

/* iperf3 does so, and redis. */
static void waiting_with_select(void) {
    int listener = listening(SOCK_STREAM), a = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(connect(a, (struct sockaddr *) &at, sizeof at) == 0);
    EXPECT(is_readable(listener));
    int b = accept(listener, NULL, NULL);
    talk(a, b);
    EXPECT(close(listener) == 0);
}

/* Python does so: a server and its connections are TCP's, with this librspreload.so or a later one that knows accept4(2). */
static void accepting_with_flags(void) {
    int listener = listening(SOCK_STREAM | SOCK_CLOEXEC), a = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(connect(a, (struct sockaddr *) &at, sizeof at) == 0);
    EXPECT(is_readable(listener));
    int b = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    EXPECT(b >= 0);
    talk(a, b);
    EXPECT(close(listener) == 0);
}

/* Values of threads, which OpenSSL has too, are the program's before and after the first call. */
#define KEYS 16
static pthread_key_t keys[KEYS];

static void threads_values(void) {
    for (int i = 0; i < KEYS; i++) {
        EXPECT(pthread_getspecific(keys[i]) == &keys[i]);
    }
}

int main(int count, char **arguments) {
    EXPECT(inet_pton(AF_INET, count > 1 ? arguments[1] : "127.0.0.1", &at.sin_addr) == 1);
    for (int i = 0; i < KEYS; i++) {
        EXPECT(pthread_key_create(&keys[i], NULL) == 0 && pthread_setspecific(keys[i], &keys[i]) == 0);
    }
    waiting_with_select();
    threads_values();
    accepting_with_flags();
    printf("%d not so\n", failures);
    return failures ? 1 : 0;
}
