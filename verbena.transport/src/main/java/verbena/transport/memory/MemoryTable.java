package verbena.transport.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.transport.memory.UserMemory.Atomic;
import verbena.verbs.Access;

/// Decides which key may touch which memory (IBTA 10.6). The only code that touches user memory, by [UserMemory].
///
/// Every access returns a [MemoryVerdict]. It never throws, neither at a request of a peer nor at memory that
/// the application has freed. Regions are added by any thread. All else is done by an engine, and each engine
/// has a table of its own ([#forAnotherEngine()]) over the same keys. What ends or changes a region is done
/// while no engine works, so that afterwards nothing touches the memory any more. Windows are bound and unbound
/// by one engine while others work.
///
/// A table that shows bytes to programs in another way than at once extends it ([#store], [#load], [#atomic]).
public class MemoryTable {
    private static final int LOCAL_WRITE = Access.LOCAL_WRITE.bit();
    /// The 8 low bits of a key.
    private static final int VARIANT_MASK = 0xFF;

    private final RandomGenerator random;
    private final KeyTable<Keyed> keys;
    private final KeyWatches watches;
    private final WindowBinder windows;
    private final LongCopy longCopy;
    /// Memory that lasts as long as its region.
    private final UserMemory own = new JvmMemory();
    /// The access to memory of each [Reach].
    private final UserMemory[] memories;
    /// The value that the last atomic found.
    private long original;

    /// @param random unpredictable to peers
    /// @param limit regions and windows that can exist at once
    /// @param clock nanoseconds, monotonic
    public MemoryTable(RandomGenerator random, int limit, LongSupplier clock) {
        this(random, limit, clock, MemorySegment::copy);
    }

    /// Makes a table with a [LongCopy] of its own.
    public MemoryTable(RandomGenerator random, int limit, LongSupplier clock, LongCopy longCopy) {
        this(random, limit, clock, longCopy, new JvmMemory(), new JvmMemory());
    }

    /// Makes a table with a [LongCopy] and [UserMemory] of its own.
    ///
    /// @param programs for memory that was there when it was registered
    /// @param onDemand for memory that need not be there
    public MemoryTable(
            RandomGenerator random,
            int limit,
            LongSupplier clock,
            LongCopy longCopy,
            UserMemory programs,
            UserMemory onDemand) {
        this.longCopy = longCopy;
        this.memories = memories(own, programs, onDemand);
        this.random = random;
        this.keys = new KeyTable<>(random, 1, limit, clock);
        this.watches = new KeyWatches();
        this.windows = new WindowBinder(keys, watches);
    }

    /// Makes a table with the same regions and windows under the same keys.
    protected MemoryTable(MemoryTable other) {
        this.longCopy = other.longCopy;
        this.memories = memories(
                own,
                other.memories[Reach.PROGRAMS.ordinal()].forAnotherEngine(),
                other.memories[Reach.ON_DEMAND.ordinal()].forAnotherEngine());
        this.random = other.random;
        this.keys = other.keys;
        this.watches = other.watches;
        this.windows = other.windows;
    }

    private static UserMemory[] memories(UserMemory own, UserMemory programs, UserMemory onDemand) {
        return new UserMemory[] {own, programs, onDemand, new NoMemory()};
    }

    /// Makes a table with the same regions and windows under the same keys, for one more engine.
    public MemoryTable forAnotherEngine() {
        return new MemoryTable(this);
    }

    // ---- any thread

    /// Gives `keyed` a key, 32 random bits of which no other key shares the upper 24; false when the limit is
    /// reached.
    public synchronized boolean add(Keyed keyed) {
        int variant = random.nextInt() & VARIANT_MASK;
        int handle = keys.add(keyed);
        if (handle < 0) {
            return false;
        }
        keyed.key = handle << 8 | variant;
        return true;
    }

    /// Notifies `watch` of all keys that end or change, in this table and in those of the other engines.
    public void watch(KeyWatch watch) {
        watches.add(watch);
    }

    /// Returns the number of regions and windows.
    public int size() {
        return keys.size();
    }

    // ---- engine

    /// Removes a region or window, while no engine works; its key is not used again soon.
    ///
    /// @return false when a peer may still use the memory, which must not be used for anything else then
    ///     ([KeyWatch#onEnded])
    public boolean remove(Keyed keyed) {
        keys.remove(keyed.key >>> 8);
        if (keyed instanceof Window window) {
            window.rebind(window.binding(), null);
        }
        return watches.ended(keyed.key);
    }

