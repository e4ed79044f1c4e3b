/* rsockets behave as sockets do: both ends in one process, over loopback. Each check says what it expects. Ends with status 0
 * when all is so. Argument: an address of the device. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static const char *host;
static struct sockaddr_in at;
static int listener;

/* What poll(2) says of it now, or within the time. */
static int events(int s, int wanted, int timeout) {
    struct pollfd fds = {.fd = s, .events = (short) wanted};
    EXPECT(rpoll(&fds, 1, timeout) >= 0);
    return fds.revents;
}

static int turns_to(int s, int wanted) { return events(s, wanted, 20000) & wanted; }

static void set(int s, int level, int name, int value) { EXPECT(rsetsockopt(s, level, name, &value, sizeof value) == 0); }

static int get(int s, int level, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    EXPECT(rgetsockopt(s, level, name, &value, &length) == 0);
    return value;
}

static int client(void) {
    int s = rsocket(AF_INET, SOCK_STREAM, 0);
    EXPECT(s >= 0);
    return s;
}

/* Two ends of a connection. */
struct pair {
    int a, b;
};

static struct pair connected(void) {
    struct pair p = {.a = client()};
    EXPECT(rconnect(p.a, (struct sockaddr *) &at, sizeof at) == 0);
    p.b = raccept(listener, NULL, NULL);
    EXPECT(p.b >= 0);
    return p;
}

static void end(struct pair p) {
    EXPECT(rclose(p.a) == 0);
    EXPECT(rclose(p.b) == 0);
}

static void say(int s, const char *what) { EXPECT(rsend(s, what, strlen(what), 0) == (ssize_t) strlen(what)); }

static void hear(int s, const char *what) {
    char got[100] = "";
    EXPECT(rrecv(s, got, strlen(what), MSG_WAITALL) == (ssize_t) strlen(what));
    EXPECT(strcmp(got, what) == 0);
}

static void what_there_is_not(void) {
    EXPECT_ERRNO(EPROTONOSUPPORT, rsocket(AF_INET, SOCK_RAW, 0) == -1);
    EXPECT_ERRNO(EPROTONOSUPPORT, rsocket(AF_INET, SOCK_STREAM, IPPROTO_UDP) == -1);
    EXPECT_ERRNO(EAFNOSUPPORT, rsocket(AF_UNIX, SOCK_STREAM, 0) == -1);
    char byte;
    EXPECT_ERRNO(EBADF, rrecv(0, &byte, 1, 0) == -1);
    EXPECT_ERRNO(EBADF, rclose(12345) == -1);
    int s = client();
    EXPECT_ERRNO(ENOTCONN, rrecv(s, &byte, 1, 0) == -1);
    EXPECT_ERRNO(ENOTCONN, rsend(s, &byte, 1, 0) == -1);
    EXPECT_ERRNO(EINVAL, rlisten(s, 1) == -1);
    EXPECT_ERRNO(EINVAL, raccept(s, NULL, NULL) == -1);
    EXPECT_ERRNO(ENOTCONN, rshutdown(s, SHUT_RDWR) == -1);
    EXPECT_ERRNO(EINVAL, rshutdown(s, 7) == -1);
    EXPECT_ERRNO(ENOTCONN, riomap(s, &byte, 1, PROT_WRITE, 0, 0) == -1);
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    EXPECT_ERRNO(ENOTCONN, rgetpeername(s, (struct sockaddr *) &name, &length) == -1);
    int value = 1;
    EXPECT_ERRNO(ENOPROTOOPT, rsetsockopt(s, SOL_SOCKET, 999, &value, sizeof value) == -1);
    EXPECT_ERRNO(EINVAL, rsetsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &value, 1) == -1);
    EXPECT(rclose(s) == 0);
    EXPECT_ERRNO(EBADF, rclose(s) == -1);
}

