package verbena.conformance.cases;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.conformance.fixture.DeviceAddress;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.conformance.fixture.Needs;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.ConnectionException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Pending;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ReceivedMessage;

/// The promises of [Connection] beside those of its identifiers.
@Needs({Capability.RC, Capability.CONNECTION_MANAGER})
public final class Connections {
    private Connections() {}

    private record Ends(Connection a, Connection b) implements AutoCloseable {
        @Override
        public void close() {
            a.close();
            b.close();
        }
    }

    private static Ends connect(Fixture fixture) throws Exception {
        return connect(fixture, ConnectionOptions.defaults());
    }

    private static Ends connect(Fixture fixture, ConnectionOptions options) throws Exception {
        return connect(fixture, options, options);
    }

    private static Ends connect(Fixture fixture, ConnectionOptions atA, ConnectionOptions atB) throws Exception {
        try (var listener = ConnectionListener.bind(
                new InetSocketAddress(DeviceAddress.of(fixture.b()), 0), atB.withDevice(fixture.b()))) {
            var accepted = new CompletableFuture<Connection>();
            Thread.ofVirtual().start(() -> {
                try {
                    accepted.complete(listener.accept());
                } catch (Throwable e) {
                    accepted.completeExceptionally(e);
                }
            });
            var a = Connection.connect(listener.localAddress(), atA.withDevice(fixture.a()));
            return new Ends(a, accepted.get(fixture.timeout().toSeconds(), TimeUnit.SECONDS));
        }
    }

    public static void moreRequestsThanTheQueueHoldsAreDone(Fixture fixture) throws Exception {
        try (var ends = connect(fixture)) {
            MemoryRegion target = ends.b.allocate(800, Access.remoteAll());
            MemoryRegion source = ends.a.allocate(800);
            byte[] wanted = new byte[800];
            var requests = new ArrayList<Pending<?>>();
            for (int i = 0; i < 200; i++) {
                for (int k = 0; k < 4; k++) {
                    wanted[i * 4 + k] = (byte) (i + k);
                    source.segment().set(ValueLayout.JAVA_BYTE, i * 4L + k, (byte) (i + k));
                }
                requests.add(ends.a.postWrite(
                        source.slice(i * 4L, 4), target.remote().slice(i * 4L)));
            }
            for (Pending<?> each : requests) {
                Expect.that("done in time", each.await(fixture.timeout()));
            }
            Expect.bytes("what was written", wanted, ends.a.read(target.remote().slice(0, 800)));
        }
    }

    public static void receivesThatArePostedAheadFillInOrder(Fixture fixture) throws Exception {
        try (var ends = connect(fixture)) {
            MemoryRegion in = ends.b.allocate(400);
            var receives = new ArrayList<Pending<ReceivedMessage>>();
            for (int i = 0; i < 4; i++) {
                receives.add(ends.b.postReceive(in.slice(i * 100L, 100)));
            }
            Expect.that("the first is outstanding", !receives.getFirst().await(Duration.ofMillis(1)));
            for (int i = 0; i < 4; i++) {
                ends.a.send("x".repeat(i + 60)); // some in the request itself, some not
            }
            for (int i = 0; i < 4; i++) {
                Expect.equal(
                        "bytes of message " + i,
                        i + 60L,
                        receives.get(i).await().length());
            }
        }
    }

    @Needs(Capability.ATOMICS)
    public static void anAtomicReturnsWhatWasThere(Fixture fixture) throws Exception {
        try (var ends = connect(fixture)) {
            RemoteMemory words = ends.b.allocate(16, Access.remoteAll()).remote();
            Expect.equal("before adding", 0L, ends.a.fetchAdd(words.slice(8), 5));
            Expect.equal("before comparing", 5L, ends.a.compareSwap(words.slice(8), 5, 9));
            Expect.equal(
                    "before comparing in vain",
                    9L,
                    ends.a.postCompareSwap(words.slice(8), 5, 1).await());
        }
    }

