package verbena.messages;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.OneSided;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// The one-sided operations to one peer. What fits into a frame goes through a slot of the worker; longer
/// memory of the program is registered as long as its operation is under way.
final class Operations {
    static final int UNDER_WAY = 16;

    enum Type {
        PUT,
        GET,
        FETCH_ADD,
        COMPARE_SWAP,
        /// Reads nothing: its answer comes behind the effect of what was put before.
        FLUSH
    }

    private abstract static class Operation {
        private final Type type;
        private final RemoteMemory at;
        /// Of the program; of an atomic and a flush there is none.
        private final MemorySegment memory;

        private int slot = -1;
        private @Nullable MemoryRegion region;
        private boolean isCopied;

        Operation(Type type, RemoteMemory at, MemorySegment memory) {
            this.type = type;
            this.at = at;
            this.memory = memory;
        }

        long first() {
            return 0;
        }

        long second() {
            return 0;
        }

        /// @param result the bytes that were read
        abstract void done(MemorySegment result);

        abstract void failed(RuntimeException why);
    }

    private final RemoteWorker remote;
    private final Traffic traffic;
    private final int frameBytes;

    // Under the lock of the traffic.
    private final OneSided<Operation> order = new OneSided<>(UNDER_WAY);
    private final Map<Integer, Operation> underWay = new HashMap<>();
    private int last;

    Operations(RemoteWorker remote, Traffic traffic, WorkerOptions options) {
        this.remote = remote;
        this.traffic = traffic;
        this.frameBytes = options.frameBytes();
    }

    // ---- by the program

    Pending<Void> transfer(Type type, RemoteMemory at, MemorySegment memory) {
        if (type == Type.GET) {
            traffic.longMessages.requireWritable("into", memory);
        }
        if (memory.byteSize() > traffic.longMessages.longest()) {
            throw new IllegalArgumentException(
                    "at most " + traffic.longMessages.longest() + " bytes for one operation, got " + memory.byteSize());
        }
        var pending = new Pending<Void>(traffic.readers);
        add(new Operation(type, at, type == Type.PUT ? remote.forAllThreads(memory) : memory) {
            @Override
            @SuppressWarnings("NullAway") // a Void has no other value
            void done(MemorySegment result) {
                pending.complete(null);
            }

            @Override
            void failed(RuntimeException why) {
                pending.fail(why);
            }
        });
        return pending;
    }

    Pending<Long> atomic(Type type, RemoteMemory at, long first, long second) {
        var pending = new Pending<Long>(traffic.readers);
        add(new Operation(type, at, MemorySegment.NULL) {
            @Override
            long first() {
                return first;
            }

            @Override
            long second() {
                return second;
            }

            @Override
            void done(MemorySegment result) {
                pending.complete(result.get(JAVA_LONG_UNALIGNED, 0));
            }

            @Override
            void failed(RuntimeException why) {
                pending.fail(why);
            }
        });
        return pending;
    }

    private void add(Operation operation) {
        traffic.lock.lock();
        try {
            if (remote.peer().isLost()) {
                operation.failed(lost(operation, remote.peer().whyLost()));
            } else {
                order.add(operation);
                traffic.pump(remote);
            }
        } finally {
            traffic.lock.unlock();
        }
    }

    void fence() {
        traffic.lock.lock();
        try {
            order.fence();
        } finally {
            traffic.lock.unlock();
        }
    }

    private RuntimeException lost(Operation operation, String why) {
        return remote.lost(
                operation.type.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '), why);
    }

    // ---- under the lock

    boolean isIdle() {
        return order.isIdle();
    }

    /// Begins what may begin; false when there is no slot for it.
    boolean pump(Slots slots) {
        while (slots.peek() >= 0) {
            Operation next = order.poll();
            if (next == null) {
                return true;
            }
            start(next, slots);
        }
        return order.isIdle();
    }

    private void start(Operation operation, Slots slots) {
        int number = ++last & Integer.MAX_VALUE;
        try {
            int length = (int) operation.at.length();
            if (length <= frameBytes) {
                operation.slot = slots.peek();
                if (operation.type == Type.PUT) {
                    MemorySegment.copy(
                            operation.memory, JAVA_BYTE, 0, slots.toSend(operation.slot), JAVA_BYTE, 0, length);
                }
                slots.take(operation.slot, remote);
                post(operation, number, slots.outbox(), slots.offset(operation.slot), length);
            } else {
                operation.isCopied = !traffic.longMessages.isRegistrable(operation.memory);
                MemoryRegion region = traffic.longMessages.local(operation.memory, operation.type == Type.PUT);
                operation.region = region;
                post(operation, number, region, 0, length);
            }
            underWay.put(number, operation);
        } catch (VerbsException | IllegalStateException | UnsupportedOperationException e) { // its memory was closed
            order.done();
            end(operation, slots);
            operation.failed(e);
        }
    }

    private void post(Operation operation, int number, MemoryRegion region, long offset, int length) {
        QueuePair pair = remote.connection().queuePair();
        long id = Traffic.OPERATION | number;
        long address = operation.at.address();
        int key = operation.at.rkey();
        switch (operation.type) {
            case PUT -> pair.postWrite(id, region, offset, length, address, key);
            case GET, FLUSH -> pair.postRead(id, region, offset, length, address, key);
            case FETCH_ADD -> pair.postFetchAdd(id, region, offset, address, key, operation.first());
            case COMPARE_SWAP ->
                pair.postCompareSwap(id, region, offset, address, key, operation.first(), operation.second());
        }
    }

    /// Gives back what it had of the worker.
    private void end(Operation operation, Slots slots) {
        MemoryRegion region = operation.region;
        if (region != null) {
            region.close();
        }
        if (operation.slot >= 0) {
            slots.sent(operation.slot, remote);
        }
    }

    void completed(int number, Slots slots) {
        Operation operation = underWay.remove(number);
        if (operation == null) {
            return;
        }
        order.done();
        MemoryRegion region = operation.region;
        MemorySegment result = region == null ? slots.toSend(operation.slot) : region.segment();
        RuntimeException failure = null;
        if (operation.type == Type.GET && (region == null || operation.isCopied)) {
            try {
                MemorySegment.copy(result, JAVA_BYTE, 0, operation.memory, JAVA_BYTE, 0, operation.memory.byteSize());
            } catch (IllegalStateException e) { // the program has closed its memory
                failure = e;
            }
        }
        if (failure == null) {
            operation.done(result);
        } else {
            operation.failed(failure);
        }
        end(operation, slots);
    }

    /// The peer is lost. Slots are free when its queue pair is closed ([Slots#forget]).
    void lose(String why) {
        List<Operation> failing = new ArrayList<>(underWay.values());
        underWay.clear();
        for (Operation each : failing) {
            MemoryRegion region = each.region;
            if (region != null) {
                region.close(); // the device writes there no more
            }
        }
        failing.addAll(order.drop());
        failing.forEach(each -> each.failed(lost(each, why)));
    }
}
