package verbena.sim.traffic;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import verbena.sim.SimDevice;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;

/// The results of an end's READs and atomics: a slot for each request, and some longer ones for READs that are asked
/// for in pieces.
final class RcResults {
    /// READs of more than a window's half, which have memory of their own.
    private static final int LONG_READS = 4;

    private static final int LONG_PACKETS = 100;

    private final int slotBytes;
    private final MemoryRegion slots;
    private final Optional<MemoryRegion> longSlots;
    final int longMax;
    /// Long READs that are outstanding.
    private int outstanding;
    private long posted;

    /// @param hasLong whether there are long READs
    RcResults(SimDevice device, ProtectionDomain domain, int mtu, int slotBytes, boolean hasLong) {
        this.slotBytes = slotBytes;
        slots = device.register(domain, (long) Slots.COUNT * slotBytes, Access.local());
        longMax = Math.min(LONG_PACKETS * mtu, Tape.BYTES / 2);
        longSlots = hasLong
                ? Optional.of(device.register(domain, (long) LONG_READS * longSlotBytes(), Access.local()))
                : Optional.empty();
    }

    private int longSlotBytes() {
        return longMax + Slots.CANARY_BYTES;
    }

    boolean hasLongSlot() {
        return longSlots.isPresent() && outstanding < LONG_READS;
    }

    int takeLongSlot() {
        outstanding++;
        return (int) (posted++ % LONG_READS);
    }

    /// Frees the slot of a request that has ended.
    void free(Request request) {
        if (request.longSlot >= 0) {
            outstanding--;
        }
    }

    void freeAll() {
        outstanding = 0;
    }

    MemoryRegion region(Request request) {
        return request.longSlot < 0 ? slots : longSlots.orElseThrow();
    }

    /// Returns the offset in its region.
    long at(Request request) {
        return request.longSlot < 0
                ? request.number % Slots.COUNT * slotBytes
                : (long) request.longSlot * longSlotBytes();
    }

    MemorySegment of(Request request) {
        return region(request).segment().asSlice(at(request), request.longSlot < 0 ? slotBytes : longSlotBytes());
    }

    void close() {
        slots.close();
        longSlots.ifPresent(MemoryRegion::close);
    }
}
