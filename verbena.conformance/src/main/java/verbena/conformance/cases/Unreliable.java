package verbena.conformance.cases;

import java.util.Set;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.conformance.fixture.Pair;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// Unreliable connections: what arrives is whole, and what cannot be taken is dropped without a word (IBTA 9.8).
/// To see that something was dropped, something that is taken follows it.
@Needs({Capability.UC, Capability.ENDPOINTS})
public final class Unreliable {
    private static final int HALF = TestEnd.MEMORY_BYTES / 2;

    private Unreliable() {}

    private static Pair pair(Fixture fixture) throws InterruptedException {
        return fixture.wire(QpType.UC).connect();
    }

    /// Sends a message that can be taken, after which each before it has arrived or was dropped.
    private static void follows(Pair pair) throws InterruptedException {
        pair.b().receive(900, HALF, 64);
        pair.a().send(901, 1, 33);
        pair.a().ok(901);
        pair.b().received(900, 33);
        Expect.bytes("the message that follows", pair.a().bytes(1, 33), pair.b().bytes(HALF, 33));
        Expect.equal("state of b", QpState.RTS, pair.b().qp().state());
    }

    public static void aSendArrivesAsItWasSent(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        for (int size : new int[] {0, 1, 1023, 1024, 1025, 4096, 4097, 9000}) {
            pair.b().receive(1, HALF, size);
            pair.a().send(2, 5, size);
            pair.a().ok(2, WcOpcode.SEND);
            pair.b().received(1, size);
            Expect.bytes(size + " bytes", pair.a().bytes(5, size), pair.b().bytes(HALF, size));
        }
    }

    @Needs(Capability.RDMA_WRITE)
    public static void aWriteArrives(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        for (int size : new int[] {0, 1, 1025, 9000}) {
            pair.a().write(1, 5, size, pair.b(), 100);
            pair.a().ok(1, WcOpcode.RDMA_WRITE);
            follows(pair);
            Expect.bytes(size + " bytes", pair.a().bytes(5, size), pair.b().bytes(100, size));
        }
    }

    @Needs(Capability.IMMEDIATE_DATA)
    public static void aWriteWithImmediateArrives(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().receive(1, 0, 0);
        pair.a()
                .qp()
                .postWriteWithImmediate(
                        2,
                        pair.a().memory.slice(0, 5000),
                        pair.b().memory.remote().slice(HALF, 5000),
                        -9);
        pair.a().ok(2);
        var received = pair.b().ok(1, WcOpcode.RECV_RDMA_WITH_IMM);
        Expect.equal("immediate", -9, received.immediate().orElseThrow());
        Expect.bytes("what was written", pair.a().bytes(0, 5000), pair.b().bytes(HALF, 5000));
    }

    public static void withoutAReceiveAMessageIsDropped(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.a().send(1, 0, 100);
        pair.a().ok(1);
        pair.a().send(2, 0, 5000);
        pair.a().ok(2);
        arrived(pair);
        follows(pair);
        pair.b().silent();
    }

    /// Posts a WRITE and waits until it has arrived, so that the messages before it have been handled.
    private static void arrived(Pair pair) throws InterruptedException {
        pair.a().word(0, pair.b().word(64) + 1);
        pair.a().write(700, 0, 8, pair.b(), 64);
        pair.a().ok(700);
        pair.b()
                .until(
                        "the WRITE behind it has arrived",
                        () -> pair.b().word(64) == pair.a().word(0));
    }

    public static void aMessageLongerThanItsReceiveIsDropped(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().receive(1, 0, 50);
        pair.a().send(2, 0, 51);
        pair.a().ok(2);
        pair.a().send(3, 0, 50);
        pair.a().ok(3);
        pair.b().received(1, 50);
        follows(pair);
    }

    public static void aWriteByAWrongKeyIsDropped(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        byte[] before = pair.b().bytes(0, 64);
        pair.a()
                .qp()
                .postWrite(
                        1,
                        pair.a().memory.slice(8, 8),
                        new RemoteMemory(pair.b().at(0), pair.b().rkey() ^ 0x55, 8));
        pair.a().ok(1);
        pair.a()
                .qp()
                .postWrite(
                        2,
                        pair.a().memory.slice(8, 8),
                        new RemoteMemory(
                                pair.b().at(TestEnd.MEMORY_BYTES - 4), pair.b().rkey(), 8));
        pair.a().ok(2);
        follows(pair);
        Expect.bytes("memory of b", before, pair.b().bytes(0, 64));
    }

    public static void aWriteWithoutTheRightIsDropped(Fixture fixture) throws InterruptedException {
        Pair pair = fixture.wire(QpType.UC).access(Set.of(Access.REMOTE_READ)).connect();
        byte[] before = pair.b().bytes(0, 64);
        pair.a().write(1, 8, 8, pair.b(), 0);
        pair.a().ok(1);
        follows(pair);
        Expect.bytes("memory of b", before, pair.b().bytes(0, 64));
    }

    public static void readsAndAtomicsAreRefusedWhenTheyArePosted(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        Expect.thrown("READ", IllegalArgumentException.class, () -> pair.a().read(1, 0, 8, pair.b(), 0), "READ");
        Expect.thrown(
                "FETCH_ADD",
                IllegalArgumentException.class,
                () -> pair.a()
                        .qp()
                        .postFetchAdd(
                                1, pair.b().memory.remote(), 1, pair.a().memory.slice(0, 8)),
                "FETCH_ADD");
        follows(pair);
    }

    public static void aPeerThatIsGoneIsNotMissed(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().close();
        for (int i = 0; i < 5; i++) {
            pair.a().send(i, 0, 100);
            pair.a().ok(i);
        }
        Expect.equal("state of a", QpState.RTS, pair.a().qp().state());
    }

    public static void errorFlushesWhatIsPosted(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.b().receive(1, 0, 8);
        pair.b().receive(2, 0, 8);
        pair.b().qp().modify(new Transition.ToError());
        pair.b().flushed(1, 2);
        pair.b().send(3, 0, 8);
        pair.b().flushed(3);
    }

    /// Checks IBTA 10.3.1.6: sends are flushed, receives go on, and RTS can be had again.
    public static void aLocalErrorStopsSendingAndNotReceiving(Fixture fixture) throws InterruptedException {
        Pair pair = pair(fixture);
        pair.a().receive(5, HALF, 100);
        pair.a().post("a SEND by a wrong key, and another", batch -> {
            batch.send(1)
                    .sge(pair.a().memory.lkey() ^ 0x5A5A, pair.a().at(0), 8)
                    .signaled();
            batch.send(2).sge(pair.a().memory, 0, 8).signaled();
        });
        pair.a().fails(1, WcStatus.LOC_PROT_ERR);
        pair.a().flushed(2);
        Expect.equal("state of a", QpState.SQE, pair.a().qp().state());
        pair.b().send(6, 0, 50);
        pair.b().ok(6);
        pair.a().received(5, 50);
        pair.a().qp().modify(new Transition.Resume());
        follows(pair);
    }
}
