package verbena.conformance.cases;

import java.lang.foreign.MemorySegment;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Capability;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.WcOpcode;

/// Posted requests: a mistake throws in the call that makes it, and disturbs no other request.
public final class Posting {
    private Posting() {}

    public static void nothingCanBePostedInReset(Fixture fixture) {
        TestEnd end = fixture.end();
        QueuePair qp =
                fixture.own(end.domain.createQueuePair(fixture.wire(QpType.RC).options(end)));
        Expect.thrown("a send", InvalidStateException.class, () -> qp.postSend(1, end.memory.slice(0, 8)), "RESET");
        Expect.thrown(
                "a receive", InvalidStateException.class, () -> qp.postReceive(1, end.memory.slice(0, 8)), "RESET");
    }

    public static void asManySendsAsWereAskedForCanBeOutstanding(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).depth(8, 32).connect();
        int depth = pair.a().qp().query().options().maxSendWr();
        // No receive is there, so none of them is done: over iWARP what is sent is, so they wait for a batch's end.
        try (var batch = pair.a().qp().sendBatch()) {
            for (int i = 0; i < depth; i++) {
                batch.send(i).sge(pair.a().memory, 0, 8).signaled();
            }
            var refused = Expect.thrown("one more than " + depth, ResourceLimitException.class, () -> batch.send(99));
            Expect.equal("limit that it names", (long) depth, refused.limit());
            Expect.equal("resource that it names", "maxSendWr", refused.resource());
            for (int i = 0; i < Math.min(depth, 32); i++) {
                pair.b().receive(i, 0, 8);
            }
            Expect.equal("handed over", depth, batch.submit());
        }
        for (int i = 0; i < depth; i++) {
            pair.a().ok(i);
        }
        pair.a().send(100, 0, 0); // there is room again
    }

    public static void asManyReceivesAsWereAskedForCanBeOutstanding(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).depth(8, 8).connect();
        int depth = pair.b().qp().query().options().maxReceiveWr();
        for (int i = 0; i < depth; i++) {
            pair.b().receive(i, 0, 8);
        }
        var refused = Expect.thrown(
                "one more than " + depth,
                ResourceLimitException.class,
                () -> pair.b().qp().postReceive(99, pair.b().memory.slice(0, 8)));
        Expect.equal("limit that it names", (long) depth, refused.limit());
        Expect.equal("resource that it names", "maxReceiveWr", refused.resource());
        pair.a().send(1, 0, 8);
        pair.a().ok(1);
        pair.b().received(0, 8);
        pair.b().receive(100, 0, 8); // there is room again
    }

    public static void requestsWithoutACompletionMakeRoomTogether(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).depth(8, 8).connect();
        for (int round = 0; round < 20; round++) {
            pair.a().post("seven silent WRITEs and one that tells", batch -> {
                for (int i = 0; i < 7; i++) {
                    batch.write(i, pair.b().at(0), pair.b().rkey()).sge(pair.a().memory, 0, 8);
                }
                batch.write(100, pair.b().at(0), pair.b().rkey())
                        .sge(pair.a().memory, 0, 8)
                        .signaled();
            });
            pair.a().ok(100);
        }
        pair.a().silent();
    }

    public static void everyRequestCompletesWhenTheQueuePairSaysSo(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).signalAll().connect();
        pair.a().post("two WRITEs that do not ask", batch -> {
            batch.write(1, pair.b().at(0), pair.b().rkey()).sge(pair.a().memory, 0, 8);
            batch.write(2, pair.b().at(0), pair.b().rkey()).sge(pair.a().memory, 0, 8);
        });
        pair.a().ok(1, WcOpcode.RDMA_WRITE);
        pair.a().ok(2, WcOpcode.RDMA_WRITE);
    }

    public static void aBatchThatIsNotSubmittedNeverWas(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        byte[] before = pair.b().bytes(0, 64);
        var sends = pair.a().qp().sendBatch();
        sends.write(1, pair.b().at(0), pair.b().rkey())
                .sge(pair.a().memory, 0, 64)
                .signaled();
        Expect.thrown("close with a request", InvalidStateException.class, sends::close);
        var receives = pair.b().qp().receiveBatch();
        receives.receive(6).sge(pair.b().memory, 0, 8);
        Expect.thrown("close with a receive", InvalidStateException.class, receives::close);
        try (var batch = pair.a().qp().sendBatch()) {
            batch.write(1, pair.b().at(0), pair.b().rkey())
                    .sge(pair.a().memory, 0, 64)
                    .signaled();
            batch.discard();
            Expect.equal("handed over", 0, batch.submit());
        }
        try (var batch = pair.b().qp().receiveBatch()) {
            batch.receive(7).sge(pair.b().memory, 0, 8);
            batch.discard();
            Expect.equal("handed over", 0, batch.submit());
        }
        pair.b().receive(8, 1000, 100);
        pair.a().send(2, 0, 10);
        pair.a().ok(2);
        pair.b().received(8, 10); // and not 7
        Expect.bytes("memory of b", before, pair.b().bytes(0, 64));
    }

    public static void aBatchGoesOnAfterItWasSubmitted(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        try (var batch = pair.a().qp().sendBatch()) {
            for (int i = 0; i < 3; i++) {
                batch.write(i, pair.b().at(0), pair.b().rkey())
                        .sge(pair.a().memory, 0, 8)
                        .signaled();
                Expect.equal("handed over", 1, batch.submit());
            }
            Expect.equal("handed over when there is nothing", 0, batch.submit());
        }
        for (int i = 0; i < 3; i++) {
            pair.a().ok(i);
        }
    }

    public static void aMistakeLeavesWhatIsBeforeIt(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        try (var batch = pair.a().qp().sendBatch()) {
            batch.write(1, pair.b().at(0), pair.b().rkey())
                    .sge(pair.a().memory, 0, 8)
                    .signaled();
            Expect.thrown(
                    "an offset outside",
                    IndexOutOfBoundsException.class,
                    () -> batch.write(2, pair.b().at(0), pair.b().rkey())
                            .sge(pair.a().memory, pair.a().memory.length(), 1));
            Expect.equal("handed over", 1, batch.submit());
        }
        pair.a().ok(1);
        pair.a().write(3, 0, 8, pair.b(), 0);
        pair.a().ok(3); // and nothing of 2
    }

    public static void aSecondBatchOfTheSameThreadIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        try (var batch = pair.a().qp().sendBatch()) {
            Expect.thrown(
                    "another", InvalidStateException.class, () -> pair.a().qp().sendBatch());
            batch.write(1, pair.b().at(0), pair.b().rkey())
                    .sge(pair.a().memory, 0, 8)
                    .signaled()
                    .submit();
        }
        pair.a().ok(1);
    }

    public static void aRangeOutsideItsRegionIsRefused(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        long end = pair.a().memory.length();
        for (long[] range : new long[][] {{end, 1}, {end - 7, 8}, {-1, 8}, {Long.MAX_VALUE, 8}, {end + 1, 0}}) {
            Expect.thrown(
                    "SEND of " + range[1] + " bytes at " + range[0],
                    IndexOutOfBoundsException.class,
                    () -> pair.a().qp().postSend(1, pair.a().memory.slice(range[0], range[1])));
            Expect.thrown(
                    "receive of " + range[1] + " bytes at " + range[0],
                    IndexOutOfBoundsException.class,
                    () -> pair.a().qp().postReceive(1, pair.a().memory.slice(range[0], range[1])));
        }
        Expect.thrown(
                "a negative length",
                RuntimeException.class,
                () -> pair.a().qp().postSend(1, pair.a().memory.slice(0, -1)));
    }

    public static void moreEntriesThanWereAskedForAreRefused(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC).sge(2).connect();
        int most = pair.a().qp().query().options().maxSendSge();
        Expect.thrown(
                "a SEND of " + (most + 1) + " entries",
                IllegalArgumentException.class,
                () -> pair.a().post("a SEND of too many entries", batch -> {
                    batch.send(1);
                    for (int i = 0; i <= most; i++) {
                        batch.sge(pair.a().memory, i, 1);
                    }
                }),
                "maxSendSge");
        int mostReceive = pair.a().qp().query().options().maxReceiveSge();
        Expect.thrown(
                "a receive of " + (mostReceive + 1) + " entries",
                IllegalArgumentException.class,
                () -> pair.a().receive("a receive of too many entries", batch -> {
                    batch.receive(1);
                    for (int i = 0; i <= mostReceive; i++) {
                        batch.sge(pair.a().memory, i, 1);
                    }
                }),
                "maxReceiveSge");
    }

    public static void asManyInlineBytesAsWereAskedForAreTakenAndNoMore(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.RC)
                .inline(Math.min(100, fixture.attributes().queues().maxInlineBytes()))
                .connect();
        int most = pair.a().qp().query().options().maxInlineBytes();
        byte[] data = new byte[most + 1];
        java.util.Arrays.fill(data, (byte) 0x5A);
        pair.b().receive(1, 0, 1000);
        pair.a()
                .post(
                        "an inline SEND",
                        batch -> batch.send(2)
                                .inline(MemorySegment.ofArray(data).asSlice(0, most))
                                .signaled());
        pair.a().ok(2);
        pair.b().received(1, most);
        Expect.bytes(
                "what was received",
                java.util.Arrays.copyOf(data, most),
                pair.b().bytes(0, most));
        Expect.thrown(
                "one byte more",
                ResourceLimitException.class,
                () -> pair.a().post("too much inline", batch -> batch.send(3).inline(MemorySegment.ofArray(data))),
                "maxInlineBytes");
    }

    public static void inlineMemoryIsFreeAtOnce(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        int most = Math.min(32, pair.a().qp().query().options().maxInlineBytes());
        byte[] data = new byte[most];
        java.util.Arrays.fill(data, (byte) 1);
        try (var batch = pair.a().qp().sendBatch()) {
            batch.write(1, pair.b().at(0), pair.b().rkey())
                    .inline(MemorySegment.ofArray(data))
                    .signaled();
            java.util.Arrays.fill(data, (byte) 2);
            batch.submit();
        }
        pair.a().ok(1);
        pair.a().read(2, 0, 8, pair.b(), 0);
        pair.a().ok(2);
        java.util.Arrays.fill(data, (byte) 1);
        Expect.bytes("what was written", data, pair.b().bytes(0, most));
    }

    public static void whatIsReadCannotBeInline(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        Expect.thrown(
                "an inline READ",
                IllegalArgumentException.class,
                () -> pair.a()
                        .post(
                                "an inline READ",
                                batch -> batch.read(1, pair.b().at(0), pair.b().rkey())
                                        .inline(MemorySegment.ofArray(new byte[8]))),
                "inline");
    }

    @Needs(Capability.ATOMICS)
    public static void anAtomicHasOneEntryOfEightBytes(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        Expect.thrown(
                "4 bytes",
                IllegalArgumentException.class,
                () -> pair.a()
                        .post(
                                "FETCH_ADD into 4 bytes",
                                batch -> batch.fetchAdd(
                                                1, pair.b().at(0), pair.b().rkey(), 1)
                                        .sge(pair.a().memory, 0, 4)
                                        .signaled()),
                "8 bytes");
        Expect.thrown(
                "none",
                IllegalArgumentException.class,
                () -> pair.a()
                        .post(
                                "FETCH_ADD into nothing",
                                batch -> batch.fetchAdd(
                                                1, pair.b().at(0), pair.b().rkey(), 1)
                                        .signaled()),
                "8 bytes");
    }

    @Needs(Capability.UD)
    public static void aConnectionTakesNoDestination(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        var gid = fixture.a().gids(1).getFirst();
        var vector = verbena.verbs.AddressVector.to(gid.gid(), gid.index())
                .withDestinationLid(fixture.a().port(1).lids().lid());
        var handle = fixture.own(pair.a().domain.createAddressHandle(vector));
        Expect.thrown(
                "a SEND to somewhere",
                IllegalArgumentException.class,
                () -> pair.a()
                        .post(
                                "SEND with a handle",
                                batch ->
                                        batch.send(1).sge(pair.a().memory, 0, 8).to(handle, 5, 5)),
                "to");
    }

    public static void anyNumberIdentifiesARequest(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (long wrId : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0xFFFF_FFFFL, 1L << 32}) {
            pair.b().receive(wrId, 0, 8);
            pair.a().send(~wrId, 0, 8);
            pair.a().ok(~wrId);
            pair.b().received(wrId, 8);
        }
    }

    public static void theSameNumberMayBeUsedTwice(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.rc();
        for (int i = 0; i < 3; i++) {
            pair.b().receive(5, 0, 8);
            pair.a().send(5, 0, 8);
        }
        for (int i = 0; i < 3; i++) {
            pair.a().ok(5);
            pair.b().received(5, 8);
        }
    }
}
