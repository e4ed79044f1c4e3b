package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.ProcessMark;
import verbena.nic.link.sharing.Neighbours;
import verbena.nic.shm.GrantMessage.Kind;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.KeyWatch;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Opening;
import verbena.verbs.Access;
import verbena.verbs.internal.LastingMemory;

/// The grants that this side has given, one for a key and a queue pair: the peer of that queue pair may use what the
/// key opens, without asking, as long as the grant's state word says so. Nothing is granted that the responder of
/// the queue pair would refuse.
///
/// A grant is withdrawn before what it was given for changes: the state word changes, and the caller waits until the
/// peer is not in the middle of an access. A peer that is gone holds no caller up. One that has stopped in the
/// middle does so once, and gets no more grants. What it may still use is not forgotten: no later end of the region
/// is told that its memory is free, whatever the grant was withdrawn for.
///
/// Calls come from the owner of the engine, except that engines unbind windows while others work; hence the lock.
final class GrantsGiven implements KeyWatch {
    /// The rights to change memory.
    static final int CHANGES = Access.REMOTE_WRITE.bit() | Access.REMOTE_ATOMIC.bit();
    /// The operations that the kernel can do for a peer on memory of this process: atomics are not among them.
    private static final int OF_PROCESS = Access.REMOTE_WRITE.bit() | Access.REMOTE_READ.bit();
    /// The largest number of grants that one neighbour has at once.
    static final int GRANTS_MAX = 4096;
    /// The number of keys that a connection may ask for in vain. By packets, a single key without the right ends
    /// the connection.
    static final int REFUSALS_MAX = 16;

    private static final int SPINS = 2_000;
    /// The number of parks between checks that the neighbour is still there: a check comes every few milliseconds.
    private static final int PARKS_BETWEEN_CHECKS = 32;
    /// A neighbour that is in the middle of an access for about a second does not go on soon.
    static final int PARKS_MAX = 8_000;

    /// @param region key of the region that all of it lies in
    private record Given(Neighbour to, int index, long value, int asker, int owner, int rkey, int region) {}

    /// The state of a neighbour.
    private static final class Neighbour {
        final int slot;
        final MemorySegment own;
        final MemorySegment theirs;
        final @Nullable Given[] given = new @Nullable Given[GRANTS_MAX + 1];
        /// The files of which it has a descriptor.
        final Set<Integer> files = new HashSet<>();
        int last;
        /// Whether it stood still in the middle of an access.
        boolean isStuck;

        Neighbour(int slot, MemorySegment own, MemorySegment theirs) {
            this.slot = slot;
            this.own = own;
            this.theirs = theirs;
        }
    }

    /// A queue pair whose peer may be given grants.
    private static final class Owner {
        final QueuePairParameters parameters;
        final List<Given> given = new ArrayList<>();
        int refusals;

        Owner(QueuePairParameters parameters) {
            this.parameters = parameters;
        }
    }

    private final Neighbours neighbours;
    private final MemoryFiles files;
    private final MemoryTable memory;
    private final Map<Integer, Neighbour> bySlot = new HashMap<>();
    private final Map<Integer, Owner> owners = new HashMap<>();
    /// The grants by the upper 24 bits of their keys.
    private final Map<Integer, List<Given>> byHandle = new HashMap<>();
    /// Withdrawn, while a neighbour had stopped in the middle of using them.
    private final List<Given> left = new ArrayList<>();
    private final MemorySegment message = Arena.ofAuto().allocate(GrantMessage.BYTES, Long.BYTES);
    private final Runnable pause;
    /// The last value of a state word. A value is never used twice, so an index can be.
    private long lastValue;

    /// @param random where the values of state words begin
    /// @param pause lets others go on for a moment
    GrantsGiven(Neighbours neighbours, MemoryFiles files, MemoryTable memory, RandomGenerator random, Runnable pause) {
        this.pause = pause;
        this.neighbours = neighbours;
        this.files = files;
        this.memory = memory;
        this.lastValue = random.nextLong();
    }

    // ---- queue pairs

    /// Withdraws the grants of a connected queue pair whose state or rights have changed: its peer has to ask anew.
    synchronized void connected(QueuePairParameters parameters) {
        disconnected(parameters.qpn);
        owners.put(parameters.qpn, new Owner(parameters));
    }

