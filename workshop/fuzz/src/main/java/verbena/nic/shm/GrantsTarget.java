package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.fuzz.Contract;
import verbena.fuzz.Input;
import verbena.nic.link.sharing.Neighbours;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Region;
import verbena.transport.near.PeerMemory.Progress;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;

/// The messages of a hostile neighbour about grants, and its writes into its page. Meanwhile this side makes
/// requests to it, is asked for grants, and closes a region. The input lists the steps, in turn. It is in this
/// package because that is where grants are.
public final class GrantsTarget {
    private static final int SLOT = 2;
    private static final int OWN_QPN = 1 << 16 | 0x10;
    private static final int PEER_QPN = SLOT << 16 | 0x11;
    private static final int DOMAIN = 7;
    private static final int BYTES = 4_096;
    private static final int ALL = Access.bits(Access.remoteAll()) | Access.MW_BIND.bit();
    private static final int REMOTE_KEY = 0x0102_0304;
    private static final byte SECRET = 0x5A;
    private static final SendOperation[] OPERATIONS = {
        SendOperation.WRITE,
        SendOperation.READ,
        SendOperation.FETCH_ADD,
        SendOperation.COMPARE_SWAP,
        SendOperation.ATOMIC_WRITE
    };

    private static final MemorySegment OWN_PAGE = page();
    private static final MemorySegment THEIR_PAGE = page();
    /// The memory that the neighbour claims to grant, between memory that it does not grant.
    private static final MemorySegment THEIR_FILE = Arena.global().allocate(3L * BYTES, 4_096);
    /// A region in a file, between memory that no peer has a key of.
    private static final MemorySegment OWN_FILE = Arena.global().allocate(3L * BYTES, 4_096);
    private static final MemorySegment LOCAL = Arena.global().allocate(BYTES, 4_096);

    private GrantsTarget() {}

    private static MemorySegment page() {
        return Arena.global().allocate(Neighbours.PAGE_BYTES, 4_096);
    }

    public static void run(byte[] data) {
        OWN_PAGE.fill((byte) 0);
        THEIR_PAGE.fill((byte) 0);
        THEIR_FILE.fill(SECRET);
        OWN_FILE.fill(SECRET);
        new Case(new Input(data)).run();
        for (int i = 0; i < BYTES; i++) {
            Contract.holds(isSecret(THEIR_FILE, i) && isSecret(THEIR_FILE, 2 * BYTES + i), "outside of the file: " + i);
            Contract.holds(isSecret(OWN_FILE, i) && isSecret(OWN_FILE, 2 * BYTES + i), "outside of the region: " + i);
        }
    }

    private static boolean isSecret(MemorySegment memory, int at) {
        return memory.get(ValueLayout.JAVA_BYTE, at) == SECRET;
    }

    /// A run of one input.
    private static final class Case implements Neighbours, MemoryFiles {
        private final Input in;
        private final MemoryTable table = new MemoryTable(new SplittableRandom(1), 16, () -> 0);
        private final DirectAccess access;
        private final Region lent = new Region(DOMAIN, OWN_FILE.asSlice(BYTES, BYTES), 0x1000, ALL);
        private final Region local = new Region(DOMAIN, LOCAL, 0, ALL);
        private final QueuePairParameters parameters = new QueuePairParameters(OWN_QPN);
        private final GrantsHeld held;
        private final Set<Integer> open = new HashSet<>();
        private int descriptors = 100;
        private int mapped;
        private long now;
        private long position;

        Case(Input in) {
            this.in = in;
            access = new DirectAccess(this, this, table, new SplittableRandom(1), () -> now);
            boolean _ = table.add(lent) && table.add(local);
            parameters.protectionDomain = DOMAIN;
            parameters.access = ALL;
            parameters.readsServedMax = 1;
            parameters.destinationQpn = PEER_QPN;
            parameters.state = QpState.RTS;
            held = access.queuePair(parameters);
            held.onModified();
        }

        void run() {
            while (in.hasMore()) {
                switch (in.u8() % 8) {
                    case 0, 1 -> tellMenu();
                    case 2 -> tell(in.take(GrantMessage.BYTES + 8));
                    case 3 -> THEIR_PAGE.set(ValueLayout.JAVA_LONG, in.below(Neighbours.PAGE_BYTES / 8) * 8L, number());
                    case 4, 5 -> request();
                    case 6 -> now += GrantsHeld.AGAIN_NANOS;
                    default -> held.onModified();
                }
                Contract.holds(access.givenNow() <= GrantsGiven.GRANTS_MAX, "grants without end");
                Contract.holds(mapped <= MappedFiles.FILES_MAX, "files without end");
            }
            access.onGone(SLOT);
            Contract.equal(0, access.givenNow(), "grants of a neighbour that is gone");
            Contract.equal(0, mapped, "files of a neighbour that is gone");
            Contract.holds(open.isEmpty(), "descriptors stay open");
        }

