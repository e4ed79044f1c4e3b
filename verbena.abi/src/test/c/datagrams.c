/* rsockets of datagrams behave as those of UDP do: both ends in one process, over loopback. Each check says what it expects. Ends
 * with status 0 when all is so. Argument: an address of the device. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static struct sockaddr_in host = {.sin_family = AF_INET};

static int made(void) {
    int s = rsocket(AF_INET, SOCK_DGRAM, 0);
    EXPECT(s >= 0);
    return s;
}

static struct sockaddr_in name_of(int s) {
    struct sockaddr_in name = {0};
    socklen_t length = sizeof name;
    EXPECT(rgetsockname(s, (struct sockaddr *) &name, &length) == 0 && length == sizeof name);
    return name;
}

/* At a free port of the address, or of all. */
static int bound(struct sockaddr_in at) {
    int s = made();
    EXPECT(rbind(s, (struct sockaddr *) &at, sizeof at) == 0);
    return s;
}

static int events(int s, int wanted, int timeout) {
    struct pollfd fds = {.fd = s, .events = (short) wanted};
    EXPECT(rpoll(&fds, 1, timeout) >= 0);
    return fds.revents;
}

/* Receives from one that has this port; within 20 s, for a datagram on loopback that is sent once arrives. */
static void hear(int s, const char *what, in_port_t port) {
    char got[2100];
    struct sockaddr_in from = {0};
    socklen_t length = sizeof from;
    EXPECT(events(s, POLLIN, 20000) & POLLIN);
    EXPECT(rrecvfrom(s, got, sizeof got, MSG_DONTWAIT, (struct sockaddr *) &from, &length) == (ssize_t) strlen(what));
    EXPECT(memcmp(got, what, strlen(what)) == 0);
    EXPECT(length == sizeof from && from.sin_port == port && from.sin_addr.s_addr == host.sin_addr.s_addr);
}

static void say(int s, const char *what, struct sockaddr_in to) {
    EXPECT(rsendto(s, what, strlen(what), 0, (struct sockaddr *) &to, sizeof to) == (ssize_t) strlen(what));
}

/* From one to another, to an address or to the peer of a connected one. Some other process may come to the host's address or
 * leave it just then, and a datagram is lost by that; so what has not come is sent again. */
static void pass(int from, int to, const char *what, const struct sockaddr_in *at, in_port_t port) {
    for (int tries = 0; tries < 4; tries++) {
        if (at) {
            say(from, what, *at);
        } else {
            EXPECT(rsend(from, what, strlen(what), 0) == (ssize_t) strlen(what));
        }
        if (events(to, POLLIN, 5000) & POLLIN) {
            break;
        }
    }
    hear(to, what, port);
}

static void names(void) {
    int s = made();
    char byte;
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    EXPECT_ERRNO(EDESTADDRREQ, rsend(s, "x", 1, 0) == -1);
    EXPECT_ERRNO(ENOTCONN, rgetpeername(s, (struct sockaddr *) &name, &length) == -1);
    EXPECT_ERRNO(ENOTCONN, rshutdown(s, SHUT_RDWR) == -1);
    EXPECT_ERRNO(EOPNOTSUPP, rlisten(s, 1) == -1);
    EXPECT_ERRNO(EOPNOTSUPP, raccept(s, NULL, NULL) == -1);
    EXPECT_ERRNO(EAGAIN, rrecv(s, &byte, 1, MSG_DONTWAIT) == -1);
    EXPECT(name_of(s).sin_port != 0); /* receiving has bound it */
    int type = 0;
    length = sizeof type;
    EXPECT(rgetsockopt(s, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM);
    EXPECT_ERRNO(EINVAL, rbind(s, (struct sockaddr *) &host, sizeof host) == -1);
    struct sockaddr_in taken = name_of(s);
    int another = made();
    EXPECT_ERRNO(EADDRINUSE, rbind(another, (struct sockaddr *) &taken, sizeof taken) == -1);
    struct sockaddr_in nobodys = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xC0000201)};
    EXPECT_ERRNO(EADDRNOTAVAIL, rbind(another, (struct sockaddr *) &nobodys, sizeof nobodys) == -1);
    nobodys.sin_port = htons(9); /* the device does not reach it */
    EXPECT_ERRNO(ENETUNREACH, rconnect(s, (struct sockaddr *) &nobodys, sizeof nobodys) == -1);
    EXPECT_ERRNO(ENETUNREACH, rsendto(s, "x", 1, 0, (struct sockaddr *) &nobodys, sizeof nobodys) == -1);
    EXPECT(rclose(s) == 0);
    EXPECT(rbind(another, (struct sockaddr *) &taken, sizeof taken) == 0); /* its port is free at once */
    EXPECT(rclose(another) == 0);
    EXPECT_ERRNO(EBADF, rclose(another) == -1);
    EXPECT_ERRNO(EPROTONOSUPPORT, rsocket(AF_INET, SOCK_DGRAM, IPPROTO_TCP) == -1);
}