    /// Gives a region other rights and another protection domain, while no engine works; the key stays.
    public void reregister(Region region, int protectionDomain, int access) {
        region.reregister(protectionDomain, access);
        boolean _ = watches.ended(region.key);
    }

    /// Returns the memory that `rkey` opens to the peer of queue pair `qpn` of `domain`; null when it opens
    /// nothing. The memory has no bytes where only this table may use it.
    public @Nullable Opening opening(int rkey, int domain, int qpn) {
        Keyed keyed = find(rkey);
        if (keyed == null || keyed.protectionDomain != domain) {
            return null;
        }
        if (keyed instanceof Region region) {
            return new Opening(region.iova, region.access & WindowBinder.REMOTE, region.open(), region.key);
        }
        Window window = (Window) keyed;
        Window.Binding binding = window.binding();
        if (binding == null || binding.key() != rkey || (window.type == 2 && binding.qpn() != qpn)) {
            return null;
        }
        Region region = binding.region();
        return new Opening(
                binding.zeroBased() ? 0 : binding.address(),
                binding.access(),
                region.reach.isOpen
                        ? region.memory.asSlice(binding.address() - region.iova, binding.length())
                        : MemorySegment.NULL,
                region.key);
    }

    /// Checks whether a peer's request through queue pair `qpn` of `domain` may use `rkey` for these bytes with all
    /// the rights of `access`. A request for no bytes is not checked (IBTA C9-88).
    public MemoryVerdict checkRemote(int rkey, int domain, int qpn, long address, long bytes, int access) {
        return checkRemote(find(rkey), rkey, domain, qpn, address, bytes, access);
    }

    private MemoryVerdict checkRemote(
            @Nullable Keyed keyed, int rkey, int domain, int qpn, long address, long bytes, int access) {
        if (keyed == null) {
            return MemoryVerdict.NO_SUCH_KEY;
        }
        if (keyed.protectionDomain != domain) {
            return MemoryVerdict.WRONG_DOMAIN;
        }
        if (keyed instanceof Window window) {
            Window.Binding binding = window.binding();
            checked = binding;
            if (binding == null || binding.key() != rkey) {
                return MemoryVerdict.NOT_BOUND;
            }
            if (window.type == 2 && binding.qpn() != qpn) {
                return MemoryVerdict.WRONG_QUEUE_PAIR;
            }
            if ((binding.access() & access) != access) {
                return MemoryVerdict.NO_RIGHT;
            }
            long from = binding.zeroBased() ? address : address - binding.address();
            return (binding.zeroBased() || Long.compareUnsigned(address, binding.address()) >= 0)
                            && bytes >= 0
                            && bytes <= binding.length()
                            && Long.compareUnsigned(from, binding.length() - bytes) <= 0
                    ? MemoryVerdict.OK
                    : MemoryVerdict.OUT_OF_BOUNDS;
        }
        Region region = (Region) keyed;
        if ((region.access & access) != access) {
            return MemoryVerdict.NO_RIGHT;
        }
        return region.contains(address, bytes) ? MemoryVerdict.OK : MemoryVerdict.OUT_OF_BOUNDS;
    }

    /// Returns whether a region or window that had this key was closed not long ago: a peer that names it may only
    /// be late.
    public boolean isResting(int rkey) {
        return keys.isResting(rkey >>> 8);
    }

    /// Copies a peer's bytes into memory that [#checkRemote] has allowed at the message's start; the key is looked
    /// up again, because it may have been withdrawn since.
    public MemoryVerdict write(
            int rkey, int domain, int qpn, long address, MemorySegment from, long offset, int bytes, int access) {
        Keyed keyed = find(rkey);
        MemoryVerdict verdict = checkRemote(keyed, rkey, domain, qpn, address, bytes, access);
        if (verdict != MemoryVerdict.OK) {
            return verdict;
        }
        return store(from, offset, targetOffset(keyed, address), bytes);
    }

