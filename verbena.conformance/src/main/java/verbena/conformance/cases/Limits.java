package verbena.conformance.cases;

import java.util.ArrayList;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.function.LongConsumer;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.QueuePairOptions.Sizes;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.VerbsException;

/// Declared limits: a device has them, and no more. Limits that cost too much to reach are left out.
public final class Limits {
    private static final int CHEAP = 2_000;

    private Limits() {}

    private static QueuePairOptions with(Fixture fixture, TestEnd end, Sizes sizes) {
        return fixture.wire(QpType.RC).options(end).withSizes(sizes);
    }

    /// Checks that a queue pair of this size can be made and one larger by one cannot; the exception names limit
    /// and resource.
    private static void isExact(Fixture fixture, String resource, int limit, IntFunction<Sizes> sizes) {
        TestEnd end = fixture.end();
        // The largest of soft-RoCE, a million, takes seconds.
        try (var qp = end.domain.createQueuePair(with(fixture, end, sizes.apply(Math.min(limit, 1 << 16))))) {
            fixture.tell(resource + " " + limit + ": " + qp.query().options().sizes());
        }
        var refused = Expect.thrown(
                resource + " + 1",
                ResourceLimitException.class,
                () -> end.domain
                        .createQueuePair(with(fixture, end, sizes.apply(limit + 1)))
                        .close());
        Expect.equal("limit that it names", (long) limit, refused.limit());
        Expect.equal("resource that it names", resource, refused.resource());
    }

    public static void requestsOfASendQueue(Fixture fixture) {
        isExact(fixture, "maxSendWr", fixture.attributes().queues().maxQpWr(), n -> new Sizes(n, 1, 1, 1, 0));
    }

    public static void requestsOfAReceiveQueue(Fixture fixture) {
        isExact(fixture, "maxReceiveWr", fixture.attributes().queues().maxQpWr(), n -> new Sizes(1, n, 1, 1, 0));
    }

    public static void entriesOfASend(Fixture fixture) {
        isExact(fixture, "maxSendSge", fixture.attributes().queues().maxSge(), n -> new Sizes(1, 1, n, 1, 0));
    }

    public static void entriesOfAReceive(Fixture fixture) {
        isExact(fixture, "maxReceiveSge", fixture.attributes().queues().maxSge(), n -> new Sizes(1, 1, 1, n, 0));
    }

    public static void inlineBytes(Fixture fixture) {
        isExact(
                fixture,
                "maxInlineBytes",
                fixture.attributes().queues().maxInlineBytes(),
                n -> new Sizes(1, 1, 1, 1, n));
    }

    public static void sizesBelowZeroAreRefused(Fixture fixture) {
        IntUnaryOperator negative = i -> i == 0 ? -1 : 1;
        Expect.thrown(
                "sends",
                IllegalArgumentException.class,
                () -> new Sizes(negative.applyAsInt(0), 1, 1, 1, 0),
                "maxSendWr");
        Expect.that("the device is open", !fixture.a().isClosed());
    }

    public static void entriesOfACompletionQueue(Fixture fixture) {
        int most = fixture.attributes().queues().maxCqe();
        if (most <= 1 << 20) {
            try (var cq = fixture.a().createCompletionQueue(most)) {
                Expect.atLeast("capacity", most, cq.capacity());
            }
        }
        Expect.thrown(
                "maxCqe + 1", ResourceLimitException.class, () -> fixture.a().createCompletionQueue(most + 1));
    }

    @Needs(Capability.SRQ)
    public static void receivesOfASharedQueue(Fixture fixture) {
        TestEnd end = fixture.end();
        int most = fixture.attributes().queues().maxSrqWr();
        end.domain.createSharedReceiveQueue(Math.min(most, 1 << 16), 1).close();
        end.domain
                .createSharedReceiveQueue(1, fixture.attributes().queues().maxSrqSge())
                .close();
        Expect.thrown(
                "maxSrqWr + 1", ResourceLimitException.class, () -> end.domain.createSharedReceiveQueue(most + 1, 1));
    }

    @Needs(Capability.SRQ)
    public static void sizesOfTheReceiveQueueMeanNothingWithASharedOne(Fixture fixture) {
        TestEnd end = fixture.end();
        var srq = fixture.own(end.domain.createSharedReceiveQueue(4, 1));
        for (int n : new int[] {0, 1, fixture.attributes().queues().maxQpWr() + 1, Integer.MAX_VALUE}) {
            QueuePairOptions options =
                    with(fixture, end, new Sizes(1, n, 1, n, 0)).withSharedReceiveQueue(srq);
            end.domain.createQueuePair(options).close();
        }
    }

