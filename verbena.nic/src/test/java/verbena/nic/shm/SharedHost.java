package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
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

/// Processes of one host, all in this one: each with a link, whose messages arrive when a test says so.
final class SharedHost implements AutoCloseable {
    static final int DOMAIN = 7;
    static final int ALL = Access.bits(Access.remoteAll()) | Access.MW_BIND.bit();
    private static final int FIRST_QPN = 0x10;

    final Arena arena = Arena.ofShared();
    private final Map<Integer, OneProcess> bySlot = new ConcurrentHashMap<>();
    private final Map<Integer, FakeFile> descriptors = new ConcurrentHashMap<>();
    private final AtomicInteger lastDescriptor = new AtomicInteger(100);
    private int lastFile = 40;
    private final AtomicLong nowNanos = new AtomicLong();

    /// Time passes.
    void pass(long nanos) {
        nowNanos.addAndGet(nanos);
    }

    /// Descriptors that are open.
    int open() {
        return descriptors.size();
    }

    /// A new descriptor of the file.
    int open(FakeFile file) {
        int descriptor = lastDescriptor.incrementAndGet();
        descriptors.put(descriptor, file);
        return descriptor;
    }

    @Override
    public void close() {
        arena.close();
    }

    /// A memory file.
    final class FakeFile implements MemoryFiles.File {
        final int number = ++lastFile;
        final MemorySegment memory;
        final boolean isWritable;
        boolean isShareable = true;

        FakeFile(long bytes, boolean isWritable) {
            this.memory = arena.allocate(bytes, 4096);
            this.isWritable = isWritable;
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public long bytes() {
            return memory.byteSize();
        }

        @Override
        public boolean isWritable() {
            return isWritable;
        }

        @Override
        public int share() {
            if (!isShareable) {
                return -1;
            }
            return open(this);
        }
    }

    /// A message on its way.
    record Arrival(int from, MemorySegment message, int descriptor) {}

    /// One process: its link, its memory and its queue pairs.
    final class OneProcess implements Neighbours, MemoryFiles {
        final int slot;
        final MemoryTable memory;
        final DirectAccess access;
        final ConcurrentLinkedDeque<Arrival> arriving = new ConcurrentLinkedDeque<>();
        final List<FakeFile> files = new ArrayList<>();
        final List<GrantMessage.Kind> heard = new ArrayList<>();
        /// Neighbours that are there.
        final Map<Integer, MemorySegment> pages = new HashMap<>();

        volatile boolean isAlive = true;
        boolean hasRoom = true;
        boolean refusesFiles;
        /// The number of the process that neighbours see.
        int number = (int) ProcessHandle.current().pid();
        int mapped;
        private int queuePairs;

        @Nullable
        Listener listener;

        OneProcess(int slot) {
            this.slot = slot;
            this.memory = new MemoryTable(new Random(slot), 4 * GrantsHeld.GRANTS_MAX, nowNanos::get);
            this.access = new DirectAccess(this, this, memory, new Random(slot), nowNanos::get);
            listener(access);
            bySlot.put(slot, this);
        }

        @Override
        public void listener(Listener to) {
            listener = to;
        }

        @Override
        public boolean tell(int to, MemorySegment message, int descriptor) {
            OneProcess receiver = bySlot.get(to);
            if (!hasRoom || receiver == null || !receiver.isAlive || !pages.containsKey(to)) {
                return false;
            }
            int duplicate = -1;
            if (descriptor >= 0) {
                duplicate = open(Objects.requireNonNull(descriptors.get(descriptor)));
            }
            receiver.arriving.add(
                    new Arrival(slot, MemorySegment.ofArray(message.toArray(ValueLayout.JAVA_BYTE)), duplicate));
            return true;
        }

        @Override
        public MemorySegment ownPage(int of) {
            return pages.getOrDefault(of, MemorySegment.NULL);
        }

        @Override
        public MemorySegment theirPage(int of) {
            OneProcess other = bySlot.get(of);
            return other == null ? MemorySegment.NULL : other.ownPage(slot);
        }

        @Override
        public int process(int of) {
            OneProcess other = bySlot.get(of);
            return other == null ? 0 : other.number;
        }

        @Override
        public boolean isThere(int of) {
            OneProcess other = bySlot.get(of);
            return other != null && other.isAlive;
        }

        @Override
        public @Nullable Place find(long address, long bytes) {
            for (FakeFile file : files) {
                long offset = address - file.memory.address();
                if (offset >= 0 && bytes > 0 && bytes <= file.bytes() - offset) {
                    return new Place(file, offset);
                }
            }
            return null;
        }