    /// Copies memory for a peer into `to`; see [#write].
    public MemoryVerdict read(
            int rkey, int domain, int qpn, long address, MemorySegment to, long offset, int bytes, int access) {
        Keyed keyed = find(rkey);
        MemoryVerdict verdict = checkRemote(keyed, rkey, domain, qpn, address, bytes, access);
        if (verdict != MemoryVerdict.OK) {
            return verdict;
        }
        return load(targetOffset(keyed, address), to, offset, bytes);
    }

    /// Adds to 8 bytes that [#checkRemote] has allowed, natively ordered, wrapping; [#original()] is the value
    /// before.
    public MemoryVerdict fetchAdd(int rkey, long address, long add) {
        return atomic(Atomic.ADD, rkey, address, add, 0);
    }

    /// Replaces 8 bytes that [#checkRemote] has allowed by `swap` if they equal `compare`; [#original()] is the
    /// value before.
    public MemoryVerdict compareSwap(int rkey, long address, long compare, long swap) {
        return atomic(Atomic.COMPARE_AND_SWAP, rkey, address, swap, compare);
    }

    /// Sets 8 bytes that [#checkRemote] has allowed to a natively ordered value, all at once.
    public MemoryVerdict atomicWrite(int rkey, long address, long value) {
        return atomic(Atomic.STORE, rkey, address, value, 0);
    }

    /// Makes all earlier writes visible to every thread. When `access` has
    /// [Access#FLUSH_PERSISTENT], it is also in the mapped file (`MemorySegment.force`), which takes as long as the
    /// disk does.
    ///
    /// @param whole all of the region instead of the range
    /// @param access the rights that are asked for
    public MemoryVerdict flush(int rkey, int domain, int qpn, long address, long bytes, boolean whole, int access) {
        long from = address;
        long length = bytes;
        if (whole && find(rkey) instanceof Region region) {
            from = region.iova;
            length = region.length;
        }
        Keyed keyed = find(rkey);
        MemoryVerdict verdict = checkRemote(keyed, rkey, domain, qpn, from, length, access);
        if (verdict != MemoryVerdict.OK) {
            return verdict;
        }
        VarHandle.fullFence();
        if ((access & Access.FLUSH_PERSISTENT.bit()) == 0 || length == 0) {
            return MemoryVerdict.OK;
        }
        long at = targetOffset(keyed, from);
        try {
            target.asSlice(at, length).force();
            return MemoryVerdict.OK;
        } catch (RuntimeException | InternalError e) { // a disk that fails is one of them
            return MemoryVerdict.GONE;
        }
    }

    /// Called before the completion of a request, or of a receive, can be seen: the bytes that it promises are
    /// there.
    public void completing(boolean isReceive) {}

    /// Returns the value that the last atomic found.
    public long original() {
        return original;
    }

    /// Checks whether a request of `domain` may use all entries of the list, for writing into them or only for
    /// reading.
    public MemoryVerdict checkLocal(ScatterList list, int domain, boolean write) {
        for (int i = 0; i < list.count; i++) {
            MemoryVerdict verdict = checkLocal(find(list.lkeys[i]), domain, list.addresses[i], list.length(i), write);
            if (verdict != MemoryVerdict.OK) {
                return verdict;
            }
        }
        return MemoryVerdict.OK;
    }

    /// Explains the error in a list, in words: the entry and the reason.
    ///
    /// @param verdict what an access to it was answered with
    public String explain(ScatterList list, int domain, boolean write, MemoryVerdict verdict) {
        for (int i = 0; i < list.count; i++) {
            MemoryVerdict ofThis = checkLocal(find(list.lkeys[i]), domain, list.addresses[i], list.length(i), write);
            if (ofThis == verdict) {
                return "scatter/gather entry " + (i + 1) + " of " + list.count + ", " + list.length(i) + " bytes at 0x"
                        + Long.toHexString(list.addresses[i]) + " with lkey 0x" + Integer.toHexString(list.lkeys[i])
                        + ": " + verdict.explanation();
            }
        }
        return "a scatter/gather entry: " + verdict.explanation();
    }

    /// Copies `bytes` of the list's memory from position `position` on into `to`.
    public MemoryVerdict gather(ScatterList list, int domain, long position, MemorySegment to, long offset, int bytes) {
        return walk(list, domain, position, to, offset, bytes, false);
    }

    /// Copies `bytes` of `from` into the list's memory from position `position` on.
    public MemoryVerdict scatter(
            ScatterList list, int domain, long position, MemorySegment from, long offset, int bytes) {
        return walk(list, domain, position, from, offset, bytes, true);
    }

