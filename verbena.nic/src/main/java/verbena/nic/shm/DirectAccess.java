package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.sharing.Neighbours;
import verbena.nic.shm.GrantMessage.Kind;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;

/// Direct access between the queue pairs of one link and those of its neighbours: the grants that each side has
/// given and holds, and the messages about them. Whatever a neighbour says or does, nothing is thrown, and nothing
/// outside a grant is touched. For the owner of the link's engine.
final class DirectAccess implements Neighbours.Listener, GrantsHeld.Access {
    private static final long PAUSE_NANOS = 20_000;

    private final DirectCopy copy;
    /// Made when it is needed: many devices never do.
    private @Nullable ProcessCopy processCopy;

    private final Neighbours neighbours;
    private final MemoryFiles files;
    private final LongSupplier clock;
    private final GrantsGiven given;
    /// Queue pairs that are connected, by their numbers.
    private final Map<Integer, GrantsHeld> held = new HashMap<>();
    private final GrantsHeld.@Nullable Pages[] pages = new GrantsHeld.@Nullable Pages[GrantMessage.SLOTS];
    private final @Nullable MappedFiles[] mapped = new @Nullable MappedFiles[GrantMessage.SLOTS];
    private final MemorySegment message = Arena.ofAuto().allocate(GrantMessage.BYTES, Long.BYTES);

    /// @param neighbours of one link, whose listener this or its caller is
    /// @param files where regions lie
    /// @param memory the table of the link's engine
    /// @param random unpredictable for neighbours
    /// @param clock nanoseconds, monotonic
    DirectAccess(
            Neighbours neighbours, MemoryFiles files, MemoryTable memory, RandomGenerator random, LongSupplier clock) {
        this(neighbours, files, memory, random, clock, () -> LockSupport.parkNanos(PAUSE_NANOS));
    }

    /// The same, with a way of its own to wait a moment for a neighbour.
    DirectAccess(
            Neighbours neighbours,
            MemoryFiles files,
            MemoryTable memory,
            RandomGenerator random,
            LongSupplier clock,
            Runnable pause) {
        this.neighbours = neighbours;
        this.files = files;
        this.clock = clock;
        this.copy = new DirectCopy(clock);
        this.given = new GrantsGiven(neighbours, files, memory, random, pause);
        memory.watch(given);
    }

    /// Returns the grants by which a new queue pair accesses its peer's memory. Its owner calls
    /// [GrantsHeld#onModified()] after each change. Any thread.
    public GrantsHeld queuePair(QueuePairParameters parameters) {
        return new GrantsHeld(this, parameters);
    }

    @Override
    public void onModified(GrantsHeld of) {
        QueuePairParameters p = of.parameters;
        switch (p.state) {
            case RTR, RTS, SQD, SQE -> {
                if (held.put(p.qpn, of) == null) {
                    of.giveAllBack(); // of an earlier connection
                }
                given.connected(p);
            }
            case RESET, INIT, ERR -> {
                if (held.remove(p.qpn, of)) {
                    of.giveAllBack();
                    given.disconnected(p.qpn);
                }
            }
        }
    }

    // ---- for the grants held

    @Override
    public long nowNanos() {
        return clock.getAsLong();
    }

    @Override
    public GrantsHeld.@Nullable Pages pages(int slot) {
        GrantsHeld.Pages there = pages[slot];
        if (there == null) {
            there = new GrantsHeld.Pages(
                    neighbours.ownPage(slot), neighbours.theirPage(slot), new PeerProcess(neighbours.process(slot)));
            if (there.own().byteSize() < Neighbours.PAGE_BYTES || there.theirs().byteSize() < Neighbours.PAGE_BYTES) {
                return null;
            }
            pages[slot] = there;
        }
        return there;
    }

    @Override
    public DirectCopy copy() {
        return copy;
    }

    @Override
    public ProcessCopy processCopy() {
        ProcessCopy made = processCopy;
        if (made == null) {
            made = new ProcessCopy();
            processCopy = made;
        }
        return made;
    }

    @Override
    public boolean tell(int slot, GrantMessage what) {
        what.write(message);
        return neighbours.tell(slot, message, -1);
    }

    @Override
    public @Nullable MappedFile file(int slot, GrantMessage of, int descriptor) {
        MappedFiles ofNeighbour = mapped[slot];
        if (ofNeighbour == null) {
            ofNeighbour = new MappedFiles(slot, files);
            mapped[slot] = ofNeighbour;
        }
        return ofNeighbour.file(of, descriptor);
    }

    @Override
    public boolean isMapped(int slot, int file) {
        MappedFiles ofNeighbour = mapped[slot];
        return ofNeighbour != null && ofNeighbour.has(file);
    }

    @Override
    public void release(Grant grant) {
        MappedFile file = grant.release();
        if (file != null) {
            MappedFiles ofNeighbour = mapped[file.slot];
            if (ofNeighbour != null && ofNeighbour.forgetUnused(file)) {
                boolean _ = tell(file.slot, GrantMessage.dropped(file.number));
            }
        }
    }

    // ---- what neighbours say

    @Override
    public void onTold(int slot, MemorySegment said, int descriptor) {
        try {
            GrantMessage what = slot < 0 || slot >= GrantMessage.SLOTS ? null : GrantMessage.read(said);
            if (what != null) {
                onTold(slot, what, descriptor);
            }
        } finally {
            if (descriptor >= 0) {
                files.close(descriptor);
            }
        }
    }

    private void onTold(int slot, GrantMessage what, int descriptor) {
        GrantsHeld asker = held.get(what.asker());
        switch (what.kind()) {
            case ASKED -> given.onAsked(slot, what);
            case RETURNED -> given.onReturned(slot, what);
            case DROPPED -> given.onDropped(slot, what.file());
            case GIVEN -> {
                if (asker == null || !asker.onGiven(slot, what, descriptor)) {
                    sendBack(slot, what);
                }
            }
            case REVOKED -> {
                if (asker != null) {
                    asker.onRevoked(slot, what);
                }
            }
            case DECLINED -> {} // not asked for again for a while, as if there were no answer
        }
    }

    /// Returns a grant to its owner, because it is not used here, nor is the file that came with it.
    private void sendBack(int slot, GrantMessage given) {
        var returned = GrantMessage.of(
                Kind.RETURNED, given.asker(), given.owner(), given.rkey(), given.index(), given.value());
        boolean _ = tell(slot, returned);
        if (given.isInFile() && !isMapped(slot, given.file())) {
            boolean _ = tell(slot, GrantMessage.dropped(given.file()));
        }
    }

    /// Keeps all memory of the neighbour: its threads may still be in the middle of an access until they are gone.
    @Override
    public void onDying(int slot) {}

    @Override
    public void onGone(int slot) {
        if (slot < 0 || slot >= GrantMessage.SLOTS) {
            return;
        }
        held.values().forEach(each -> each.onGone(slot));
        MappedFiles files = mapped[slot];
        if (files != null) {
            files.clear();
            mapped[slot] = null;
        }
        pages[slot] = null;
        given.onGone(slot);
    }

    /// Returns how many grants neighbours have.
    int givenNow() {
        return given.size();
    }
}
