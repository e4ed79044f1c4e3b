/* A process of a group of Gloo over ibverbs: sums, gathers, broadcasts and messages, with every number checked.
 * gloo DEVICE FOLDER RANK SIZE; processes meet through files in the folder. */
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

static int failures;

static void expect(bool isSo, const char *what, size_t at) {
    if (!isSo && failures++ < 10) {
        printf("not so: %s at %zu\n", what, at);
    }
}

int main(int count, char **arguments) {
    if (count != 5) {
        return 2;
    }
    int rank = atoi(arguments[3]), size = atoi(arguments[4]);
    struct gloo::transport::ibverbs::attr attributes = {};
    attributes.name = arguments[1];
    attributes.port = 1;
    attributes.index = 0;
    auto device = gloo::transport::ibverbs::CreateDevice(attributes);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
    gloo::rendezvous::FileStore store(arguments[2]);
    context->connectFullMesh(store, device);

    for (size_t length : {1, 1000, 100000}) {
        // Gloo allows nothing to be destroyed whose last send has not been completed, and has no call that waits for that.
        auto &numbers = *new std::vector<float>(length);
        auto &sum = *new gloo::AllreduceRingChunked<float>(context, {numbers.data()}, int(length));
        auto &told = *new std::vector<int>(length);
        auto &broadcast = *new gloo::BroadcastOneToAll<int>(context, {told.data()}, int(length));
        for (int round = 0; round < 20; round++) {
            for (size_t i = 0; i < length; i++) {
                numbers[i] = float(rank + 1) * float(i % 100 + round);
                told[i] = rank == 0 ? int(i) + round : 0;
            }
            sum.run();
            broadcast.run();
            for (size_t i = 0; i < length; i++) {
                expect(numbers[i] == float(size * (size + 1) / 2) * float(i % 100 + round), "sum", i);
                expect(told[i] == int(i) + round, "broadcast", i);
            }
        }
    }
    auto &barrier = *new gloo::BarrierAllToAll(context);
    barrier.run();
    store.set("done" + std::to_string(rank), {'1'});
    for (int i = 0; i < size; i++) {
        store.wait({"done" + std::to_string(i)});
    }
    printf("rank %d of %d: %s\n", rank, size, failures == 0 ? "done" : "failed");
    fflush(stdout);
    _exit(failures == 0 ? 0 : 1);
}
