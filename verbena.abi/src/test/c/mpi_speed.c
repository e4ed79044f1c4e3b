/* Two MPI processes: messages of 8 bytes back and forth ("latency"), or messages of 64 KiB one way, 16 at once ("bandwidth").
   Prints what it takes: the median of one way in us, or 2^20 bytes a second. mpi_speed latency|bandwidth WARM-UP-SECONDS MESSAGES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 8
#define LARGE (64 << 10)
#define AT_ONCE 16

static int rank;
static unsigned char buffer[AT_ONCE][LARGE];

static int by_size(const void *one, const void *other) {
    double a = *(const double *) one, b = *(const double *) other;
    return (a > b) - (a < b);
}

static double back_and_forth(int count) {
    double *micros = calloc((size_t) count, sizeof *micros);
    for (int i = 0; i < count; i++) {
        double start = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(buffer, SMALL, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        }
        MPI_Recv(buffer, SMALL, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) {
            MPI_Send(buffer, SMALL, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        micros[i] = (MPI_Wtime() - start) * 1e6 / 2;
    }
    qsort(micros, (size_t) count, sizeof *micros, by_size);
    double median = micros[count / 2];
    free(micros);
    return median;
}

static double one_way(int count) {
    MPI_Request requests[AT_ONCE];
    double start = MPI_Wtime();
    for (int sent = 0; sent < count; sent += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            if (rank == 0) {
                MPI_Isend(buffer[i], LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
            } else {
                MPI_Irecv(buffer[i], LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
            }
        }
        MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* all have arrived */
    return (double) count * LARGE / (1 << 20) / (MPI_Wtime() - start);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        return 2;
    }
    int count = (atoi(argv[3]) / AT_ONCE + 1) * AT_ONCE;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double (*measure)(int) = strcmp(argv[1], "latency") == 0 ? back_and_forth : one_way;
    double start = MPI_Wtime();
    int is_cold;
    do {
        measure(count);
        is_cold = MPI_Wtime() - start < atof(argv[2]);
        MPI_Bcast(&is_cold, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } while (is_cold);
    if (rank == 0) {
        printf("warm\n"); /* on a busy machine the rest takes long, and a reader gives up on a program that says nothing */
        fflush(stdout);
    }
    double figure = measure(count);
    if (rank == 0) {
        printf("%s %.3f\n", argv[1], figure);
    }
    MPI_Finalize();
    return 0;
}
