import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.Executors;
import verbena.messages.RemoteWorker;
import verbena.messages.TagFilter;
import verbena.messages.Worker;
import verbena.verbs.Device;

/// Four members of a ring add up their vectors, as programs that train models in common do: each member ends with
/// the sum. First the parts of the vector go around and are added (reduce-scatter), then the sums go around
/// (all-gather). Each member sends and receives 2 * (n - 1) / n of a vector, however many there are. Each has its
/// own device, so each could be a process on a host of its own.
///
/// Prints: 4 members have the sum of 4 vectors of 4096 numbers
public class AllReduce {
    private static final int MEMBERS = 4;
    private static final int NUMBERS = 4096;
    private static final int PART = NUMBERS / MEMBERS;

    public static void main(String[] args) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var places = new InetSocketAddress[MEMBERS];
            var ready = new CyclicBarrier(MEMBERS);
            var members = new ExecutorCompletionService<Boolean>(threads);
            for (int i = 0; i < MEMBERS; i++) {
                int rank = i;
                members.submit(() -> member(rank, places, ready));
            }
            int right = 0;
            try {
                for (int i = 0; i < MEMBERS; i++) {
                    right += members.take().get() ? 1 : 0;
                }
            } finally {
                threads.shutdownNow(); // when a member fails, none waits for it
            }
            System.out.println(
                    right + " members have the sum of " + MEMBERS + " vectors of " + NUMBERS + " numbers");
        }
    }

    private static boolean member(int rank, InetSocketAddress[] places, CyclicBarrier ready)
            throws Exception {
        try (var device = Device.named("rocev2").open();
                var worker = Worker.open(device);
                var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = worker.listen(0)) {
            places[rank] = listener.localAddress();
            ready.await(); // all listen; elsewhere a file or a launcher has the addresses
            var previous = threads.submit(() -> listener.accept());
            RemoteWorker next = worker.connect(places[(rank + 1) % MEMBERS]);
            var vector = new double[NUMBERS];
            for (int i = 0; i < NUMBERS; i++) {
                vector[i] = rank + i;
            }
            allReduce(rank, vector, worker, next);
            boolean isRight = true;
            for (int i = 0; i < NUMBERS; i++) {
                isRight &= vector[i] == MEMBERS * (MEMBERS - 1) / 2 + MEMBERS * (double) i;
            }
            ready.await(); // no member leaves while another still receives
            next.close();
            previous.get().close();
            return isRight;
        }
    }

    private static void allReduce(int rank, double[] vector, Worker worker, RemoteWorker next)
            throws InterruptedException {
        var memory = MemorySegment.ofArray(vector);
        var came = MemorySegment.ofArray(new double[PART]);
        for (int step = 0; step < 2 * (MEMBERS - 1); step++) {
            boolean adds = step < MEMBERS - 1;
            int sent = Math.floorMod(rank - step + (adds ? 0 : MEMBERS), MEMBERS);
            int received = Math.floorMod(sent - 1, MEMBERS);
            MemorySegment into = adds ? came : part(memory, received);
            var receive = worker.postReceive(TagFilter.exactly(step), into);
            var send = next.postSend(step, part(memory, sent));
            receive.await();
            send.await();
            for (int i = 0; adds && i < PART; i++) {
                vector[received * PART + i] += came.getAtIndex(JAVA_DOUBLE_UNALIGNED, i);
            }
        }
    }

    private static MemorySegment part(MemorySegment vector, int number) {
        return vector.asSlice((long) number * PART * Double.BYTES, (long) PART * Double.BYTES);
    }
}