static void options(void) {
    int s = client();
    set(s, IPPROTO_TCP, TCP_NODELAY, 5);
    EXPECT(get(s, IPPROTO_TCP, TCP_NODELAY) == 1);
    set(s, SOL_SOCKET, SO_RCVBUF, 50000);
    EXPECT(get(s, SOL_SOCKET, SO_RCVBUF) == 100000);
    set(s, SOL_RDMA, RDMA_SQSIZE, 100);
    EXPECT(get(s, SOL_RDMA, RDMA_SQSIZE) == 100);
    set(s, SOL_RDMA, RDMA_IOMAPSIZE, 3);
    EXPECT(get(s, SOL_RDMA, RDMA_IOMAPSIZE) == 3);
    EXPECT(get(s, SOL_SOCKET, SO_TYPE) == SOCK_STREAM);
    EXPECT(get(s, SOL_SOCKET, SO_ACCEPTCONN) == 0);
    EXPECT(get(listener, SOL_SOCKET, SO_ACCEPTCONN) == 1);
    EXPECT(rfcntl(s, F_SETFL, O_NONBLOCK) == 0);
    EXPECT(rfcntl(s, F_GETFL) == (O_RDWR | O_NONBLOCK));
    EXPECT(rfcntl(s, F_SETFL, 0) == 0);
    EXPECT(rfcntl(s, F_GETFL) == O_RDWR);
    EXPECT(rclose(s) == 0);
}

static void names(void) {
    struct pair p = connected();
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    EXPECT(rgetpeername(p.a, (struct sockaddr *) &name, &length) == 0);
    EXPECT(length == sizeof name && name.sin_port == at.sin_port && name.sin_addr.s_addr == at.sin_addr.s_addr);
    length = 4;
    EXPECT(rgetsockname(p.b, (struct sockaddr *) &name, &length) == 0);
    EXPECT(length == sizeof name);
    struct sockaddr_in own;
    EXPECT(rgetsockname(p.a, (struct sockaddr *) &own, &length) == 0);
    EXPECT(rgetpeername(p.b, (struct sockaddr *) &name, &length) == 0);
    EXPECT(own.sin_port != 0 && name.sin_port == own.sin_port && name.sin_addr.s_addr == own.sin_addr.s_addr);
    length = 0;
    EXPECT(rgetsockname(p.b, NULL, &length) == 0 && length == sizeof name);
    EXPECT(get(p.a, SOL_SOCKET, SO_DOMAIN) == AF_INET);
    int six = rsocket(AF_INET6, SOCK_STREAM, 0);
    EXPECT(get(six, SOL_SOCKET, SO_DOMAIN) == AF_INET6);
    length = 0;
    EXPECT(rgetsockname(six, NULL, &length) == 0 && length == sizeof(struct sockaddr_in6));
    EXPECT(rclose(six) == 0);
    EXPECT_ERRNO(EISCONN, rconnect(p.a, (struct sockaddr *) &at, sizeof at) == -1);
    end(p);
}

static void parts(void) {
    struct pair p = connected();
    char got[100];
    say(p.a, "a quick brown");
    say(p.a, " fox");
    EXPECT(turns_to(p.b, POLLIN));
    EXPECT(rrecv(p.b, got, 3, MSG_PEEK) == 3 && memcmp(got, "a q", 3) == 0);
    EXPECT(rrecv(p.b, got, 3, 0) == 3 && memcmp(got, "a q", 3) == 0);
    hear(p.b, "uick brown fox");
    EXPECT_ERRNO(EAGAIN, rrecv(p.b, got, 1, MSG_DONTWAIT) == -1);
    EXPECT(events(p.b, POLLIN, 0) == 0);
    EXPECT(rrecv(p.b, got, 0, 0) == 0);

    char one[] = "one", two[] = " two";
    struct iovec pieces[] = {{one, 3}, {NULL, 0}, {two, 4}};
    EXPECT(rwritev(p.b, pieces, 3) == 7);
    struct iovec much[] = {{one, SIZE_MAX / 2}, {two, SIZE_MAX / 2}}; /* together more than a result can say: writev(2) */
    EXPECT_ERRNO(EINVAL, rwritev(p.b, much, 2) == -1);
    char head[2], tail[5];
    struct iovec into[] = {{head, 2}, {tail, 5}};
    struct msghdr message = {.msg_iov = into, .msg_iovlen = 2};
    EXPECT(turns_to(p.a, POLLIN));
    EXPECT(rrecvmsg(p.a, &message, MSG_PEEK) == 7 && memcmp(head, "on", 2) == 0 && memcmp(tail, "e two", 5) == 0);
    memset(tail, 0, sizeof tail);
    EXPECT(rreadv(p.a, into, 2) == 7 && memcmp(tail, "e two", 5) == 0);
    message.msg_iov = pieces, message.msg_iovlen = 3;
    EXPECT(rsendmsg(p.a, &message, 0) == 7);
    hear(p.b, "one two");
    EXPECT_ERRNO(EISCONN, rsendto(p.a, one, 3, 0, (struct sockaddr *) &at, sizeof at) == -1);
    EXPECT_ERRNO(EOPNOTSUPP, rsend(p.a, one, 3, MSG_OOB) == -1);
    end(p);
}

