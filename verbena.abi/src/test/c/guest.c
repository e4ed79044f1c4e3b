/* A library that leaves its objects to its destructor, which the dynamic loader calls while it holds its lock. */
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define CHANNELS 16
#define IDENTIFIERS 20000

static struct rdma_event_channel *channels[CHANNELS];
static struct rdma_cm_id *listeners[CHANNELS];

/* Whether this process has a thread of a name. */
static int has_thread(const char *name) {
    int found = 0;
    char path[300], line[32];
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *comm = fopen(path, "r");
        if (comm != NULL) {
            found |= fgets(line, sizeof line, comm) != NULL && strncmp(line, name, strlen(name)) == 0;
            fclose(comm);
        }
    }
    closedir(tasks);
    return found;
}

/* Begins to listen; returns how much went wrong. */
int begin(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < CHANNELS; i++) {
        channels[i] = rdma_create_event_channel();
        EXPECT(channels[i] != NULL);
        EXPECT(rdma_create_id(channels[i], &listeners[i], NULL, RDMA_PS_TCP) == 0);
        EXPECT(rdma_bind_addr(listeners[i], (struct sockaddr *) &at) == 0);
        EXPECT(rdma_listen(listeners[i], 1) == 0);
    }
    while (has_thread("verbena-managem")) { /* it ends when all that a device begins with is there */
        usleep(10000);
    }
    return failures;
}

__attribute__((destructor)) static void end(void) {
    for (int i = 1; i < CHANNELS; i++) {
        EXPECT(rdma_destroy_id(listeners[i]) == 0);
        rdma_destroy_event_channel(channels[i]);
    }
    /* While their threads end, the JVM stops all threads to collect garbage. */
    for (int i = 0; i < IDENTIFIERS; i++) {
        struct rdma_cm_id *id;
        EXPECT(rdma_create_id(channels[0], &id, NULL, RDMA_PS_TCP) == 0);
        EXPECT(rdma_destroy_id(id) == 0);
    }
    EXPECT(rdma_destroy_id(listeners[0]) == 0);
    rdma_destroy_event_channel(channels[0]);
}
