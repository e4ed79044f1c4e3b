package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.sharing.Neighbours;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;
import verbena.sim.explore.Strand;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.memory.Region;
import verbena.transport.memory.UserMemory;
import verbena.transport.memory.Window;
import verbena.transport.near.PeerMemory.Progress;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;

/// A process `a` that writes into memory of a process `b`, and `b`, which takes back what it has lent in every way
/// that there is. `a` may stop in the middle of any copy, for as long as it likes, or die there.
final class GrantsWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// The writer does not see that a grant is over.
        HIDES_THE_STATE,
        /// A neighbour that has stopped is taken for dead.
        TAKES_FOR_DEAD,
        /// A grant has more rights than its key.
        GIVES_ALL_RIGHTS,
        /// A descriptor that has come with a message stays open.
        KEEPS_A_DESCRIPTOR
    }

    private static final int DOMAIN = 7;
    private static final long IOVA = 0x1_0000;
    /// One piece, and the last word, which is stored behind it.
    private static final int BYTES = 16;
    private static final int RIGHTS = Access.bits(Access.remoteAll()) | Access.MW_BIND.bit() | Access.LOCAL_WRITE.bit();

    private static final byte FREE = (byte) 0xEE;
    private static final int FILE = 41;
    /// In a [GrantMessage].
    private static final int WHERE_RIGHTS_ARE = 20;

    private static final int DESCRIPTOR = 100;

    /// A message on its way.
    private record Arrival(List<Byte> message, int descriptor) {}

    /// One process: its link, its memory, and a queue pair.
    private final class End implements Neighbours, MemoryFiles {
        final String name;
        final int slot;
        final QueuePairParameters parameters;
        final MemorySegment page = arena.allocate(Neighbours.PAGE_BYTES, 4096);
        final ArrayDeque<Arrival> arriving = new ArrayDeque<>();
        /// Its engine, when that stands still in the middle of something.
        final Strand engine = new Strand();

        final MemoryTable memory;
        final DirectAccess access;
        final GrantsHeld held;
        final Region region;
        final MemorySegment bytes = arena.allocate(BYTES, 4096);
        int mapped;

        End(String name, int slot) {
            this.name = name;
            this.slot = slot;
            memory = new MemoryTable(
                    new SplittableRandom(slot),
                    16,
                    () -> now,
                    MemorySegment::copy,
                    new Slow(engine, name),
                    new Slow(engine, name));
            access = new DirectAccess(this, this, memory, new SplittableRandom(slot), () -> now, this::waitAMoment);
            region = new Region(DOMAIN, bytes, IOVA, RIGHTS);
            assertThat(memory.add(region)).isTrue();
            parameters = new QueuePairParameters(slot << 16 | 1);
            parameters.protectionDomain = DOMAIN;
            parameters.access = RIGHTS;
            parameters.readsServedMax = 1;
            held = access.queuePair(parameters);
        }

        void connect(End to) {
            parameters.destinationQpn = to.parameters.qpn;
            for (QpState state : new QpState[] {QpState.INIT, QpState.RTR, QpState.RTS}) {
                modify(state);
            }
        }

        int qpn() {
            return parameters.qpn;
        }

        void modify(QpState to) {
            parameters.state = to;
            held.onModified();
        }

        /// Nothing changes while the other stands still and lives, so it waits for that, or loses its patience.
        private void waitAMoment() {
            if (!isImpatient && a.isAlive()) {
                engine.pause(name + " waits");
            }
        }

        boolean isAlive() {
            return this == b || !isDead;
        }

        void receive() {
            Arrival next = arriving.remove();
            MemorySegment message = arena.allocate(next.message.size());
            for (int i = 0; i < next.message.size(); i++) {
                message.set(ValueLayout.JAVA_BYTE, i, next.message.get(i));
            }
            access.onTold((this == a ? b : a).slot, message, next.descriptor);
        }

        // ---- Neighbours

        @Override
        public void listener(Listener listener) {}

        @Override
        public boolean tell(int to, MemorySegment told, int descriptor) {
            if (isFull) {
                isFull = false;
                isLost = true;
                return false;
            }
            End other = this == a ? b : a;
            var content = new ArrayList<Byte>();
            for (byte each : planted(told).toArray(ValueLayout.JAVA_BYTE)) {
                content.add(each);
            }
            if (!other.isAlive()) {
                return false;
            }
            other.arriving.add(new Arrival(content, descriptor < 0 ? descriptor : open()));
            return true;
        }

        @Override
        public MemorySegment ownPage(int of) {
            return page;
        }

        @Override
        public MemorySegment theirPage(int of) {
            return this == a ? plant == Plant.HIDES_THE_STATE ? hidden : b.page : a.page;
        }

        @Override
        public int process(int of) {
            return 0;
        }

        @Override
        public boolean isThere(int of) {
            return plant != Plant.TAKES_FOR_DEAD && (this == a ? b : a).isAlive();
        }

        // ---- MemoryFiles

        @Override
        public @Nullable Place find(long address, long length) {
            return new Place(new OneFile(GrantsWorld.this), address - bytes.address());
        }

        @Override
        @SuppressWarnings("restricted") // a mapping is an address without bounds
        public MemorySegment map(int descriptor, long length, boolean isWritable, Arena in) {
            assertThat(descriptors).as("descriptors that are open").contains(descriptor);
            mapped++;
            return MemorySegment.ofAddress(b.bytes.address()).reinterpret(length, in, _ -> mapped--);
        }

        @Override
        public void close(int descriptor) {
            if (plant != Plant.KEEPS_A_DESCRIPTOR || this == b) {
                assertThat(descriptors.remove(Integer.valueOf(descriptor)))
                        .as(name + " closes")
                        .isTrue();
            }
        }
    }

    /// The file that a process's memory lies in.
    private record OneFile(GrantsWorld of) implements MemoryFiles.File {
        @Override
        public int number() {
            return FILE;
        }

        @Override
        public long bytes() {
            return BYTES;
        }

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public int share() {
            return of.open();
        }
    }

    /// Memory that is copied when the world likes.
    private record Slow(Strand engine, String name) implements UserMemory {
        @Override
        public boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
            engine.pause(name + " is about to copy from " + toOffset);
            MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
            return true;
        }

        @Override
        public boolean atomic(Atomic which, MemorySegment memory, long offset, long value, long expected) {
            return false;
        }

        @Override
        public long original() {
            return 0;
        }

        @Override
        public UserMemory forAnotherEngine() {
            return this;
        }
    }

    private final Arena arena = Arena.ofShared();
    private final Plant plant;
    private final int writes;
    private final @Nullable Window window;
    private final List<Integer> descriptors = new ArrayList<>();
    private final MemorySegment hidden = arena.allocate(Neighbours.PAGE_BYTES, 4096);
    private int lastDescriptor = DESCRIPTOR;
    private long now = Fingerprint.BEGINNING;

    private final End a;
    private final End b;
    /// Writes that `a` has begun.
    private int begun;
    private boolean hadGrant;
    /// The key that `a` writes by.
    private final int rkey;

    /// What b's memory has to have, as long as nothing of it is lent.
    private byte @Nullable [] locked;
    private boolean isOpen = true;
    private boolean isWritable = true;
    private int connections = 1;

    private boolean isDead;
    private boolean isTold;
    /// The next message finds no room.
    private boolean isFull;
    private boolean isLost;
    /// What waits now, waits in vain until its patience is over.
    private boolean isImpatient;

    /// @param writes how many `a` begins
    /// @param byWindow whether it has the key of a window, not of the region
    GrantsWorld(int writes, boolean byWindow, Plant plant) {
        this.writes = writes;
        this.plant = plant;
        a = new End("a", 1);
        b = new End("b", 2);
        window = byWindow ? new Window(DOMAIN, 2) : null;
        a.connect(b);
        b.connect(a);
        if (window != null) {
            assertThat(b.memory.add(window)).isTrue();
            assertThat(b.memory.bind(window, 9, b.region, IOVA, BYTES, RIGHTS & GrantsGiven.CHANGES, DOMAIN, b.qpn()))
                    .isEqualTo(MemoryVerdict.OK);
        }
        rkey = window == null ? b.region.key() : window.key();
    }

    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without("java.util.SplittableRandom")
                .without(GrantsWorld.class.getName(), "arena", "lastDescriptor")
                .without("verbena.nic.shm.DirectCopy", "word", "stage")
                .without("verbena.nic.shm.DirectAccess", "message")
                .without("verbena.nic.shm.GrantsGiven", "message");
    }

    private int open() {
        descriptors.add(++lastDescriptor);
        return lastDescriptor;
    }

    private MemorySegment planted(MemorySegment told) {
        GrantMessage said = GrantMessage.read(told);
        if (said != null && said.kind() == GrantMessage.Kind.GIVEN) {
            hidden.copyFrom(b.page);
            if (plant == Plant.GIVES_ALL_RIGHTS) {
                told.set(ValueLayout.JAVA_INT_UNALIGNED, WHERE_RIGHTS_ARE, RIGHTS);
            }
        }
        return told;
    }

    // ---- steps

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        if (!isDead) {
            addStepsOfA(steps);
            steps.add(Step.fault(() -> "a dies", () -> isDead = true));
        } else if (!isTold && !b.engine.isUnderWay() && b.arriving.isEmpty()) {
            steps.add(Step.usual(() -> "b is told that a is gone", this::lose));
        }
        if (b.engine.isUnderWay()) {
            steps.add(Step.usual(() -> b.engine.at() + ", and goes on", () -> goOn(false)));
            if (a.engine.isUnderWay() && !isDead) {
                steps.add(Step.fault(() -> b.engine.at() + " in vain", () -> goOn(true)));
            }
        } else {
            addStepsOfB(steps);
        }
        if (!isFull && !isLost) {
            steps.add(Step.fault(() -> "there is no room for the next message", () -> isFull = true));
        }
        return steps;
    }

    private void addStepsOfA(List<Step> steps) {
        if (a.engine.isUnderWay()) {
            steps.add(Step.usual(() -> a.engine.at() + ", and goes on", a.engine::goOn));
            return;
        }
        if (begun < writes) {
            steps.add(Step.usual(() -> "a writes " + (begun + 1), () -> a.engine.begin(this::write)));
            steps.add(Step.fault(() -> "time passes", () -> now += GrantsHeld.AGAIN_NANOS));
        }
        if (!a.arriving.isEmpty()) {
            steps.add(Step.usual(() -> "a takes " + kind(a), a::receive));
        }
    }

    private void addStepsOfB(List<Step> steps) {
        if (!b.arriving.isEmpty()) {
            steps.add(Step.usual(() -> "b takes " + kind(b), b::receive));
        }
        if (isOpen && b.region.windows() == 0) {
            steps.add(Step.usual(
                    () -> "b closes its region",
                    () -> take(() -> {
                        isOpen = false;
                        if (b.memory.remove(b.region)) {
                            b.bytes.fill(FREE); // it is another's
                            locked = b.bytes.toArray(ValueLayout.JAVA_BYTE);
                        }
                    })));
        }
        if (isOpen && isWritable && window == null) {
            steps.add(Step.usual(
                    () -> "b gives its region other rights",
                    () -> take(() -> {
                        isWritable = false;
                        b.memory.reregister(b.region, DOMAIN, Access.REMOTE_READ.bit());
                    })));
        }
        if (window != null && window.isBound()) {
            steps.add(Step.usual(
                    () -> "b invalidates its window",
                    () -> take(() -> {
                        MemoryVerdict _ = b.memory.invalidate(window.key(), DOMAIN, b.qpn());
                    })));
        }
        if (b.parameters.state == QpState.RTS) {
            steps.add(Step.usual(() -> "the queue pair of b fails", () -> take(() -> b.modify(QpState.ERR))));
        } else if (connections < 2) {
            steps.add(Step.usual(() -> "b connects again", () -> {
                connections++;
                b.connect(a);
            }));
        }
    }

    private String kind(End of) {
        byte ordinal = of.arriving.element().message.getFirst();
        return GrantMessage.Kind.values()[ordinal].name().toLowerCase(Locale.ROOT);
    }

    private void write() {
        int number = ++begun;
        hadGrant = b.engine.isUnderWay() || b.access.givenNow() > 0;
        SendRequest request = new SendQueue(1, 1, 0, arena).claim();
        request.begin(SendOperation.WRITE, number);
        request.rkey = rkey;
        request.remoteAddress = IOVA;
        a.bytes.fill((byte) number);
        request.scatter.add(a.region.key(), IOVA, BYTES);
        Progress progress = a.held.execute(number, request, a.parameters, a.memory);
        if (progress == Progress.DONE) {
            assertThat(hadGrant).as("a had a grant when it began to write").isTrue();
        }
    }

    private void take(Runnable back) {
        b.engine.begin(() -> {
            back.run();
            if (locked == null && !(a.engine.isUnderWay() && !isDead)) {
                locked = b.bytes.toArray(ValueLayout.JAVA_BYTE);
            }
        });
    }

    private void goOn(boolean inVain) {
        isImpatient = inVain;
        b.engine.goOn();
        isImpatient = false;
    }

    private void lose() {
        isTold = true;
        b.access.onGone(a.slot);
        a.arriving.clear();
    }

    // ---- what has to be

    @Override
    public void check() {
        if (!b.engine.isUnderWay() && isOpen && isWritable && b.access.givenNow() > 0) {
            locked = null; // it is lent, perhaps again
        }
        if (locked != null) {
            assertThat(b.bytes.toArray(ValueLayout.JAVA_BYTE))
                    .as("memory that is not lent")
                    .isEqualTo(locked);
        }
    }

    @Override
    public void checkAtRest() {
        assertThat(b.engine.at()).as("b waits for ever").isEmpty();
        if (!isOpen || isDead) {
            assertThat(b.access.givenNow()).as("grants").isZero();
        }
        if (!isDead) {
            assertThat(descriptors).as("descriptors that are open").isEmpty();
            if (!isOpen && !isLost && window == null) {
                assertThat(a.mapped).as("files that are mapped").isZero();
            }
        }
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public void close() {
        a.engine.close();
        b.engine.close();
        arena.close();
    }
}