    /// Finds memory that a peer may use, for the operating system to read or write: [#located()]. See
    /// [#checkRemote]. It has no bytes where only this table may use it ([#locatedBytes()]).
    public MemoryVerdict locate(int rkey, int domain, int qpn, long address, long bytes, int access) {
        Keyed keyed = find(rkey);
        MemoryVerdict verdict = checkRemote(keyed, rkey, domain, qpn, address, bytes, access);
        if (verdict != MemoryVerdict.OK) {
            return verdict;
        }
        locatedOffset = targetOffset(keyed, address);
        return located(bytes);
    }

    /// Finds the memory of the list's entry that position `position` lies in, from there to the entry's end: see
    /// [#located()].
    ///
    /// @param write whether it is to be written
    public MemoryVerdict locate(ScatterList list, int domain, long position, boolean write) {
        long skip = position;
        for (int i = 0; i < list.count; i++) {
            long length = list.length(i);
            if (skip < length) {
                long address = list.addresses[i] + skip;
                long left = length - skip;
                Keyed keyed = find(list.lkeys[i]);
                MemoryVerdict verdict = checkLocal(keyed, domain, address, left, write);
                if (verdict != MemoryVerdict.OK) {
                    return verdict;
                }
                locatedOffset = targetOffset(keyed, address);
                return located(left);
            }
            skip -= length;
        }
        return MemoryVerdict.TOO_SHORT;
    }

    /// Returns the whole memory segment in which `locate` found something. A caller that hands it to the operating
    /// system has to keep its arena open meanwhile.
    public MemorySegment located() {
        return target;
    }

    /// Returns the offset in [#located()] at which it begins.
    public long locatedOffset() {
        return locatedOffset;
    }

    /// Returns the number of its bytes; 0 when only this table may use them.
    public long locatedBytes() {
        return locatedBytes;
    }

    private MemoryVerdict located(long bytes) {
        locatedBytes = reach.isOpen ? bytes : 0;
        return target.scope().isAlive() ? MemoryVerdict.OK : MemoryVerdict.GONE;
    }

    /// Binds a window (IBTA 10.6.6.2, ibv_bind_mw(3)); no bytes unbind a type 1 window.
    ///
    /// @param variant whose low 8 bits the window's new key gets
    public MemoryVerdict bind(
            Window window, int variant, Region region, long address, long bytes, int access, int domain, int qpn) {
        return windows.bind(window, variant, region, address, bytes, access, domain, qpn);
    }

    /// Withdraws the type 2 window of this key (local invalidate, SEND with invalidate).
    public MemoryVerdict invalidate(int rkey, int domain, int qpn) {
        return windows.invalidate(rkey, domain, qpn);
    }

    // ---- leaves

    /// The binding that the last [#checkRemote] of a window's key looked at.
    private Window.@Nullable Binding checked;

    /// The memory that the last [#targetOffset] found.
    private MemorySegment target = MemorySegment.NULL;
    /// The kind of memory that it is.
    private Reach reach = Reach.PROGRAMS;
    // Of the last [#locate].
    private long locatedOffset;
    private long locatedBytes;

    private @Nullable Keyed find(int key) {
        return Keyed.find(keys, key);
    }

    /// Sets [#target] and returns the offset in it; after a check that returned OK.
    private long targetOffset(@Nullable Keyed keyed, long address) {
        Region region;
        long at = address;
        if (keyed instanceof Window window) {
            Window.Binding binding = window.binding();
            // What another engine has done since the check counts like a closed arena.
            region = binding == null || binding != checked ? null : binding.region();
            at = binding != null && binding.zeroBased() ? binding.address() + address : address;
        } else {
            region = (Region) keyed;
        }
        if (region == null) {
            target = MemorySegment.NULL;
            reach = Reach.PROGRAMS;
            return 0;
        }
        target = region.memory;
        reach = region.reach;
        return at - region.iova;
    }

