package verbena.nic.shm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.nic.shm.GrantMessage.Kind;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.near.PeerMemory;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;

/// The grants that a queue pair holds of its peer: with them, it carries out its one-sided requests by itself. It
/// asks for the grant of a key when a request needs one, which goes by packets meanwhile. For the owner of the
/// engine.
///
/// Grants are kept in a table by key, which grows to a limit. A key that finds its places taken by others that are
/// in use goes by packets.
final class GrantsHeld implements PeerMemory {
    /// The pages that are shared with a neighbour.
    ///
    /// @param own written here
    /// @param theirs written by the neighbour
    /// @param process of the neighbour
    record Pages(MemorySegment own, MemorySegment theirs, PeerProcess process) {}

    /// The part of the link's other grants that those of a queue pair need.
    interface Access {
        /// Called when the state of a queue pair or its access flags have changed.
        void onModified(GrantsHeld of);

        long nowNanos();

        /// Returns the pages shared with a neighbour; null when there is no such neighbour.
        @Nullable
        Pages pages(int slot);

        DirectCopy copy();

        ProcessCopy processCopy();

        /// Sends a message; false when there is no such neighbour, or no room now.
        boolean tell(int slot, GrantMessage what);

        /// Returns the file, as [MappedFiles#file] does.
        @Nullable
        MappedFile file(int slot, GrantMessage of, int descriptor);

        /// Returns whether a file of a neighbour is mapped.
        boolean isMapped(int slot, int file);

        /// Gives up a grant; its file is unmapped when it was the last one in it.
        void release(Grant grant);
    }

    /// The time before a key is asked for again, when it was declined or its question has no answer.
    static final long AGAIN_NANOS = 10_000_000;
    /// The same time when the peer gave a grant that cannot be used here: its file is too large, for example.
    static final long USELESS_NANOS = 1_000_000_000;
    /// The largest number of grants held at once.
    static final int GRANTS_MAX = 1_024;
    /// The number of places at first.
    private static final int GRANTS_FEW = 128;

    /// The number of places that a key can be at.
    private static final int WAYS = 4;
    /// 2^32 divided by the golden ratio: spreads keys (Knuth, volume 3, 6.4).
    private static final int SPREAD = 0x9E37_79B1;

    private static final @Nullable Grant[] NO_GRANTS = {};
    private static final long NOWHERE = -1;

    final QueuePairParameters parameters;
    private final Access access;
    /// The neighbour that the peer belongs to.
    private int slot;
    /// Made for the first request.
    private @Nullable Grant[] grants = NO_GRANTS;
    private @Nullable Grant last;
    /// The number of keys that have found no place since the table has grown.
    private int misses;

    /// The request that is in the middle, and how much of it is done.
    private long position = NOWHERE;
    private long done;

    GrantsHeld(Access access, QueuePairParameters parameters) {
        this.access = access;
        this.parameters = parameters;
    }

    /// Handles a change of the queue pair's state or access flags: withdraws the peer's grants. Gives back the own
    /// grants of a queue pair that is connected no more. Waits until the peer is not in the middle of an access.
    @Override
    public void onModified() {
        access.onModified(this);
    }

    // ---- requests

    @Override
    public Progress execute(long at, SendRequest request, QueuePairParameters ofQueuePair, MemoryTable memory) {
        Grant grant = last;
        if (grant == null || grant.rkey != request.rkey) {
            grant = find(request.rkey);
        }
        if (grant == null || !grant.isHeld()) {
            ask(grant, request.rkey);
            return byPackets();
        }
        grant.isUsed = true;
        last = grant;
        long bytes = request.operation == SendOperation.ATOMIC_WRITE ? Long.BYTES : request.bytes();
        if (!grant.allows(request.operation, request.remoteAddress, bytes)) {
            return byPackets();
        }
        if (at != position) {
            position = at;
            done = 0;
        }
        Progress progress = use(grant, request, memory);
        return progress == Progress.BY_PACKETS ? byPackets() : progress;
    }

    @Override
    public boolean isReady(SendRequest request) {
        Grant grant = find(request.rkey);
        if (grant == null || !grant.isHeld()) {
            ask(grant, request.rkey);
            return false;
        }
        boolean isWord = request.operation == SendOperation.ATOMIC_WRITE;
        return grant.allows(request.operation, request.remoteAddress, isWord ? Long.BYTES : request.bytes())
                && (grant.isMapped() || !isWord);
    }

    private Progress byPackets() {
        position = NOWHERE;
        return Progress.BY_PACKETS;
    }

    /// Carries out a request by a grant. The owner of the memory waits meanwhile, so this is short.
    private Progress use(Grant grant, SendRequest request, MemoryTable memory) {
        Pages pages = access.pages(slot);
        if (pages == null) {
            return Progress.BY_PACKETS;
        }
        boolean lasts = false;
        Progress progress = Progress.BY_PACKETS;
        GrantPage.begin(pages.own(), grant.index());
        try {
            lasts = GrantPage.state(pages.theirs(), grant.index()) == grant.value();
            if (lasts) {
                progress = grant.isMapped()
                        ? useMapped(grant, request, memory)
                        : useOfProcess(grant, request, memory, pages.process());
            }
        } finally {
            GrantPage.end(pages.own());
        }
        if (!lasts) {
            access.release(grant); // it was withdrawn; the next request asks again
        } else if (!grant.isMapped() && !pages.process().isOpen()) {
            giveBack(grant);
            grant.asked(access.nowNanos() + USELESS_NANOS);
        }
        return progress;
    }