static void there_and_back(void) {
    struct sockaddr_in all = {.sin_family = AF_INET};
    int a = bound(host), b = bound(all);
    struct sockaddr_in at_a = name_of(a), at_b = name_of(b);
    EXPECT(at_b.sin_addr.s_addr == 0);
    at_b.sin_addr = host.sin_addr;
    for (int i = 0; i < 50; i++) { /* the first ones by UDP */
        pass(a, b, "a question", &at_b, at_a.sin_port);
        pass(b, a, "an answer", &at_a, at_b.sin_port);
    }
    pass(a, b, "", &at_b, at_a.sin_port);

    char one[] = "one", two[] = " two", head[2], tail[3];
    struct sockaddr_in from;
    struct iovec pieces[] = {{one, 3}, {two, 4}}, into[] = {{head, 2}, {tail, 3}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2, .msg_name = &at_b, .msg_namelen = sizeof at_b};
    EXPECT(rsendmsg(a, &message, 0) == 7);
    EXPECT(events(b, POLLIN, 20000) == POLLIN);
    EXPECT(rrecv(b, head, 2, MSG_PEEK) == 2 && memcmp(head, "on", 2) == 0);
    message = (struct msghdr) {.msg_iov = into, .msg_iovlen = 2, .msg_name = &from, .msg_namelen = sizeof from};
    EXPECT(rrecvmsg(b, &message, 0) == 5 && memcmp(tail, "e t", 3) == 0);
    EXPECT(message.msg_flags == MSG_TRUNC && message.msg_namelen == sizeof from && from.sin_port == at_a.sin_port);
    EXPECT(events(b, POLLIN | POLLOUT, 0) == POLLOUT); /* the rest of it is lost */

    static char much[2041];
    memset(much, 'm', sizeof much - 1);
    pass(a, b, much, &at_b, at_a.sin_port);
    EXPECT_ERRNO(EMSGSIZE, rsendto(a, much, sizeof much, 0, (struct sockaddr *) &at_b, sizeof at_b) == -1);
    EXPECT(rclose(a) == 0);
    EXPECT(rclose(b) == 0);
}

static void connected(void) {
    int a = made(), b = bound(host), c = bound(host);
    struct sockaddr_in at_b = name_of(b), peer;
    socklen_t length = sizeof peer;
    EXPECT(rconnect(a, (struct sockaddr *) &at_b, sizeof at_b) == 0);
    EXPECT(rgetpeername(a, (struct sockaddr *) &peer, &length) == 0 && peer.sin_port == at_b.sin_port);
    struct sockaddr_in at_a = name_of(a);
    at_a.sin_addr = host.sin_addr;
    pass(a, b, "hello", NULL, at_a.sin_port);
    say(c, "a stranger's", at_a); /* does not arrive */
    pass(b, a, "the peer's", &at_a, at_b.sin_port);
    EXPECT(events(a, POLLIN, 50) == 0);
    EXPECT(rshutdown(a, SHUT_RDWR) == 0);
    EXPECT_ERRNO(EPIPE, rsend(a, "x", 1, 0) == -1);
    EXPECT(rrecv(a, &peer, 1, 0) == 0);
    EXPECT(rclose(a) == 0);
    EXPECT(rclose(b) == 0);
    EXPECT(rclose(c) == 0);
}