    private static MemoryVerdict checkLocal(
            @Nullable Keyed keyed, int domain, long address, long bytes, boolean write) {
        if (bytes == 0) {
            return MemoryVerdict.OK;
        }
        if (!(keyed instanceof Region region)) {
            return MemoryVerdict.NO_SUCH_KEY;
        }
        if (region.protectionDomain != domain) {
            return MemoryVerdict.WRONG_DOMAIN;
        }
        if (write && (region.access & LOCAL_WRITE) == 0) {
            return MemoryVerdict.NO_RIGHT;
        }
        return region.contains(address, bytes) ? MemoryVerdict.OK : MemoryVerdict.OUT_OF_BOUNDS;
    }

    private MemoryVerdict walk(
            ScatterList list, int domain, long position, MemorySegment frame, long offset, int bytes, boolean write) {
        long skip = position;
        long at = offset;
        int left = bytes;
        for (int i = 0; i < list.count && left > 0; i++) {
            long length = list.length(i);
            if (skip >= length) {
                skip -= length;
                continue;
            }
            int n = (int) Math.min(left, length - skip);
            long address = list.addresses[i] + skip;
            Keyed keyed = find(list.lkeys[i]);
            MemoryVerdict verdict = checkLocal(keyed, domain, address, n, write);
            if (verdict != MemoryVerdict.OK) {
                return verdict;
            }
            long in = targetOffset(keyed, address);
            verdict = write ? store(frame, at, in, n) : load(in, frame, at, n);
            if (verdict != MemoryVerdict.OK) {
                return verdict;
            }
            skip = 0;
            at += n;
            left -= n;
        }
        return left == 0 ? MemoryVerdict.OK : MemoryVerdict.TOO_SHORT;
    }

    /// Carries out an atomic on 8 bytes that [#checkRemote] has allowed.
    protected MemoryVerdict atomic(Atomic which, int rkey, long address, long value, long expected) {
        long at = targetOffset(find(rkey), address);
        UserMemory by = memories[reach.ordinal()];
        boolean isDone;
        if ((target.address() + at & 7) == 0 && reach != Reach.ON_DEMAND) {
            isDone = by.atomic(which, target, at, value, expected);
        } else {
            // The IOVA is aligned and the memory is not, or it need not be there and is read and written: atomic
            // among this device's queue pairs, which is what ATOMIC_HCA promises, because engines come here one at
            // a time.
            synchronized (keys) {
                isDone = by.atomic(which, target, at, value, expected);
            }
        }
        original = by.original();
        return isDone ? MemoryVerdict.OK : MemoryVerdict.GONE;
    }

    /// Copies arrived bytes into the memory that the last check has found ([#located()]), from `at` on.
    protected MemoryVerdict store(MemorySegment from, long fromOffset, long at, int bytes) {
        return copy(from, fromOffset, target, at, bytes, reach);
    }

    /// Copies bytes of the memory that the last check has found ([#located()]), from `at` on, into `to`.
    protected MemoryVerdict load(long at, MemorySegment to, long toOffset, int bytes) {
        return copy(target, at, to, toOffset, bytes, reach);
    }

    /// Returns what may happen to [#located()] while its key is there.
    protected final Reach reach() {
        return reach;
    }

    /// Finds the memory that a key opens, which a check has allowed ([#located()]); returns the offset in it.
    protected final long find(int rkey, long address) {
        return targetOffset(find(rkey), address);
    }

    /// Returns whether bytes that are written by this key may become visible in any order
    /// ([Access#RELAXED_ORDERING]).
    protected final boolean isRelaxed(int rkey) {
        Keyed keyed = find(rkey);
        Window.Binding binding = keyed instanceof Window window ? window.binding() : null;
        Region region = binding != null ? binding.region() : keyed instanceof Region itself ? itself : null;
        return region != null && (region.access & Access.RELAXED_ORDERING.bit()) != 0;
    }

    /// Copies user memory; all reads and writes in bulk are here. The other end is the engine's, and lasts.
    ///
    /// @param reach what may happen to the user memory
    protected final MemoryVerdict copy(
            MemorySegment from, long fromOffset, MemorySegment to, long toOffset, int bytes, Reach reach) {
        if (reach == Reach.LASTING && bytes >= LongCopy.BYTES_MIN) {
            longCopy.copy(from, fromOffset, to, toOffset, bytes);
            return MemoryVerdict.OK;
        }
        UserMemory by = memories[reach.ordinal()];
        return by.copy(from, fromOffset, to, toOffset, bytes) ? MemoryVerdict.OK : MemoryVerdict.GONE;
    }
}