    /// Withdraws the grants of a queue pair that has no peer any more.
    synchronized void disconnected(int qpn) {
        Owner owner = owners.remove(qpn);
        if (owner != null) {
            boolean _ = withdraw(List.copyOf(owner.given), true);
        }
    }

    // ---- keys

    @Override
    public synchronized boolean onEnded(int key) {
        List<Given> given = byHandle.getOrDefault(key >>> 8, List.of());
        boolean isIdle = withdraw(List.copyOf(given), true);
        left.removeIf(each -> !GrantPage.isBusy(each.to.theirs, each.index) || !neighbours.isThere(each.to.slot));
        return isIdle && left.stream().noneMatch(each -> each.region >>> 8 == key >>> 8);
    }

    /// Withdraws the grants of a window that was unbound. Nothing has to be unmapped, because the memory stays
    /// where it is. The caller may own another engine than this one, and must not send.
    @Override
    public synchronized void onUnbound(int key) {
        List<Given> given = byHandle.get(key >>> 8);
        if (given != null) {
            boolean _ = withdraw(given.stream().filter(each -> each.rkey == key).toList(), false);
        }
    }

    // ---- neighbours

    synchronized void onAsked(int slot, GrantMessage asked) {
        if (!give(slot, asked)) {
            boolean _ = tell(slot, GrantMessage.of(Kind.DECLINED, asked.asker(), asked.owner(), asked.rkey()), -1);
        }
    }

    synchronized void onReturned(int slot, GrantMessage returned) {
        Neighbour from = bySlot.get(slot);
        int index = returned.index();
        if (from == null || index < 1 || index > GRANTS_MAX) {
            return;
        }
        Given given = from.given[index];
        if (given != null && given.value == returned.value()) {
            GrantPage.withdraw(from.own, index);
            forget(given);
        }
    }

    synchronized void onDropped(int slot, int file) {
        Neighbour from = bySlot.get(slot);
        if (from != null) {
            from.files.remove(file);
        }
    }

    synchronized void onGone(int slot) {
        Neighbour gone = bySlot.remove(slot);
        if (gone != null) {
            left.removeIf(each -> each.to == gone);
            for (Given given : gone.given) {
                if (given != null) {
                    forget(given);
                }
            }
        }
    }

    // ---- giving

    private boolean give(int slot, GrantMessage asked) {
        Owner owner = owners.get(asked.owner());
        if (owner == null || !isPeer(owner.parameters, slot, asked.asker()) || owner.refusals >= REFUSALS_MAX) {
            return false;
        }
        if (owner.parameters.pathMtu != asked.length()) {
            return false; // the responder refuses packets of another size
        }
        if (owner.parameters.readsServedMax == 0) {
            return false; // the responder refuses READs and all atomics, and a grant has no right for WRITEs alone
        }
        Neighbour to = neighbour(slot);
        if (to == null || to.isStuck) {
            return false;
        }
        QueuePairParameters p = owner.parameters;
        Opening opening = memory.opening(asked.rkey(), p.protectionDomain, p.qpn);
        if (opening == null) {
            owner.refusals += memory.isResting(asked.rkey()) ? 0 : 1; // a peer that names what was closed is only late
            return false;
        }
        int rights = opening.access() & p.access;
        long length = opening.memory().byteSize();
        if (length == 0) {
            return false;
        }
        MemoryFiles.Place place = files.find(opening.memory().address(), length);
        MemoryFiles.File file = place == null ? null : place.file();
        long mark = place == null && LastingMemory.is(opening.memory()) ? ProcessMark.address() : 0;
        if (file == null && mark == 0) {
            return false;
        }
        rights &= file == null ? OF_PROCESS : file.isWritable() ? ~0 : ~CHANGES;
        Given given = rights == 0 ? null : given(owner, to, asked, opening.region());
        if (given == null) {
            return false;
        }
        var answer = new GrantMessage(
                Kind.GIVEN,
                given.asker,
                given.owner,
                given.rkey,
                given.index,
                given.value,
                opening.address(),
                length,
                rights,
                file == null ? GrantMessage.NO_FILE : file.number(),
                file == null ? 0 : file.bytes(),
                file != null && file.isWritable(),
                place == null ? opening.memory().address() : place.offset(),
                mark);
        if (tell(to, answer, file)) {
            return true;
        }
        GrantPage.withdraw(to.own, given.index);
        forget(given);
        return false;
    }