/* More than there is room for: calls wait, or say that they would; what is too much is lost, and the rest is in order. */
static void too_much(void) {
    int a = made(), b = bound(host);
    struct sockaddr_in at_b = name_of(b), at_a;
    EXPECT(rconnect(a, (struct sockaddr *) &at_b, sizeof at_b) == 0);
    at_a = name_of(a);
    pass(a, b, "first", NULL, at_a.sin_port);
    at_a.sin_addr = host.sin_addr;
    pass(b, a, "second", &at_a, at_b.sin_port); /* both know the other's queue pair now */
    EXPECT(rfcntl(a, F_SETFL, O_NONBLOCK) == 0);
    int next = -1, count = 0;
    for (int i = 0; i < 5000; i++) {
        ssize_t n = rsend(a, &i, sizeof i, 0);
        EXPECT(n == sizeof i || (n == -1 && errno == EAGAIN && (events(a, POLLOUT, 20000) & POLLOUT)));
    }
    for (int got; events(b, POLLIN, 200) == POLLIN; count++) {
        EXPECT(rrecv(b, &got, sizeof got, 0) == sizeof got);
        EXPECT(got > next);
        next = got;
    }
    EXPECT(count >= 16);
    EXPECT(rclose(a) == 0);
    EXPECT(rclose(b) == 0);
}

static void *hear_one(void *argument) {
    char byte;
    return (void *) (long) rrecv(*(int *) argument, &byte, 1, 0);
}

static void closing_ends_waiting(void) {
    int a = bound(host);
    pthread_t waits;
    void *answer;
    pthread_create(&waits, NULL, hear_one, &a);
    struct sockaddr_in at_a = name_of(a);
    int b = made();
    say(b, "x", at_a);
    pthread_join(waits, &answer);
    EXPECT((long) answer == 1);
    EXPECT(rclose(b) == 0);
    EXPECT(rclose(a) == 0);
}

/* librdmacm's protocol, spoken by hand: a stranger asks by UDP, and gets the number of a queue pair. */
static void by_hand(void) {
    int a = bound(host), udp = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in at_a = name_of(a), at_udp = host;
    socklen_t length = sizeof at_udp;
    EXPECT(bind(udp, (struct sockaddr *) &at_udp, sizeof at_udp) == 0);
    EXPECT(getsockname(udp, (struct sockaddr *) &at_udp, &length) == 0);
    struct {
        uint32_t tag;
        uint8_t version, kind, length, zero;
        uint32_t qpn, address;
        char data[5];
    } asks = {htobe32(0x55555555), 4, 0, 16, 0, htobe32(0xABCDE), host.sin_addr.s_addr, "hello"}, answers;
    EXPECT(sendto(udp, "noise", 5, 0, (struct sockaddr *) &at_a, sizeof at_a) == 5);
    asks.length = 28; /* of IPv6 */
    EXPECT(sendto(udp, &asks, 21, 0, (struct sockaddr *) &at_a, sizeof at_a) == 21);
    asks.length = 16;
    asks.qpn = htobe32(0xFFFFFF); /* of groups */
    EXPECT(sendto(udp, &asks, 21, 0, (struct sockaddr *) &at_a, sizeof at_a) == 21);
    asks.qpn = htobe32(0xABCDE);
    EXPECT(sendto(udp, &asks, 21, 0, (struct sockaddr *) &at_a, sizeof at_a) == 21);
    hear(a, "hello", at_udp.sin_port);
    EXPECT(recv(udp, &answers, sizeof answers, 0) == 16);
    EXPECT(answers.tag == asks.tag && answers.version == 4 && answers.kind == 7 && answers.length == 16);
    EXPECT(be32toh(answers.qpn) > 1 && be32toh(answers.qpn) < 0xFFFFFF && answers.address == asks.address);
    EXPECT(events(a, POLLIN, 0) == 0);
    close(udp);
    EXPECT(rclose(a) == 0);
}

int main(int count, char **arguments) {
    EXPECT(inet_pton(AF_INET, count > 1 ? arguments[1] : "127.0.0.1", &host.sin_addr) == 1);
    names();
    there_and_back();
    connected();
    too_much();
    closing_ends_waiting();
    by_hand();
    printf("%d not so\n", failures);
    return failures ? 1 : 0;
}
