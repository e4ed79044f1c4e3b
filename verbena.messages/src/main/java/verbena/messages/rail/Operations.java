package verbena.messages.rail;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.OneSided;
import verbena.messages.protocol.Rails;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.VerbsException;

/// The one-sided operations to one peer. What fits into a frame goes through a slot of the worker; longer memory of
/// the program is registered as long as its operation is under way. All go by the rail of frames, in order. With
/// several rails a long one is cut over all of them; none of the others is under way meanwhile. Under the lock of
/// the worker.
public final class Operations {
    static final int UNDER_WAY = 16;

    public enum Type {
        PUT,
        GET,
        FETCH_ADD,
        COMPARE_SWAP,
        /// A request that reads nothing: its answer comes behind the effect of the puts before it.
        FLUSH
    }

    /// An operation.
    public abstract static class Operation {
        private final Type type;
        private final List<RemoteMemory> at;
        /// Memory of the program; an atomic and a flush have none.
        private final MemorySegment memory;

        private int slot = -1;
        private @Nullable Registered registered;
        /// The registered memory: the program's, or a copy.
        private MemorySegment buffer;
        private boolean isCopied;
        private int rail;

        protected Operation(Type type, List<RemoteMemory> at, MemorySegment memory) {
            this.type = type;
            this.at = at;
            this.memory = memory;
            this.buffer = memory;
        }

        long length() {
            return at.getFirst().length();
        }

        protected long first() {
            return 0;
        }

        protected long second() {
            return 0;
        }

        /// Ends with success.
        ///
        /// @param result the bytes that were read
        protected abstract void done(MemorySegment result);

        /// Fails the operation: memory of the program was closed, or the device has no such operation.
        protected abstract void failed(RuntimeException why);

        /// Fails the operation because the peer is lost, or the rail of an atomic.
        ///
        /// @param verb what was asked for
        protected abstract void lost(String verb, String why);

        /// Does the same, for any type.
        public void lost(String why) {
            lost(type.name().toLowerCase(Locale.ROOT).replace('_', ' '), why);
        }
    }

    private final Ways ways;
    private final Rails rails;
    private final Transfers transfers;
    private final LongMessages longMessages;
    private final int frameBytes;
    private final OneSided<Operation> order = new OneSided<>(UNDER_WAY);
    private final Map<Integer, Operation> underWay = new LinkedHashMap<>(); // in the order in which they began
    private int last;

    Operations(Ways ways, Transfers transfers, LongMessages longMessages, int frameBytes) {
        this.ways = ways;
        this.rails = ways.rails();
        this.transfers = transfers;
        this.longMessages = longMessages;
        this.frameBytes = frameBytes;
    }

    /// Adds an operation, which begins when its turn comes.
    public void add(Operation operation) {
        if (isStriped(operation)) {
            order.fence();
            order.add(operation);
            order.fence();
        } else {
            order.add(operation);
        }
    }

    private boolean isStriped(Operation operation) {
        return rails.areSeveral() && operation.length() >= Transfers.STRIPED_MIN;
    }

    /// Delays everything that is added from now on until all that was added before is done.
    public void fence() {
        order.fence();
    }

    boolean isIdle() {
        return order.isIdle();
    }

    /// Begins what may begin; false when there is no slot for it.
    boolean pump(Slots slots) {
        while (slots.peek() >= 0 && rails.forFrames() >= 0) {
            Operation next = order.poll();
            if (next == null) {
                return true;
            }
            try {
                if (isStriped(next)) {
                    stripe(next);
                } else {
                    start(next, slots);
                }
            } catch (VerbsException | IllegalStateException | UnsupportedOperationException e) { // memory was closed
                order.done();
                end(next, false, slots);
                next.failed(e);
            }
        }
        return order.isIdle() || slots.peek() >= 0;
    }

    private void stripe(Operation operation) {
        if (!operation.memory.scope().isAlive()) {
            throw new IllegalStateException("its memory was closed before it began");
        }
        var transfer = new Transfers.Transfer(operation.type == Type.PUT, operation.at, operation.memory) {
            @Override
            void done() {
                order.done();
                operation.done(MemorySegment.NULL);
            }

            @Override
            void failed(String why) {
                order.done();
                operation.lost(why);
            }
        };
        transfers.start(transfer);
    }

