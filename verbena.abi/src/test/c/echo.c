/* One end of a stream whose other end is not C's: "serve PORT" sends all back until the peer writes no more, "ask PORT" sends a
 * pattern, writes no more, and compares the answer. Ends with status 0 when all is so. Over 127.0.0.1. */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "check.h"

#define TOTAL 1000000

static unsigned char data[TOTAL], back[TOTAL];

static void serve(struct sockaddr_in at) {
    int listener = rsocket(AF_INET, SOCK_STREAM, 0);
    EXPECT(rbind(listener, (struct sockaddr *) &at, sizeof at) == 0 && rlisten(listener, 1) == 0);
    int s = raccept(listener, NULL, NULL);
    EXPECT(s >= 0);
    ssize_t n;
    while ((n = rrecv(s, back, 50000, 0)) > 0) {
        EXPECT(rsend(s, back, n, 0) == n);
    }
    EXPECT(n == 0);
    EXPECT(rclose(s) == 0 && rclose(listener) == 0);
}

static void ask(struct sockaddr_in at) {
    int s = rsocket(AF_INET, SOCK_STREAM, 0);
    EXPECT(rconnect(s, (struct sockaddr *) &at, sizeof at) == 0);
    for (int i = 0; i < TOTAL; i++) {
        data[i] = (unsigned char) (i * 31 >> 3);
    }
    for (int done = 0; done < TOTAL; done += 1000) { /* less than the windows of both ends is under way */
        EXPECT(rsend(s, data + done, 1000, 0) == 1000);
        EXPECT(rrecv(s, back + done, 1000, MSG_WAITALL) == 1000);
    }
    EXPECT(memcmp(data, back, TOTAL) == 0);
    EXPECT(rshutdown(s, SHUT_WR) == 0);
    EXPECT(rrecv(s, back, 1, 0) == 0);
    EXPECT(rclose(s) == 0);
}

int main(int argc, char **argv) {
    EXPECT(argc == 3);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strcmp(argv[1], "serve") == 0) {
        serve(at);
    } else {
        ask(at);
    }
    return failures > 0;
}
