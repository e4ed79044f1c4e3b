package verbena.messages.rail;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;

/// Long READs and WRITEs between memory of this end and of one peer. With several rails they are cut into parts,
/// and a rail that has done its part takes the next one. What was under way on a rail that is lost goes by another.
/// Under the lock of the worker.
public final class Transfers {
    /// Parts on a rail at once.
    static final int PARTS = 8;
    /// Requests of a rail for them: a part that is written has a READ behind it.
    static final int REQUESTS = 2 * PARTS;
    /// The length under which a message stays whole.
    static final long STRIPED_MIN = 128 << 10;

    private static final long STRIPE_BYTES = 256 << 10;
    private static final long WHOLE_BYTES = 1 << 24;

    /// Bytes on their way from or to the memory of a peer.
    abstract static class Transfer {
        private final boolean isWrite;
        private final List<RemoteMemory> at;
        private final MemorySegment program;
        /// The program's memory, or other memory when the device cannot use that.
        private MemorySegment memory;

        private @Nullable Registered registered;
        private boolean isCopied;
        private long begun;
        private final ArrayDeque<Part> again = new ArrayDeque<>();
        private int underWay;

        /// @param at by each rail; key 0 where there is none
        Transfer(boolean isWrite, List<RemoteMemory> at, MemorySegment memory) {
            this.isWrite = isWrite;
            this.at = at;
            this.program = memory;
            this.memory = memory;
        }

        abstract void done();

        abstract void failed(String why);

        private boolean isBegun() {
            return begun == memory.byteSize() && again.isEmpty();
        }

        private boolean canGoBy(int rail) {
            return rail < at.size() && at.get(rail).rkey() != 0;
        }

        /// Closes the region of a rail: the device does not access the memory by it any more.
        private void loseRail(int rail) {
            if (registered != null) {
                registered.close(rail);
            }
        }

        /// Closes all regions: the device does not access the memory any more.
        private void closeRegions() {
            if (registered != null) {
                registered.close();
            }
        }
    }

    private record Part(Transfer of, long offset, int length, int rail) {}

    private final Ways ways;
    private final Rails rails;
    private final LongMessages longMessages;
    private final ArrayList<Transfer> all = new ArrayList<>();
    private final Map<Integer, Part> parts = new HashMap<>();
    private final int[] partsOf;
    private final long[] bytesOf;
    private int last;

    Transfers(Ways ways, LongMessages longMessages) {
        this.ways = ways;
        this.rails = ways.rails();
        this.longMessages = longMessages;
        this.partsOf = new int[rails.count()];
        this.bytesOf = new long[partsOf.length];
    }

    /// Returns the number of bytes that have gone by a rail.
    public long bytesOf(int rail) {
        return bytesOf[rail];
    }

    /// Begins a transfer.
    void start(Transfer transfer) {
        if (!longMessages.isRegistrable(transfer.program)) {
            transfer.isCopied = true;
            transfer.memory = LongMessages.inPlaceOf(transfer.program, transfer.isWrite);
        }
        all.add(transfer);
    }

    private static void copy(MemorySegment from, MemorySegment to) {
        MemorySegment.copy(from, JAVA_BYTE, 0, to, JAVA_BYTE, 0, from.byteSize());
    }

    /// Gives the rails what they can take.
    ///
    /// @throws IllegalStateException when a transfer can go by none
    void pump() {
        for (int i = 0; i < all.size(); i++) {
            Transfer transfer = all.get(i);
            boolean waits = transfer.isWrite && !rails.isAgreed(); // until a lost rail brings nothing more
            while (!waits && !transfer.isBegun()) {
                int rail = idlest(transfer);
                if (rail < 0) {
                    break;
                }
                post(next(transfer, rail));
            }
        }
    }

    /// Returns the rail with the fewest parts that a transfer can go by; negative when each has enough.
    private int idlest(Transfer transfer) {
        int best = -1;
        boolean isPossible = false;
        for (int rail = 0; rail < partsOf.length; rail++) {
            if (rails.isUsable(rail) && transfer.canGoBy(rail)) {
                isPossible = true;
                if (partsOf[rail] < PARTS && (best < 0 || partsOf[rail] < partsOf[best])) {
                    best = rail;
                }
            }
        }
        if (!isPossible) {
            throw new IllegalStateException("no rail is left by which the memory can be reached");
        }
        return best;
    }

    private Part next(Transfer transfer, int rail) {
        Part lost = transfer.again.poll();
        if (lost != null) {
            return new Part(transfer, lost.offset, lost.length, rail);
        }
        long left = transfer.memory.byteSize() - transfer.begun;
        boolean isStriped = rails.usable() > 1 && transfer.memory.byteSize() >= STRIPED_MIN;
        long most = Math.min(isStriped ? STRIPE_BYTES : WHOLE_BYTES, ways.way(rail).rail.longest);
        var part = new Part(transfer, transfer.begun, (int) Math.min(left, most), rail);
        transfer.begun += part.length;
        return part;
    }

    private void post(Part part) {
        int rail = part.rail;
        Transfer transfer = part.of;
        Registered registered = transfer.registered;
        if (registered == null) {
            registered = longMessages.local(transfer.memory, transfer.isWrite);
            transfer.registered = registered;
        }
        MemoryRegion region = registered.by(ways.way(rail).rail);
        long offset = registered.offset(transfer.memory) + part.offset;
        last = last == Integer.MAX_VALUE ? 1 : last + 1;
        int number = last;
        parts.put(number, part);
        partsOf[rail]++;
        transfer.underWay++;
        RemoteMemory at = transfer.at.get(rail);
        SendBatch requests = ways.way(rail).requests();
        long address = at.address() + part.offset;
        if (transfer.isWrite) {
            requests.write(RequestIds.PART, address, at.rkey())
                    .sge(region, offset, part.length)
                    .signaled();
            requests.read(RequestIds.PART | number, address, at.rkey()) // behind the effect of the WRITE
                    .sge(region, 0, 0)
                    .signaled();
        } else {
            requests.read(RequestIds.PART | number, address, at.rkey())
                    .sge(region, offset, part.length)
                    .signaled();
        }
    }

    /// Handles the end of a part; number 0 is a WRITE whose READ follows.
    void completed(int number) {
        Part part = parts.remove(number);
        if (part == null) {
            return;
        }
        partsOf[part.rail]--;
        assert partsOf[part.rail] >= 0 && part.of.underWay > 0 : part;
        bytesOf[part.rail] += part.length;
        Transfer transfer = part.of;
        if (--transfer.underWay > 0 || !transfer.isBegun()) {
            return;
        }
        all.remove(transfer);
        if (transfer.registered != null) {
            longMessages.registrations.end(transfer.registered, !transfer.isCopied);
        }
        if (!transfer.isWrite && transfer.isCopied) {
            copy(transfer.memory, transfer.program);
        }
        transfer.done();
    }

    /// Moves the parts that were under way on a rail to others.
    void loseRail(int rail) {
        partsOf[rail] = 0;
        Iterator<Part> each = parts.values().iterator();
        while (each.hasNext()) {
            Part part = each.next();
            if (part.rail == rail) {
                each.remove();
                part.of.underWay--;
                part.of.again.add(part);
            }
        }
        all.forEach(transfer -> transfer.loseRail(rail));
    }

    /// Gives back the memory of all that is under way.
    void lose(String why) {
        var failing = List.copyOf(all);
        all.clear();
        parts.clear();
        failing.forEach(Transfer::closeRegions);
        failing.forEach(each -> each.failed(why));
    }
}