    private void start(Operation operation, Slots slots) {
        int number = ++last & Integer.MAX_VALUE;
        operation.rail = rails.forFrames();
        Rail rail = ways.way(operation.rail).rail;
        if (operation.rail >= operation.at.size()) {
            throw new IllegalStateException("the peer does not share the memory with rail " + operation.rail);
        }
        int length = (int) operation.length();
        if (length <= frameBytes) {
            int slot = slots.peek();
            if (operation.type == Type.PUT) {
                MemorySegment.copy(operation.memory, JAVA_BYTE, 0, slots.toSend(slot), JAVA_BYTE, 0, length);
            }
            slots.take(slot, ways);
            operation.slot = slot;
            post(operation, number, rail.outbox, slots.frameOffset(slot), length);
        } else {
            if (!longMessages.isRegistrable(operation.memory)) {
                operation.isCopied = true;
                operation.buffer = LongMessages.inPlaceOf(operation.memory, operation.type == Type.PUT);
            }
            Registered registered = longMessages.local(operation.buffer, operation.type == Type.PUT);
            operation.registered = registered;
            post(operation, number, registered.by(rail), registered.offset(operation.buffer), length);
        }
        underWay.put(number, operation);
    }

    private void post(Operation operation, int number, MemoryRegion region, long offset, int length) {
        SendBatch requests = ways.way(operation.rail).requests();
        long id = RequestIds.OPERATION | number;
        RemoteMemory at = operation.at.get(operation.rail);
        long address = at.address();
        int key = at.rkey();
        var _ = switch (operation.type) {
            case PUT -> requests.write(id, address, key);
            case GET, FLUSH -> requests.read(id, address, key);
            case FETCH_ADD -> requests.fetchAdd(id, address, key, operation.first());
            case COMPARE_SWAP -> requests.compareSwap(id, address, key, operation.first(), operation.second());
        };
        requests.sge(region, offset, length).signaled();
    }

    /// Gives back what it had of the worker.
    private void end(Operation operation, boolean isDone, Slots slots) {
        Registered registered = operation.registered;
        if (registered != null) {
            operation.registered = null;
            longMessages.registrations.end(registered, isDone && !operation.isCopied);
        }
        if (operation.slot >= 0) {
            slots.give(operation.slot, ways);
            operation.slot = -1;
        }
    }

    void completed(int number, Slots slots) {
        Operation operation = underWay.remove(number);
        if (operation == null) {
            return;
        }
        order.done();
        boolean isInSlot = operation.registered == null;
        MemorySegment result = isInSlot ? slots.toSend(operation.slot) : operation.buffer;
        RuntimeException failure = null;
        if (operation.type == Type.GET && (isInSlot || operation.isCopied)) {
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
        end(operation, true, slots);
    }

    /// Begins again, in order, the operations that were under way on a rail that is lost. Atomics fail: they may
    /// have been done.
    void loseRail(int rail, Slots slots) {
        var again = new ArrayList<Operation>();
        for (Operation each : List.copyOf(underWay.values())) {
            if (each.rail == rail) {
                end(each, false, slots);
                again.add(each);
            }
        }
        underWay.values().removeAll(again);
        again.removeIf(each -> {
            boolean isAtomic = each.type == Type.FETCH_ADD || each.type == Type.COMPARE_SWAP;
            if (isAtomic) {
                order.done();
                each.lost("its rail was lost, and it may have been done");
            }
            return isAtomic;
        });
        order.again(again);
    }

    /// Fails all operations because the peer is lost. Slots are free when its queue pair is closed
    /// ([Slots#forget]).
    void lose(String why) {
        List<Operation> failing = new ArrayList<>(underWay.values());
        underWay.clear();
        for (Operation each : failing) {
            Registered registered = each.registered;
            if (registered != null) {
                registered.close(); // the device writes there no more
            }
        }
        failing.addAll(order.drop());
        failing.forEach(each -> each.lost(why));
    }
}