static void one_end_says_no_more(void) {
    struct pair p = connected();
    char byte;
    say(p.a, "last words");
    EXPECT(rshutdown(p.a, SHUT_WR) == 0);
    EXPECT_ERRNO(EPIPE, rsend(p.a, "x", 1, 0) == -1);
    hear(p.b, "last words");
    EXPECT(rrecv(p.b, &byte, 1, 0) == 0);
    EXPECT(events(p.b, POLLIN, 0) == POLLIN);
    say(p.b, "an answer");
    hear(p.a, "an answer");
    EXPECT(rshutdown(p.b, SHUT_WR) == 0);
    EXPECT(rrecv(p.a, &byte, 1, 0) == 0);
    EXPECT(turns_to(p.a, POLLHUP));
    end(p);
}

static void one_end_goes(void) {
    struct pair p = connected();
    char byte;
    say(p.a, "bye");
    EXPECT(rclose(p.a) == 0);
    EXPECT(turns_to(p.b, POLLIN));
    hear(p.b, "bye");
    EXPECT(rrecv(p.b, &byte, 1, 0) == 0);
    EXPECT(turns_to(p.b, POLLHUP));
    errno = 0;
    EXPECT(rsend(p.b, "x", 1, 0) == -1 && (errno == EPIPE || errno == ECONNRESET));
    EXPECT(rclose(p.b) == 0);
}