        /// Sends a message with the right fields, except for some.
        private void tellMenu() {
            var told = new GrantMessage(
                    GrantMessage.Kind.values()[in.below(GrantMessage.Kind.values().length)],
                    in.below(8) == 0 ? (int) number() : in.bool() ? OWN_QPN : PEER_QPN,
                    in.below(8) == 0 ? (int) number() : in.bool() ? OWN_QPN : PEER_QPN,
                    in.bool() ? REMOTE_KEY : lent.key(),
                    in.below(4) == 0 ? (int) number() : 1 + in.below(3),
                    in.below(4),
                    in.below(4) == 0 ? number() : 0x1000,
                    in.below(4) == 0 ? number() : BYTES,
                    in.below(4) == 0 ? (int) number() : ALL,
                    in.below(3),
                    in.below(4) == 0 ? number() : BYTES,
                    in.below(8) != 0,
                    in.below(4) == 0 ? number() : 0,
                    0);
            MemorySegment said = MemorySegment.ofArray(new byte[GrantMessage.BYTES]);
            told.write(said);
            tell(said.toArray(ValueLayout.JAVA_BYTE));
        }

        private void tell(byte[] said) {
            int descriptor = in.bool() ? openOne() : -1;
            access.onTold(in.below(16) == 0 ? in.below(300) - 20 : SLOT, MemorySegment.ofArray(said), descriptor);
        }

        private long number() {
            return in.bool() ? in.i64() : in.u8();
        }

        private void request() {
            SendOperation operation = in.choice(OPERATIONS);
            SendRequest request = new SendQueue(1, 1, 8, Arena.ofAuto()).claim();
            request.begin(operation, 1);
            request.rkey = REMOTE_KEY;
            request.remoteAddress = in.below(4) == 0 ? number() : 0x1000 + in.below(BYTES);
            if (operation.takesEntries()) {
                request.scatter.add(local.key(), 0, in.bool() ? 8 : 1 + in.below(BYTES));
            }
            Progress progress = held.execute(position++, request, parameters, table);
            Contract.holds(progress != Progress.MORE, "a small request in pieces");
        }

        private int openOne() {
            open.add(++descriptors);
            return descriptors;
        }

        // ---- the link and the system

        @Override
        public void listener(Listener listener) {}

        @Override
        public boolean tell(int slot, MemorySegment told, int descriptor) {
            return in.below(8) != 1;
        }

        @Override
        public MemorySegment ownPage(int slot) {
            return slot == SLOT ? OWN_PAGE : MemorySegment.NULL;
        }

        @Override
        public MemorySegment theirPage(int slot) {
            return slot == SLOT ? THEIR_PAGE : MemorySegment.NULL;
        }

        /// Returns 0: the process is unknown, so that no input makes the kernel write into this process.
        @Override
        public int process(int slot) {
            return 0;
        }

        /// Returns false, so that the owner does not wait for a neighbour that claims for ever to be busy.
        @Override
        public boolean isThere(int slot) {
            return false;
        }

        @Override
        public @Nullable Place find(long address, long bytes) {
            long offset = address - OWN_FILE.address();
            return offset >= 0 && offset <= OWN_FILE.byteSize() - bytes ? new Place(new OwnFile(), offset) : null;
        }

        @Override
        @SuppressWarnings("restricted") // a mapping is an address without bounds
        public MemorySegment map(int descriptor, long bytes, boolean isWritable, Arena arena) {
            if (bytes > BYTES) {
                return MemorySegment.NULL;
            }
            mapped++;
            MemorySegment view =
                    MemorySegment.ofAddress(THEIR_FILE.address() + BYTES).reinterpret(bytes, arena, _ -> mapped--);
            return isWritable ? view : view.asReadOnly();
        }

        @Override
        public void close(int descriptor) {
            Contract.holds(open.remove(descriptor), "a descriptor that is closed twice");
        }

        private final class OwnFile implements File {
            @Override
            public int number() {
                return 1;
            }

            @Override
            public long bytes() {
                return OWN_FILE.byteSize();
            }

            @Override
            public boolean isWritable() {
                return true;
            }

            @Override
            public int share() {
                return openOne();
            }
        }
    }
}