        @Override
        @SuppressWarnings("restricted") // a mapping is an address without bounds
        public MemorySegment map(int descriptor, long bytes, boolean isWritable, Arena in) {
            FakeFile file = descriptors.get(descriptor);
            if (refusesFiles || file == null || bytes > file.bytes() || (isWritable && !file.isWritable)) {
                return MemorySegment.NULL;
            }
            mapped++;
            MemorySegment view = MemorySegment.ofAddress(file.memory.address()).reinterpret(bytes, in, _ -> mapped--);
            return isWritable ? view : view.asReadOnly();
        }

        @Override
        public void close(int descriptor) {
            if (descriptors.remove(descriptor) == null) {
                throw new AssertionError("descriptor " + descriptor + " is not open");
            }
        }

        // ---- objects

        /// Memory of a region that peers may map.
        MemorySegment allocate(long bytes, boolean isWritable) {
            var file = new FakeFile(bytes, isWritable);
            files.add(file);
            return file.memory;
        }

        Region register(MemorySegment segment, int rights) {
            var region = new Region(DOMAIN, segment, segment.address(), rights);
            if (!memory.add(region)) {
                throw new AssertionError("there is room");
            }
            return region;
        }

        Region region(long bytes) {
            return register(allocate(bytes, true), ALL);
        }

        /// Over memory that is in no file and is not freed.
        Region foreign(long bytes) {
            return register(Arena.ofAuto().allocate(bytes, 4096), ALL);
        }

        /// One that is not connected.
        End queuePair() {
            return new End(this, slot << 16 | FIRST_QPN + queuePairs++);
        }

        // ---- what happens

        /// What is on its way arrives.
        void receive() {
            for (Arrival arrival = arriving.poll(); arrival != null; arrival = arriving.poll()) {
                try (Arena during = Arena.ofConfined()) {
                    MemorySegment message = during.allocate(arrival.message.byteSize());
                    message.copyFrom(arrival.message);
                    GrantMessage read = GrantMessage.read(message);
                    if (read != null) {
                        heard.add(read.kind());
                    }
                    listener.onTold(arrival.from, message, arrival.descriptor);
                }
            }
        }

        /// What is on its way is lost.
        void forgetArriving() {
            for (Arrival arrival = arriving.poll(); arrival != null; arrival = arriving.poll()) {
                if (arrival.descriptor >= 0) {
                    close(arrival.descriptor);
                }
            }
        }

        void die() {
            isAlive = false;
        }

        /// The link notices that the neighbour is gone.
        void lose(OneProcess other) {
            listener.onGone(other.slot);
            pages.remove(other.slot);
        }
    }

    /// A queue pair, and the requests of one test.
    final class End {
        final OneProcess process;
        final QueuePairParameters parameters;
        final GrantsHeld held;
        private long position;

        End(OneProcess process, int qpn) {
            this.process = process;
            this.parameters = new QueuePairParameters(qpn);
            parameters.protectionDomain = DOMAIN;
            parameters.access = ALL;
            parameters.readsServedMax = 1;
            this.held = process.access.queuePair(parameters);
        }

        void modify(QpState to) {
            parameters.state = to;
            held.onModified();
        }

        void connect(End to) {
            parameters.destinationQpn = to.parameters.qpn;
            modify(QpState.INIT);
            modify(QpState.RTR);
            modify(QpState.RTS);
        }

        /// A request that can be tried as often as a test likes.
        Request request(SendOperation operation, Region own, Region target, long offset, int bytes) {
            SendRequest request = new SendQueue(1, 4, 64, arena).claim();
            request.begin(operation, 1);
            request.rkey = target.key();
            request.remoteAddress = target.iova() + offset;
            if (operation.takesEntries()) {
                request.scatter.add(own.key(), own.iova(), bytes);
            }
            return new Request(this, request, position++);
        }

        Progress run(SendOperation operation, Region own, Region target, long offset, int bytes) {
            return request(operation, own, target, offset, bytes).run();
        }
    }

    record Request(End end, SendRequest request, long position) {
        /// Tries it once.
        Progress run() {
            return end.held.execute(position, request, end.parameters, end.process.memory);
        }
    }

    /// Two processes that have met.
    void meet(OneProcess a, OneProcess b) {
        a.pages.put(b.slot, arena.allocate(Neighbours.PAGE_BYTES, 4096));
        b.pages.put(a.slot, arena.allocate(Neighbours.PAGE_BYTES, 4096));
    }

    /// All messages arrive, and those that they bring about.
    void settle() {
        boolean isQuiet = false;
        while (!isQuiet) {
            isQuiet = true;
            for (OneProcess each : bySlot.values()) {
                isQuiet &= each.arriving.isEmpty();
                each.receive();
            }
        }
    }
}