static void not_waiting(void) {
    struct pair p = connected();
    EXPECT(rfcntl(p.a, F_SETFL, O_NONBLOCK) == 0);
    static char block[50000];
    char byte;
    EXPECT_ERRNO(EAGAIN, rrecv(p.a, &byte, 1, 0) == -1);
    EXPECT(events(p.a, POLLIN | POLLOUT, 0) == POLLOUT);
    long sent = 0, n;
    do { /* what the peer has room for; it shows the second half of that a moment after it has accepted */
        while ((n = rsend(p.a, block, sizeof block, 0)) > 0) {
            sent += n;
        }
        EXPECT(n == -1 && errno == EAGAIN);
    } while (sent < 1 << 17 && turns_to(p.a, POLLOUT));
    EXPECT(sent >= 1 << 17);
    EXPECT(events(p.a, POLLOUT, 0) == 0);
    long heard = 0;
    while (heard < sent) {
        n = rrecv(p.b, block, sizeof block, 0);
        EXPECT(n > 0);
        heard += n > 0 ? n : sent;
    }
    EXPECT(turns_to(p.a, POLLOUT));
    EXPECT(rsend(p.a, "x", 1, 0) == 1);
    hear(p.b, "x");

    int epoll = epoll_create1(0);
    struct epoll_event told = {.events = EPOLLIN, .data.fd = p.b};
    EXPECT(epoll_ctl(epoll, EPOLL_CTL_ADD, p.b, &told) == 0);
    EXPECT(epoll_wait(epoll, &told, 1, 0) == 0);
    say(p.a, "y");
    EXPECT(epoll_wait(epoll, &told, 1, 20000) == 1 && told.data.fd == p.b);
    close(epoll);
    /* of rdma-core 64: headers before do not have them */
    int (*create)(int) = dlsym(RTLD_DEFAULT, "repoll_create");
    int (*control)(int, int, int, struct epoll_event *) = dlsym(RTLD_DEFAULT, "repoll_ctl");
    int (*wait)(int, struct epoll_event *, int, int) = dlsym(RTLD_DEFAULT, "repoll_wait");
    epoll = create(0);
    EXPECT(epoll >= 0 && control(epoll, EPOLL_CTL_ADD, p.b, &told) == 0);
    told.data.fd = -1;
    EXPECT(wait(epoll, &told, 1, 20000) == 1 && told.data.fd == p.b);
    EXPECT(rclose(epoll) == 0);
    EXPECT_ERRNO(EBADF, rclose(epoll) == -1);

    int ends[2];
    EXPECT(pipe(ends) == 0);
    struct pollfd mixed[] = {{p.a, POLLIN, 0}, {ends[0], POLLIN, 0}, {p.b, POLLIN, 0}};
    EXPECT(rpoll(mixed, 3, 1000) == 1 && mixed[2].revents == POLLIN);
    EXPECT(write(ends[1], "z", 1) == 1);
    EXPECT(rpoll(mixed, 3, 1000) == 2 && mixed[1].revents == POLLIN);
    EXPECT_ERRNO(EINVAL, rpoll(mixed, 1UL << 31, 0) == -1); /* more than can be open: poll(2) */
    EXPECT_ERRNO(EINVAL, rpoll(mixed, 1UL << 61, 0) == -1);
    fd_set reads;
    FD_ZERO(&reads);
    FD_SET(p.a, &reads);
    FD_SET(p.b, &reads);
    struct timeval second = {.tv_sec = 1};
    EXPECT(rselect(p.a > p.b ? p.a + 1 : p.b + 1, &reads, NULL, NULL, &second) == 1 && FD_ISSET(p.b, &reads));
    close(ends[0]);
    close(ends[1]);
    end(p);
}

static void connecting_without_waiting(void) {
    int s = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    EXPECT_ERRNO(EINPROGRESS, rconnect(s, (struct sockaddr *) &at, sizeof at) == -1);
    EXPECT(turns_to(s, POLLOUT));
    EXPECT(get(s, SOL_SOCKET, SO_ERROR) == 0);
    EXPECT(rconnect(s, (struct sockaddr *) &at, sizeof at) == 0); /* tells once, as Linux does; hiredis asks so */
    EXPECT_ERRNO(EISCONN, rconnect(s, (struct sockaddr *) &at, sizeof at) == -1);
    EXPECT(turns_to(listener, POLLIN));
    int b = raccept(listener, NULL, NULL);
    say(b, "hello");
    EXPECT(turns_to(s, POLLIN));
    hear(s, "hello");
    end((struct pair) {s, b});

    struct sockaddr_in nobody = at;
    nobody.sin_port = htons(1);
    s = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    EXPECT_ERRNO(EINPROGRESS, rconnect(s, (struct sockaddr *) &nobody, sizeof nobody) == -1);
    EXPECT(turns_to(s, POLLOUT));
    EXPECT(get(s, SOL_SOCKET, SO_ERROR) == ECONNREFUSED);
    EXPECT(get(s, SOL_SOCKET, SO_ERROR) == 0);
    EXPECT_ERRNO(ECONNABORTED, rconnect(s, (struct sockaddr *) &nobody, sizeof nobody) == -1);
    EXPECT(rclose(s) == 0);
    s = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    EXPECT_ERRNO(EINPROGRESS, rconnect(s, (struct sockaddr *) &nobody, sizeof nobody) == -1);
    EXPECT(turns_to(s, POLLOUT));
    EXPECT_ERRNO(ECONNREFUSED, rconnect(s, (struct sockaddr *) &nobody, sizeof nobody) == -1);
    EXPECT(rclose(s) == 0);
    s = client();
    EXPECT_ERRNO(ECONNREFUSED, rconnect(s, (struct sockaddr *) &nobody, sizeof nobody) == -1);
    EXPECT(rclose(s) == 0);

    EXPECT(rfcntl(listener, F_SETFL, O_NONBLOCK) == 0);
    EXPECT_ERRNO(EAGAIN, raccept(listener, NULL, NULL) == -1);
    EXPECT(rfcntl(listener, F_SETFL, 0) == 0);
}