    private static boolean isPeer(QueuePairParameters p, int slot, int asker) {
        return p.destinationQpn == asker && GrantMessage.slot(asker) == slot;
    }

    private @Nullable Neighbour neighbour(int slot) {
        Neighbour there = bySlot.get(slot);
        if (there == null) {
            MemorySegment own = neighbours.ownPage(slot);
            MemorySegment theirs = neighbours.theirPage(slot);
            if (own.byteSize() < Neighbours.PAGE_BYTES || theirs.byteSize() < Neighbours.PAGE_BYTES) {
                return null;
            }
            there = new Neighbour(slot, own, theirs);
            bySlot.put(slot, there);
        }
        return there;
    }

    /// Returns the grant that the peer has for this key already, or a new grant; null when it has too many. The
    /// memory of a grant has not changed, or the grant would have been withdrawn.
    private @Nullable Given given(Owner owner, Neighbour to, GrantMessage asked, int region) {
        for (Given each : owner.given) {
            if (each.rkey == asked.rkey()) {
                return each;
            }
        }
        for (int i = 0; i < GRANTS_MAX; i++) {
            to.last = to.last % GRANTS_MAX + 1;
            if (to.given[to.last] == null) {
                if (++lastValue == 0) {
                    lastValue++;
                }
                var made = new Given(to, to.last, lastValue, asked.asker(), asked.owner(), asked.rkey(), region);
                to.given[made.index] = made;
                owner.given.add(made);
                byHandle.computeIfAbsent(made.rkey >>> 8, _ -> new ArrayList<>())
                        .add(made);
                GrantPage.give(to.own, made.index, made.value);
                return made;
            }
        }
        return null;
    }

    private boolean tell(Neighbour to, GrantMessage answer, MemoryFiles.@Nullable File file) {
        if (file == null || to.files.contains(file.number())) {
            return tell(to.slot, answer, -1);
        }
        int descriptor = file.share();
        if (descriptor < 0) {
            return false;
        }
        try {
            return tell(to.slot, answer, descriptor) && to.files.add(file.number());
        } finally {
            files.close(descriptor);
        }
    }

    private boolean tell(int slot, GrantMessage what, int descriptor) {
        what.write(message);
        return neighbours.tell(slot, message, descriptor);
    }

    // ---- withdrawing

    /// Withdraws all of these; false when a neighbour has stopped in the middle of an access.
    private boolean withdraw(List<Given> all, boolean tells) {
        if (all.isEmpty()) {
            return true;
        }
        for (Given given : all) {
            GrantPage.withdraw(given.to.own, given.index);
        }
        VarHandle.fullFence();
        boolean isIdle = true;
        for (Given given : all) {
            if (!awaitIdle(given.to, given.index)) {
                isIdle = false;
                left.add(given);
            }
            forget(given);
            if (tells) {
                var revoked =
                        GrantMessage.of(Kind.REVOKED, given.asker, given.owner, given.rkey, given.index, given.value);
                boolean _ = tell(given.to.slot, revoked, -1);
            }
        }
        return isIdle;
    }

    private boolean awaitIdle(Neighbour to, int index) {
        boolean isIdle = true;
        boolean interrupted = false;
        for (int i = 0; GrantPage.isBusy(to.theirs, index); i++) {
            if (i < SPINS && !to.isStuck) {
                Thread.onSpinWait();
                continue;
            }
            int parks = i - SPINS;
            if ((to.isStuck || parks % PARKS_BETWEEN_CHECKS == 0) && !neighbours.isThere(to.slot)) {
                break;
            }
            to.isStuck |= parks >= PARKS_MAX;
            if (to.isStuck) {
                isIdle = false;
                break;
            }
            pause.run();
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return isIdle;
    }

    private void forget(Given given) {
        given.to.given[given.index] = null;
        Owner owner = owners.get(given.owner);
        if (owner != null) {
            owner.given.remove(given);
        }
        List<Given> ofKey = byHandle.get(given.rkey >>> 8);
        if (ofKey != null && ofKey.remove(given) && ofKey.isEmpty()) {
            byHandle.remove(given.rkey >>> 8);
        }
    }

    /// Returns how many grants there are.
    synchronized int size() {
        return byHandle.values().stream().mapToInt(List::size).sum();
    }
}