    /// An integer of the API.
    ///
    /// @param with does what it is for, and ends it
    private record Row(String what, long low, long high, LongConsumer with) {
        void tryAll() {
            tryOne(0);
            tryAllButZero();
        }

        void tryAllButZero() {
            for (long value : new long[] {
                1, high - 1, high, high + 1, Integer.MAX_VALUE, Integer.MIN_VALUE, -1, 1L << 31, (1L << 32) - 1
            }) {
                if (value == (int) value || high > Integer.MAX_VALUE) {
                    tryOne(value);
                }
            }
        }

        private void tryOne(long value) {
            String answer = "taken";
            try {
                with.accept(value);
            } catch (IllegalArgumentException | IndexOutOfBoundsException | VerbsException e) {
                answer = "refused: " + e.getMessage();
            }
            boolean isTaken = answer.equals("taken");
            Expect.that(
                    what + ": " + value + " is " + answer + ", and the limits are " + low + " and " + high,
                    isTaken == (value >= low && value <= high));
        }
    }

    private static Row ofSizes(Fixture fixture, String what, int high, IntFunction<Sizes> sizes) {
        TestEnd end = fixture.end();
        return new Row(
                what,
                0,
                high,
                value -> end.domain
                        .createQueuePair(with(fixture, end, sizes.apply((int) value)))
                        .close());
    }

    /// Checks integers at 0, 1, the limit and beside it, and at the ends of 31 and 32 bits.
    public static void everyIntegerIsTakenUpToItsLimitAndRefusedBeyond(Fixture fixture) {
        DeviceAttributes has = fixture.attributes();
        Context context = fixture.a();
        var rows = new ArrayList<Row>();
        if (has.queues().maxQpWr() <= 1 << 16) { // a million takes seconds
            // Not 0: soft-iWARP makes no queue pair without a send queue.
            ofSizes(fixture, "maxSendWr", has.queues().maxQpWr(), n -> new Sizes(n, 1, 1, 1, 0))
                    .tryAllButZero();
            ofSizes(fixture, "maxReceiveWr", has.queues().maxQpWr(), n -> new Sizes(1, n, 1, 1, 0))
                    .tryAllButZero();
        }
        rows.add(ofSizes(fixture, "maxSendSge", has.queues().maxSge(), n -> new Sizes(1, 1, n, 1, 0)));
        rows.add(ofSizes(fixture, "maxReceiveSge", has.queues().maxSge(), n -> new Sizes(1, 1, 1, n, 0)));
        rows.add(ofSizes(fixture, "maxInlineBytes", has.queues().maxInlineBytes(), n -> new Sizes(1, 1, 1, 1, n)));
        if (has.queues().maxCqe() <= 1 << 20) {
            rows.add(new Row(
                    "entries",
                    1,
                    has.queues().maxCqe(),
                    n -> context.createCompletionQueue((int) n).close()));
        }
        rows.add(new Row("port", 1, has.physicalPorts(), n -> context.port((int) n)));
        rows.add(new Row("pkey index", 0, context.port(1).pkeyTableLength() - 1L, n -> context.pkey(1, (int) n)));
        rows.add(new Row("AckTimeout", 0, 31, n -> new AckTimeout((int) n)));
        rows.add(new Row("RnrTimer", 0, 31, n -> new RnrTimer((int) n)));
        rows.forEach(Row::tryAll);
        Expect.that("the device is open", !context.isClosed());
    }

    /// Checks that a message has 2^31 bytes at most, in one entry or in several.
    public static void anEntryHasUpToTwoGigabytes(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        TestEnd end = pair.b();
        new Row("length of an entry", 0, 1L << 31, n -> {
                    try (ReceiveBatch batch = end.qp().receiveBatch()) {
                        batch.receive(1).sge(end.memory.lkey(), end.at(0), n);
                        batch.discard();
                    }
                })
                .tryAll();
        new Row("length of two entries", 0, 1L << 30, n -> {
                    try (SendBatch batch = end.qp().sendBatch()) {
                        batch.write(1, end.at(0), end.rkey())
                                .sge(end.memory.lkey(), end.at(0), n)
                                .sge(end.memory.lkey(), end.at(0), n);
                        batch.discard();
                    }
                })
                .tryAll();
    }