static void what_a_listener_accepts_waits(void) {
    EXPECT(rfcntl(listener, F_SETFL, O_NONBLOCK) == 0);
    int asks = client();
    EXPECT(rconnect(asks, (struct sockaddr *) &at, sizeof at) == 0);
    EXPECT(turns_to(listener, POLLIN));
    int accepted = raccept(listener, NULL, NULL);
    EXPECT(rfcntl(accepted, F_GETFL) == O_RDWR && rfcntl(asks, F_GETFL) == O_RDWR);
    EXPECT(rfcntl(listener, F_GETFL) == (O_RDWR | O_NONBLOCK));
    EXPECT(rfcntl(listener, F_SETFL, 0) == 0);
    end((struct pair) {.a = asks, .b = accepted});
}

/* Who asks when the backlog is full, which has 128 places at least, waits as with a socket. */
#define CROWD 150
#define PLACES 128

/* Waits until as many of the crowd are connected as there are places, whoever they are: under load they do not come in the order in
 * which they asked. Returns how many are not. */
static int waiting_behind(const int *crowd) {
    struct pollfd fds[CROWD];
    int waiting = CROWD;
    for (int i = 0; i < CROWD; i++) {
        fds[i] = (struct pollfd) {.fd = crowd[i], .events = POLLOUT};
    }
    while (CROWD - waiting < PLACES && rpoll(fds, waiting, 20000) > 0) {
        for (int i = waiting - 1; i >= 0; i--) {
            if (fds[i].revents) {
                EXPECT(fds[i].revents == POLLOUT);
                fds[i] = fds[--waiting];
            }
        }
    }
    return rpoll(fds, waiting, 500) == 0 ? waiting : -1; /* neither connected nor refused */
}

static void more_than_the_backlog(void) {
    int crowd[CROWD], taken[CROWD], full = client();
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_addr = at.sin_addr};
    socklen_t length = sizeof there;
    EXPECT(rbind(full, (struct sockaddr *) &there, sizeof there) == 0 && rlisten(full, 1) == 0);
    EXPECT(rgetsockname(full, (struct sockaddr *) &there, &length) == 0);
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = client();
        set(crowd[i], SOL_SOCKET, SO_SNDBUF, 4096);
        set(crowd[i], SOL_SOCKET, SO_RCVBUF, 4096);
        EXPECT(rfcntl(crowd[i], F_SETFL, O_NONBLOCK) == 0);
        EXPECT_ERRNO(EINPROGRESS, rconnect(crowd[i], (struct sockaddr *) &there, length) == -1);
    }
    EXPECT(waiting_behind(crowd) == CROWD - PLACES);
    for (int i = 0; i < CROWD; i++) {
        EXPECT(turns_to(full, POLLIN));
        taken[i] = raccept(full, NULL, NULL);
        EXPECT(taken[i] >= 0);
    }
    for (int i = 0; i < CROWD; i++) {
        EXPECT(turns_to(crowd[i], POLLOUT) && get(crowd[i], SOL_SOCKET, SO_ERROR) == 0);
    }
    for (int i = 0; i < CROWD; i++) {
        EXPECT(rclose(taken[i]) == 0 && rclose(crowd[i]) == 0);
    }
    EXPECT(rclose(full) == 0);
}