    /// Checks that such a request is not sent: the peer would refuse it, and end the connection.
    @Needs(Capability.ATOMICS)
    public static void anAtomicThatIsNotAlignedIsNotSent(Fixture fixture) throws Exception {
        try (var ends = connect(fixture)) {
            RemoteMemory words = ends.b.allocate(16, Access.remoteAll()).remote();
            for (long at : new long[] {1, 4, 7}) {
                Expect.thrown(
                        "adding at " + at,
                        IllegalArgumentException.class,
                        () -> ends.a.fetchAdd(words.slice(at), 1),
                        "at",
                        "multiple of 8");
                Expect.thrown(
                        "comparing at " + at,
                        IllegalArgumentException.class,
                        () -> ends.a.postCompareSwap(words.slice(at), 1, 1),
                        "multiple of 8");
            }
            Expect.equal("the connection lives", 0L, ends.a.fetchAdd(words.slice(8), 1));
        }
    }

    public static void closingEndsEveryWait(Fixture fixture) throws Exception {
        try (var ends = connect(fixture)) {
            MemoryRegion in = ends.a.allocate(8);
            Pending<?> first = ends.a.postReceive(in.slice(0, 8));
            Pending<?> second = ends.a.postReceive(in.slice(0, 8));
            var future = second.toFuture();
            ends.a.close();
            var closed = Expect.thrown("waiting", ConnectionException.class, first::await);
            Expect.equal("reason", ConnectionException.Reason.CLOSED, closed.reason());
            var failed = future.handle((_, e) -> e).get(fixture.timeout().toSeconds(), TimeUnit.SECONDS);
            Expect.that("the future fails: " + failed, failed instanceof ConnectionException);
        }
    }

    public static void aRefusalIsToldToAllRequests(Fixture fixture) throws Exception {
        try (var ends = connect(fixture)) {
            RemoteMemory secret = ends.b.allocate(8).remote(); // granted to no peer
            MemoryRegion in = ends.a.allocate(8);
            var read = ends.a.postRead(secret.slice(0, 8), in.slice(0, 8));
            var behind = ends.a.postRead(secret.slice(0, 8), in.slice(0, 8));
            for (Pending<?> each : List.of(read, behind)) {
                var refused = Expect.thrown("waiting", ConnectionException.class, each::await);
                Expect.equal("reason", ConnectionException.Reason.FAILED, refused.reason());
            }
        }
    }

    public static void messagesThatComeBeforeAReceiveAreKept(Fixture fixture) throws Exception {
        var options = ConnectionOptions.defaults().withReceivesAhead(100);
        try (var ends = connect(fixture, options)) {
            for (int i = 0; i < 5; i++) {
                ends.a.send("message " + i);
            }
            for (int i = 0; i < 5; i++) {
                Expect.equal("message", "message " + i, ends.b.receiveText(100));
            }
        }
    }

    public static void aTableServesTheConnectionsOfItsDomain(Fixture fixture) throws Exception {
        ProtectionDomain domain = fixture.own(fixture.b().allocateProtectionDomain());
        MemoryRegion table = fixture.own(domain.allocate(16, Access.remoteAll()));
        byte[] wanted = {1, 2, 3, 4, 5, 6, 7, 8};
        MemorySegment.copy(wanted, 0, table.segment(), ValueLayout.JAVA_BYTE, 8, wanted.length);
        var lent = ConnectionOptions.defaults().withProtectionDomain(domain);
        try (var one = connect(fixture, ConnectionOptions.defaults(), lent);
                var other = connect(fixture, ConnectionOptions.defaults(), lent)) {
            Expect.bytes("by the first", wanted, one.a.read(table.remote().slice(8, 8)));
            Expect.bytes("by the second", wanted, other.a.read(table.remote().slice(8, 8)));
        }
    }
}
