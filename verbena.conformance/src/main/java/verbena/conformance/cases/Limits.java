package verbena.conformance.cases;

import java.util.ArrayList;
import java.util.function.IntUnaryOperator;
import verbena.conformance.rig.Expect;
import verbena.conformance.rig.Needs;
import verbena.conformance.rig.Pair;
import verbena.conformance.rig.Rig;
import verbena.conformance.rig.Side;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.QueuePairOptions.Sizes;
import verbena.verbs.ResourceLimitException;

/// What a device declares as its limit it has, and no more. Limits that cost too much to reach are left out.
public final class Limits {
    private static final int CHEAP = 2_000;

    private Limits() {}

    private static QueuePairOptions with(Rig rig, Side side, Sizes sizes) {
        return rig.wire(QpType.RC).options(side).withSizes(sizes);
    }

    /// A queue pair of this size can be made and one larger by one cannot; the exception names limit and resource.
    private static void isExact(Rig rig, String resource, int limit, java.util.function.IntFunction<Sizes> sizes) {
        Side side = rig.side();
        // The largest of soft-RoCE, a million, takes seconds.
        try (var qp = side.domain.createQueuePair(with(rig, side, sizes.apply(Math.min(limit, 1 << 16))))) {
            rig.tell(resource + " " + limit + ": " + qp.query().options().sizes());
        }
        var refused = Expect.thrown(
                resource + " + 1",
                ResourceLimitException.class,
                () -> side.domain
                        .createQueuePair(with(rig, side, sizes.apply(limit + 1)))
                        .close());
        Expect.equal("limit that it names", (long) limit, refused.limit());
        Expect.equal("resource that it names", resource, refused.resource());
    }

    public static void requestsOfASendQueue(Rig rig) {
        isExact(rig, "maxSendWr", rig.attributes().maxQpWr(), n -> new Sizes(n, 1, 1, 1, 0));
    }

    public static void requestsOfAReceiveQueue(Rig rig) {
        isExact(rig, "maxReceiveWr", rig.attributes().maxQpWr(), n -> new Sizes(1, n, 1, 1, 0));
    }

    public static void entriesOfASend(Rig rig) {
        isExact(rig, "maxSendSge", rig.attributes().maxSge(), n -> new Sizes(1, 1, n, 1, 0));
    }

    public static void entriesOfAReceive(Rig rig) {
        isExact(rig, "maxReceiveSge", rig.attributes().maxSge(), n -> new Sizes(1, 1, 1, n, 0));
    }

    public static void inlineBytes(Rig rig) {
        isExact(rig, "maxInlineBytes", rig.attributes().maxInlineBytes(), n -> new Sizes(1, 1, 1, 1, n));
    }

    public static void sizesBelowZeroAreRefused(Rig rig) {
        IntUnaryOperator negative = i -> i == 0 ? -1 : 1;
        Expect.thrown(
                "sends",
                IllegalArgumentException.class,
                () -> new Sizes(negative.applyAsInt(0), 1, 1, 1, 0),
                "maxSendWr");
        Expect.that("the device is open", !rig.a().isClosed());
    }

    public static void entriesOfACompletionQueue(Rig rig) {
        int most = rig.attributes().maxCqe();
        if (most <= 1 << 20) {
            try (var cq = rig.a().createCompletionQueue(most)) {
                Expect.atLeast("capacity", most, cq.capacity());
            }
        }
        Expect.thrown("maxCqe + 1", ResourceLimitException.class, () -> rig.a().createCompletionQueue(most + 1));
    }

    @Needs(Capability.SRQ)
    public static void receivesOfASharedQueue(Rig rig) {
        Side side = rig.side();
        int most = rig.attributes().maxSrqWr();
        side.domain.createSharedReceiveQueue(Math.min(most, 1 << 16), 1).close();
        side.domain.createSharedReceiveQueue(1, rig.attributes().maxSrqSge()).close();
        Expect.thrown(
                "maxSrqWr + 1", ResourceLimitException.class, () -> side.domain.createSharedReceiveQueue(most + 1, 1));
    }

    /// Makes as many as there can be, where that is cheap, and one more.
    private static void isExact(Rig rig, String resource, int limit, java.util.function.Supplier<AutoCloseable> make)
            throws Exception {
        if (limit > CHEAP) {
            rig.tell(resource + " is " + limit + ": too many to make them all");
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

    public static void protectionDomains(Rig rig) throws Exception {
        isExact(rig, "maxPd", rig.attributes().maxPd(), () -> rig.a().allocateProtectionDomain());
    }

    public static void memoryRegions(Rig rig) throws Exception {
        Side side = rig.side();
        isExact(rig, "maxMr", rig.attributes().maxMr(), () -> side.domain.allocate(64, Access.local()));
    }

    public static void completionQueues(Rig rig) throws Exception {
        isExact(rig, "maxCq", rig.attributes().maxCq(), () -> rig.a().createCompletionQueue(1));
    }

    public static void queuePairs(Rig rig) throws Exception {
        Side side = rig.side();
        isExact(
                rig,
                "maxQp",
                rig.attributes().maxQp(),
                () -> side.domain.createQueuePair(with(rig, side, new Sizes(1, 1, 1, 1, 0))));
    }

    public static void asManyEntriesAsThereAreCanBeUsed(Rig rig) throws InterruptedException {
        int most = Math.min(rig.attributes().maxSge(), 64);
        Pair pair = rig.wire(QpType.RC).sizes(new Sizes(4, 4, most, most, 0)).connect();
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

    public static void asManyInlineBytesAsThereAreCanBeUsed(Rig rig) throws InterruptedException {
        int most = rig.attributes().maxInlineBytes();
        Pair pair = rig.wire(QpType.RC).inline(most).connect();
        byte[] data = pair.a().bytes(0, Math.min(most, Side.MEMORY_BYTES));
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
    public static void asManyReadsAsThereAreCanBeOutstanding(Rig rig) throws InterruptedException {
        int most = Math.min(
                Math.min(rig.attributes().maxQpReadAtomic(), rig.attributes().maxQpInitiatorReadAtomic()), 128);
        Pair pair = rig.wire(QpType.RC).reads(most).depth(2 * most, 1).connect();
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
