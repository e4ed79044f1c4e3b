/* Two or more MPI processes: messages of all sizes back and forth, many at once, collectives, one-sided. Every byte is checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST (1 << 20)
#define AT_ONCE 32
#define ROUNDS 20

static int rank, size, failures;

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            printf("rank %d, line %d: not so: %s\n", rank, __LINE__, #condition); \
            failures++; \
        } \
    } while (0)

static void fill(unsigned char *into, size_t bytes, int seed) {
    for (size_t i = 0; i < bytes; i++) {
        into[i] = (unsigned char) (i * 31 + seed);
    }
}

static int is_filled(const unsigned char *with, size_t bytes, int seed) {
    for (size_t i = 0; i < bytes; i++) {
        if (with[i] != (unsigned char) (i * 31 + seed)) {
            return 0;
        }
    }
    return 1;
}

static void back_and_forth(unsigned char *buffer) {
    for (size_t bytes = 1; bytes <= LARGEST; bytes *= 4) {
        for (int i = 0; i < ROUNDS && rank < 2; i++) {
            if (rank == 0) {
                fill(buffer, bytes, i);
                MPI_Send(buffer, bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD);
                memset(buffer, 0, bytes);
                MPI_Recv(buffer, bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                EXPECT(is_filled(buffer, bytes, i + 1));
            } else {
                MPI_Recv(buffer, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                EXPECT(is_filled(buffer, bytes, i));
                fill(buffer, bytes, i + 1);
                MPI_Send(buffer, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD);
            }
        }
    }
}

static void many_at_once(unsigned char *buffer) {
    size_t bytes = LARGEST / AT_ONCE;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    unsigned char *received = malloc(LARGEST);
    MPI_Request requests[2 * AT_ONCE];
    for (int round = 0; round < ROUNDS; round++) {
        memset(received, 0, LARGEST);
        for (int i = 0; i < AT_ONCE; i++) {
            fill(buffer + i * bytes, bytes, round + i + rank);
            MPI_Irecv(received + i * bytes, bytes, MPI_BYTE, left, i, MPI_COMM_WORLD, &requests[i]);
            MPI_Isend(buffer + i * bytes, bytes, MPI_BYTE, right, i, MPI_COMM_WORLD, &requests[AT_ONCE + i]);
        }
        MPI_Waitall(2 * AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < AT_ONCE; i++) {
            EXPECT(is_filled(received + i * bytes, bytes, round + i + left));
        }
    }
    free(received);
}

static void all_together(void) {
    long mine[1000], sum[1000];
    for (int i = 0; i < 1000; i++) {
        mine[i] = i * (rank + 1L);
    }
    MPI_Allreduce(mine, sum, 1000, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++) {
        EXPECT(sum[i] == i * (size * (size + 1L) / 2));
    }
    int *all = calloc(size, sizeof *all), *turned = calloc(size, sizeof *turned);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(all, 1, MPI_INT, turned, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        EXPECT(all[i] == i && turned[i] == rank);
    }
    free(all), free(turned);
}

static void one_sided(void) {
    long *memory;
    MPI_Win window;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win_allocate(64 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, 64 * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, window);
    long put = 1000 + rank, one = 1, before, read = 0;
    MPI_Put(&put, 1, MPI_LONG, right, 0, 1, MPI_LONG, window);
    MPI_Win_fence(0, window);
    EXPECT(memory[0] == 1000 + left);
    MPI_Get(&read, 1, MPI_LONG, right, 0, 1, MPI_LONG, window);
    MPI_Win_fence(0, window);
    EXPECT(read == 1000 + rank);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 1, MPI_SUM, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&read, 1, MPI_LONG, 0, 1, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    EXPECT(read == (long) size * ROUNDS);
    MPI_Win_free(&window);
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unsigned char *buffer = malloc(LARGEST);
    back_and_forth(buffer);
    many_at_once(buffer);
    all_together();
    one_sided();
    free(buffer);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d processes: done\n", size);
    }
    MPI_Finalize();
    return failures != 0;
}