    /// Makes as many as there can be, where that is cheap, and one more.
    private static void isExact(
            Fixture fixture, String resource, int limit, java.util.function.Supplier<AutoCloseable> make)
            throws Exception {
        if (limit > CHEAP) {
            fixture.tell(resource + " is " + limit + ": too many to make them all");
            for (int i = 0; i < 50; i++) {
                make.get().close();
            }
            return;
        }
        var made = new ArrayList<AutoCloseable>();
        ResourceLimitException refused = null;
        try {
            while (made.size() <= limit) {
                made.add(make.get());
            }
        } catch (ResourceLimitException e) {
            refused = e;
        } finally {
            for (AutoCloseable each : made) {
                each.close();
            }
        }
        Expect.that("there is an end at " + limit + ", " + made.size() + " were made", refused != null);
    }

    public static void protectionDomains(Fixture fixture) throws Exception {
        isExact(
                fixture,
                "maxPd",
                fixture.attributes().memory().maxPd(),
                () -> fixture.a().allocateProtectionDomain());
    }

    public static void memoryRegions(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        isExact(fixture, "maxMr", fixture.attributes().memory().maxMr(), () -> end.domain.allocate(64, Access.local()));
    }

    public static void completionQueues(Fixture fixture) throws Exception {
        isExact(
                fixture,
                "maxCq",
                fixture.attributes().queues().maxCq(),
                () -> fixture.a().createCompletionQueue(1));
    }

    public static void queuePairs(Fixture fixture) throws Exception {
        TestEnd end = fixture.end();
        isExact(
                fixture,
                "maxQp",
                fixture.attributes().queues().maxQp(),
                () -> end.domain.createQueuePair(with(fixture, end, new Sizes(1, 1, 1, 1, 0))));
    }

    public static void asManyEntriesAsThereAreCanBeUsed(Fixture fixture) throws InterruptedException {
        int most = Math.min(fixture.attributes().queues().maxSge(), 64);
        Pair pair =
                fixture.wire(QpType.RC).sizes(new Sizes(4, 4, most, most, 0)).connect();
        pair.b().receive("a receive of " + most + " entries", batch -> {
            batch.receive(1);
            for (int i = 0; i < most; i++) {
                batch.sge(pair.b().memory, 100L * i, 10);
            }
        });
        pair.a().post("a SEND of " + most + " entries", batch -> {
            batch.send(2).signaled();
            for (int i = 0; i < most; i++) {
                batch.sge(pair.a().memory, 77L * i, 10);
            }
        });
        pair.a().ok(2);
        pair.b().received(1, 10L * most);
        for (int i = 0; i < most; i++) {
            Expect.bytes("entry " + i, pair.a().bytes(77L * i, 10), pair.b().bytes(100L * i, 10));
        }
    }

    public static void asManyInlineBytesAsThereAreCanBeUsed(Fixture fixture) throws InterruptedException {
        int most = fixture.attributes().queues().maxInlineBytes();
        Pair pair = fixture.wire(QpType.RC).inline(most).connect();
        byte[] data = pair.a().bytes(0, Math.min(most, TestEnd.MEMORY_BYTES));
        pair.b().receive(1, 0, data.length);
        pair.a()
                .post(
                        "an inline SEND of " + data.length,
                        batch -> batch.send(2)
                                .inline(java.lang.foreign.MemorySegment.ofArray(data))
                                .signaled());
        pair.a().ok(2);
        pair.b().received(1, data.length);
        Expect.bytes("message", data, pair.b().bytes(0, data.length));
    }

    @Needs(Capability.RDMA_READ)
    public static void asManyReadsAsThereAreCanBeOutstanding(Fixture fixture) throws InterruptedException {
        int most = Math.min(
                Math.min(
                        fixture.attributes().transport().maxQpReadAtomic(),
                        fixture.attributes().transport().maxQpInitiatorReadAtomic()),
                128);
        Pair pair = fixture.wire(QpType.RC).reads(most).depth(2 * most, 1).connect();
        pair.a().post(2 * most + " READs", batch -> {
            for (int i = 0; i < 2 * most; i++) {
                batch.read(i, pair.b().at(i), pair.b().rkey())
                        .sge(pair.a().memory, 8L * i, 8)
                        .signaled();
            }
        });
        for (int i = 0; i < 2 * most; i++) {
            pair.a().ok(i);
            Expect.bytes("READ " + i, pair.b().bytes(i, 8), pair.a().bytes(8L * i, 8));
        }
    }
}