/* accept(2) gives the lowest number that is free then; librspreload.so of rdma-core before 63 needs it in select(2). */
static void numbers_in_order(void) {
    int a = client(), before, b;
    EXPECT(rconnect(a, (struct sockaddr *) &at, sizeof at) == 0);
    EXPECT(turns_to(listener, POLLIN));
    before = dup(0);
    b = raccept(listener, NULL, NULL);
    EXPECT(before >= 0 && b > before);
    close(before);
    end((struct pair) {a, b});
}

/* A stream of numbers, in sends and receives of all sizes. */
#define NUMBERS (1 << 20)

static unsigned next(unsigned *state) { return *state = *state * 1664525u + 1013904223u; }

static void *talk(void *argument) {
    int s = *(int *) argument;
    unsigned *block = malloc(NUMBERS * sizeof *block), size = 7;
    for (unsigned i = 0; i < NUMBERS; i++) {
        block[i] = i * 2654435761u;
    }
    size_t sent = 0, bytes = NUMBERS * sizeof *block;
    while (sent < bytes) {
        size_t length = 1 + next(&size) % 200000;
        ssize_t n = rsend(s, (char *) block + sent, length < bytes - sent ? length : bytes - sent, 0);
        EXPECT(n > 0);
        sent += n > 0 ? (size_t) n : bytes;
    }
    free(block);
    return NULL;
}

static void *listen_to(void *argument) {
    int s = *(int *) argument;
    unsigned *block = calloc(NUMBERS, sizeof *block), size = 3, wrong = 0;
    size_t heard = 0, bytes = NUMBERS * sizeof *block;
    while (heard < bytes) {
        size_t length = 1 + next(&size) % 150000;
        ssize_t n = rrecv(s, (char *) block + heard, length < bytes - heard ? length : bytes - heard, 0);
        EXPECT(n > 0);
        heard += n > 0 ? (size_t) n : bytes;
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        wrong += block[i] != i * 2654435761u;
    }
    EXPECT(wrong == 0);
    free(block);
    return NULL;
}

static void much_both_ways(int buffer, int depth) {
    int s = client();
    set(s, SOL_SOCKET, SO_SNDBUF, buffer);
    set(s, SOL_SOCKET, SO_RCVBUF, buffer);
    set(s, SOL_RDMA, RDMA_SQSIZE, depth);
    set(s, SOL_RDMA, RDMA_RQSIZE, depth);
    EXPECT(rconnect(s, (struct sockaddr *) &at, sizeof at) == 0);
    struct pair p = {s, raccept(listener, NULL, NULL)};
    pthread_t threads[4];
    pthread_create(&threads[0], NULL, talk, &p.a);
    pthread_create(&threads[1], NULL, listen_to, &p.a);
    pthread_create(&threads[2], NULL, talk, &p.b);
    pthread_create(&threads[3], NULL, listen_to, &p.b);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    end(p);
}

/* More messages than there are credits, while the peer does not read. */
static void many_small_ones(void) {
    struct pair p = connected();
    for (int i = 0; i < 2000; i++) {
        EXPECT(rsend(p.a, &i, sizeof i, 0) == sizeof i);
    }
    int heard = -1;
    for (int i = 0; i < 2000; i++) {
        EXPECT(rrecv(p.b, &heard, sizeof heard, MSG_WAITALL) == sizeof heard);
        EXPECT(heard == i);
    }
    end(p);
}