    private Progress useMapped(Grant grant, SendRequest request, MemoryTable memory) {
        DirectCopy copy = access.copy();
        long offset = grant.offset(request.remoteAddress);
        Progress progress =
                copy.execute(request, parameters.protectionDomain, memory, grant.memory(), offset, done, grant.copies);
        done = copy.done();
        return progress;
    }

    private Progress useOfProcess(Grant grant, SendRequest request, MemoryTable memory, PeerProcess process) {
        if (!process.isOpen()) {
            return Progress.BY_PACKETS;
        }
        ProcessCopy copy = access.processCopy();
        long at = grant.place() + grant.offset(request.remoteAddress);
        Progress progress = copy.execute(request, parameters.protectionDomain, memory, process, grant.mark(), at, done);
        done = copy.done();
        return progress;
    }

    // ---- asking

    private void ask(@Nullable Grant known, int rkey) {
        long now = access.nowNanos();
        Grant grant = known == null ? place(rkey, now) : known;
        if (grant == null || grant.waits(now)) {
            return;
        }
        slot = GrantMessage.slot(parameters.destinationQpn);
        grant.asked(now + AGAIN_NANOS);
        boolean _ = access.tell(
                slot, GrantMessage.asked(parameters.qpn, parameters.destinationQpn, rkey, parameters.pathMtu));
    }

    private @Nullable Grant find(int rkey) {
        if (grants.length == 0) {
            return null;
        }
        int first = firstPlace(rkey);
        for (int i = first; i < first + WAYS; i++) {
            Grant there = grants[i];
            if (there != null && there.rkey == rkey) {
                return there;
            }
        }
        return null;
    }

    /// Returns a place for this key; null when other keys have all its places. A grant that was not used since
    /// another key wanted its place makes room.
    private @Nullable Grant place(int rkey, long now) {
        if (grants.length == 0) {
            grants = new @Nullable Grant[GRANTS_FEW];
        }
        int first = firstPlace(rkey);
        for (int i = first; i < first + WAYS; i++) {
            Grant there = grants[i];
            if (there == null || !(there.isUsed || there.waits(now))) {
                if (there != null) {
                    giveBack(there);
                }
                Grant fresh = new Grant(rkey);
                grants[i] = fresh;
                return fresh;
            }
            there.isUsed = false;
        }
        if (++misses > grants.length / 2 && grants.length < GRANTS_MAX) {
            grow();
        }
        return null;
    }

    /// Doubles the places. The keys of each place then have two places, so all find theirs.
    private void grow() {
        @Nullable Grant[] before = grants;
        grants = new @Nullable Grant[2 * before.length];
        misses = 0;
        for (Grant each : before) {
            if (each != null) {
                int at = firstPlace(each.rkey);
                while (grants[at] != null) {
                    at++;
                }
                grants[at] = each;
            }
        }
    }

    private int firstPlace(int rkey) {
        int setBits = Integer.numberOfTrailingZeros(grants.length / WAYS);
        return ((rkey * SPREAD) >>> (Integer.SIZE - setBits)) * WAYS;
    }

    private void giveBack(Grant grant) {
        if (grant.isHeld()) {
            boolean _ = access.tell(
                    slot,
                    GrantMessage.of(
                            Kind.RETURNED,
                            parameters.qpn,
                            parameters.destinationQpn,
                            grant.rkey,
                            grant.index(),
                            grant.value()));
            access.release(grant);
        }
    }

    // ---- what the peer's device says

    /// Holds a grant that was asked for; false when it was not, or is of no use.
    boolean onGiven(int from, GrantMessage given, int descriptor) {
        Grant grant = find(given.rkey());
        if (grant == null || from != slot || given.owner() != parameters.destinationQpn) {
            return false;
        }
        if (!grant.isAsked()) {
            return grant.isHeld(given); // it was asked for twice
        }
        grant.asked(access.nowNanos() + USELESS_NANOS);
        if (given.index() < 1 || given.index() >= GrantPage.WORDS || given.value() == 0) {
            return false;
        }
        if (given.isInFile() && descriptor < 0 && !access.isMapped(from, given.file())) {
            grant.asked(access.nowNanos()); // its file was unmapped here meanwhile: the next request asks again
            return false;
        }
        MappedFile file = given.isInFile() ? access.file(from, given, descriptor) : null;
        if (given.isInFile() ? file == null : !mayUse(given, from)) {
            return false;
        }
        grant.hold(given, file);
        return true;
    }

    /// Returns whether memory of the peer's process can be used. It may be anywhere in that process: an access to
    /// memory that is not there fails.
    private boolean mayUse(GrantMessage given, int from) {
        Pages pages = access.pages(from);
        return pages != null && pages.process().isOpen() && given.length() > 0;
    }

    void onRevoked(int from, GrantMessage revoked) {
        Grant grant = find(revoked.rkey());
        if (grant != null && from == slot && grant.isHeld(revoked)) {
            access.release(grant);
        }
    }

    /// Gives all back that it holds, and forgets what was declined: the next peer is another one.
    void giveAllBack() {
        for (Grant grant : grants) {
            if (grant != null) {
                giveBack(grant);
            }
        }
        forgetAll();
    }

    /// Drops all grants of a neighbour that is gone.
    void onGone(int gone) {
        if (gone == slot) {
            for (Grant grant : grants) {
                if (grant != null) {
                    MappedFile _ = grant.release();
                }
            }
            forgetAll();
        }
    }

    private void forgetAll() {
        grants = NO_GRANTS;
        misses = 0;
        last = null;
        position = NOWHERE;
    }
}
