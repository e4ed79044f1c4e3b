import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Executors;
import verbena.messages.Call;
import verbena.messages.PeerMemory;
import verbena.messages.Worker;
import verbena.verbs.Access;
import verbena.verbs.Device;

/// A table of which clients get values by themselves, and which its owner changes when they call. A get that meets a
/// change is done again (docs/ordering.md).
///
/// Prints: 100 of 100 values, each of them whole
public class SharedTable {
    static final int ENTRY = 24; // a version, which is odd while the owner writes; a value, and its complement
    static final int ENTRIES = 100;
    static final VarHandle VERSION = JAVA_LONG.varHandle();
    static final Duration LIMIT = Duration.ofSeconds(10);

    public static void main(String[] args) throws Exception {
        try (var device = Device.named("rocev2").open();
                var server = Worker.open(device);
                var client = Worker.open(device);
                var table = server.share(server.allocate(ENTRIES * ENTRY), Set.of(Access.REMOTE_READ));
                var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = server.listen(0)) {
            server.answerCalls(call -> {
                if (call.request().byteSize() > 0) {
                    put(table.segment(), call);
                }
                return MemorySegment.ofArray(table.token());
            });
            var accepted = threads.submit(() -> listener.accept());
            var peer = client.connect(listener.localAddress());
            PeerMemory there = peer.memory(peer.call(new byte[0], LIMIT));
            int right = 0;
            for (long i = 0; i < ENTRIES; i++) {
                MemorySegment request = MemorySegment.ofArray(new long[] {i, i * i});
                peer.postCall(request, LIMIT).await();
                right += get(there, i) == i * i ? 1 : 0;
            }
            System.out.println(right + " of " + ENTRIES + " values, each of them whole");
            accepted.get().close();
        }
    }

    /// One call at a time changes the table.
    static synchronized void put(MemorySegment table, Call call) {
        long value = call.request().get(JAVA_LONG_UNALIGNED, 8);
        MemorySegment entry = table.asSlice(call.request().get(JAVA_LONG_UNALIGNED, 0) * ENTRY, ENTRY);
        long version = (long) VERSION.getAndAdd(entry, 0L, 1L);
        VarHandle.storeStoreFence();
        entry.set(JAVA_LONG, 8, value);
        entry.set(JAVA_LONG, 16, ~value);
        VERSION.setRelease(entry, 0L, version + 2);
    }

    static long get(PeerMemory table, long number) throws InterruptedException {
        MemorySegment version = MemorySegment.ofArray(new long[2]);
        MemorySegment entry = MemorySegment.ofArray(new long[3]);
        while (true) { // gets are done in order
            table.postRead(number * ENTRY, version.asSlice(0, 8));
            table.postRead(number * ENTRY, entry);
            table.postRead(number * ENTRY, version.asSlice(8, 8)).await();
            long before = version.get(JAVA_LONG, 0);
            if (before % 2 == 0 && before == version.get(JAVA_LONG, 8)) {
                return entry.get(JAVA_LONG, 16) == ~entry.get(JAVA_LONG, 8) ? entry.get(JAVA_LONG, 8) : -1;
            }
        }
    }
}