static void mappings(void) {
    int s = client();
    set(s, SOL_RDMA, RDMA_IOMAPSIZE, 2);
    EXPECT(rconnect(s, (struct sockaddr *) &at, sizeof at) == 0);
    struct pair p = {s, raccept(listener, NULL, NULL)};
    static char first[3000], second[100];
    EXPECT(riomap(p.b, first, sizeof first, PROT_WRITE, 0, 5000) == 5000);
    EXPECT(riomap(p.b, second, sizeof second, PROT_WRITE, 0, -1) == (off_t) second);
    EXPECT_ERRNO(ENOMEM, riomap(p.b, first, 10, PROT_WRITE, 0, 0) == -1); /* the peer said two */
    EXPECT_ERRNO(ENOMEM, riomap(p.a, first, 10, PROT_WRITE, 0, 0) == -1); /* this peer said none */
    EXPECT_ERRNO(EINVAL, riomap(p.b, first, 10, PROT_READ, 0, 0) == -1);
    EXPECT(riomap(p.a, first, 10, PROT_NONE, 0, 0) == 0);
    say(p.b, "mapped");
    hear(p.a, "mapped");

    char block[3000];
    memset(block, 'w', sizeof block);
    EXPECT(riowrite(p.a, block, 100, 5010, 0) == 100);
    EXPECT(riowrite(p.a, block, 3000, 7990, 0) == 10); /* up to the end of what is mapped */
    EXPECT(riowrite(p.a, block, 10, 4999, 0) == 0);
    EXPECT(riowrite(p.a, block, 10, 8000, 0) == 0);
    EXPECT(riowrite(p.a, block, 10, (off_t) second + 90, 0) == 10);
    say(p.a, "written");
    hear(p.b, "written");
    EXPECT(first[9] == 0 && memcmp(first + 10, block, 100) == 0 && first[110] == 0);
    EXPECT(first[2989] == 0 && memcmp(first + 2990, block, 10) == 0);
    EXPECT(second[89] == 0 && memcmp(second + 90, block, 10) == 0);

    EXPECT(riounmap(p.b, second, sizeof second) == 0);
    EXPECT_ERRNO(EINVAL, riounmap(p.b, second, sizeof second) == -1);
    EXPECT(riomap(p.b, second, 50, PROT_WRITE, 0, 0) == 0); /* its place is free again */
    say(p.b, "mapped");
    hear(p.a, "mapped");
    EXPECT(riowrite(p.a, block, 100, 0, 0) == 50);
    say(p.a, "written");
    hear(p.b, "written");
    EXPECT(memcmp(second, block, 50) == 0 && second[50] == 0);
    end(p);
}

static void *hear_one(void *argument) {
    char byte;
    return (void *) (rrecv(*(int *) argument, &byte, 1, 0) == 1 ? (long) byte : -1L);
}

/* A thread that waits to receive keeps no other from sending. */
static void waiting_and_sending(void) {
    struct pair p = connected();
    pthread_t waits;
    pthread_create(&waits, NULL, hear_one, &p.a);
    say(p.a, "question");
    hear(p.b, "question");
    say(p.b, "!");
    void *heard;
    pthread_join(waits, &heard);
    EXPECT((long) heard == '!');
    set(p.a, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    set(p.a, SOL_SOCKET, SO_KEEPALIVE, 1);
    say(p.a, "alive");
    hear(p.b, "alive");
    end(p);
}

int main(int count, char **arguments) {
    host = count > 1 ? arguments[1] : "127.0.0.1";
    at.sin_family = AF_INET;
    EXPECT(inet_pton(AF_INET, host, &at.sin_addr) == 1);
    listener = client();
    EXPECT(rbind(listener, (struct sockaddr *) &at, sizeof at) == 0);
    EXPECT_ERRNO(EINVAL, rbind(listener, (struct sockaddr *) &at, sizeof at) == -1);
    EXPECT(rlisten(listener, 10) == 0);
    socklen_t length = sizeof at;
    EXPECT(rgetsockname(listener, (struct sockaddr *) &at, &length) == 0 && at.sin_port != 0);

    what_there_is_not();
    options();
    names();
    parts();
    one_end_says_no_more();
    one_end_goes();
    not_waiting();
    connecting_without_waiting();
    what_a_listener_accepts_waits();
    more_than_the_backlog();
    numbers_in_order();
    many_small_ones();
    much_both_ways(1 << 17, 384);
    much_both_ways(3000, 16);
    mappings();
    waiting_and_sending();
    EXPECT(rclose(listener) == 0);
    printf("%d not so\n", failures);
    return failures ? 1 : 0;
}
