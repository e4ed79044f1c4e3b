package verbena.tools.explain;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import verbena.tools.CommandFailed;
import verbena.tools.explain.Stage.Joined;
import verbena.verbs.Access;
import verbena.verbs.Completion;
import verbena.verbs.RemoteMemory;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Syndrome;

/// Tales in which something goes wrong.
final class Troubles {
    private static final Set<Access> FOR_WRITES = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);

    /// With this seed, of the first 24 packets that a device sends exactly the fourth is lost: behind REQ, RTU and
    /// the first packet of the WRITE.
    static final String LOSES_FOURTH = "faults=loss:10%,on:sent,seed:330";
    /// And with this one the second: behind REP, the acknowledgement.
    static final String LOSES_SECOND = "faults=loss:10%,on:sent,seed:53";

    /// How late an application is whose packets are not shown.
    private static final long LATE_NANOS = 5_000_000;

    private Troubles() {}

    // ---- what the network does

    static void lostPacket(Stage stage) throws InterruptedException {
        int packets = 1 + (stage.size - 1) / stage.a.context.port(1).activeMtu().bytes();
        if (packets < 3) {
            throw new CommandFailed("lost-packet needs a WRITE of three packets: --size of more than "
                    + 2 * stage.a.context.port(1).activeMtu().bytes() + " bytes");
        }
        Watched from = stage.source();
        Watched to = stage.target(FOR_WRITES);
        Joined joined = stage.connect(to);
        stage.phase(
                "A WRITE that loses a packet",
                "The second packet of the WRITE is lost on purpose: A's device was opened with " + LOSES_FOURTH + ".");
        OneSided.write(stage, joined, from, stage.size);
        stage.a.poll();
        stage.awaitEqual(from, to, stage.size);
    }

    static void duplicate(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(FOR_WRITES);
        Joined joined = stage.connect(to);
        stage.phase(
                "A WRITE whose acknowledgement is lost",
                "A cannot tell whether its WRITE or the answer is lost, and sends it again when the ACK timeout (67 ms here) is"
                        + " over. B's device was opened with " + LOSES_SECOND + ".");
        OneSided.write(stage, joined, from, stage.size);
        stage.a.poll();
        stage.awaitEqual(from, to, stage.size);
    }

    // ---- what applications do

    static void receiverNotReady(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(Access.local());
        Joined joined = stage.connect(to);
        stage.phase(
                "A message without a receive",
                "Application B is late: it posts its receive when the message was turned away.");
        var posted = new CountDownLatch(1);
        Future<Completion> received = stage.meanwhile(() -> {
            posted.await();
            beLate(stage);
            stage.b.receive(joined.b(), 7, to, (int) to.region.length());
            stage.b.arm();
            return stage.b.sleep();
        });
        Messages.send(stage, joined.a(), 1, from, stage.size);
        posted.countDown();
        stage.a.poll();
        Stage.get(received);
        stage.awaitEqual(from, to, stage.size);
    }

    private static void beLate(Stage stage) throws InterruptedException {
        if (!stage.recorder.seesPackets()) {
            LockSupport.parkNanos(LATE_NANOS);
        } else if (!stage.recorder.awaitPacket(Troubles::isRnrNak, End.PATIENCE.toSeconds())) {
            throw new CommandFailed("the message was not turned away in " + End.PATIENCE.toSeconds() + " s");
        }
    }

    private static boolean isRnrNak(Seen packet) {
        Frame frame = packet.frame();
        return packet.device() == Place.DEVICE_B
                && packet.sent()
                && Packet.check(frame) == Malformed.OK
                && Packet.opcode(frame) == Opcode.RC_ACKNOWLEDGE
                && Syndrome.isRnrNak(
                        Aeth.syndrome(frame.slot, (long) frame.start + Opcode.RC_ACKNOWLEDGE.aethOffset()));
    }

    static void badKey(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(FOR_WRITES);
        Joined joined = stage.connect(to);
        RemoteMemory remote = joined.remote();
        int wrong = remote.rkey() ^ 0x0100_0000;
        stage.phase("A WRITE with a wrong key", "One bit of the key is wrong. A right WRITE is posted behind it.");
        stage.a.post(
                joined.a(),
                "WRITE to b+0 with key 0x%08x, then a right one".formatted(wrong),
                batch -> batch.write(1, remote.address(), wrong)
                        .sge(from.region, 0, stage.size)
                        .signaled()
                        .write(2, remote.address(), remote.rkey())
                        .sge(from.region, 0, stage.size)
                        .signaled());
        ended(stage, joined, 2);
    }

    static void outOfBounds(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(FOR_WRITES);
        Joined joined = stage.connect(to);
        RemoteMemory remote = joined.remote();
        long at = remote.length() - stage.size / 2;
        stage.phase(
                "A WRITE that reaches too far",
                "The key is right, and half of the bytes would lie behind the memory's end.");
        stage.a.post(
                joined.a(),
                String.format(Locale.ROOT, "WRITE %,d bytes to b+%d of %d", stage.size, at, remote.length()),
                batch -> batch.write(1, remote.address() + at, remote.rkey())
                        .sge(from.region, 0, stage.size)
                        .signaled());
        ended(stage, joined, 1);
    }

    static void tooLong(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(Access.local());
        Joined joined = stage.connect(to);
        int room = stage.size / 2;
        stage.phase("A message that does not fit", "B's receive has room for half of what A sends.");
        stage.b.receive(joined.b(), 7, to, room);
        stage.b.arm();
        Future<Completion> received = stage.meanwhile(stage.b::sleep);
        Messages.send(stage, joined.a(), 1, from, stage.size);
        ended(stage, joined, stage.isIwarp() ? 0 : 1);
        Stage.get(received);
    }

    static void badLocalKey(Stage stage) throws InterruptedException {
        Watched from = stage.source();
        Watched to = stage.target(FOR_WRITES);
        Joined joined = stage.connect(to);
        RemoteMemory remote = joined.remote();
        int wrong = from.region.lkey() ^ 0x0100_0000;
        stage.phase(
                "Memory that A does not have",
                "The request names memory by a wrong key of its own: A's device finds that out.");
        stage.a.post(
                joined.a(),
                "WRITE from key 0x%08x to b+0".formatted(wrong),
                batch -> batch.write(1, remote.address(), remote.rkey())
                        .sge(wrong, from.region.address(), stage.size)
                        .signaled());
        ended(stage, joined, 1);
    }

    /// Takes what is left, and looks at both queue pairs.
    private static void ended(Stage stage, Joined joined, int completions) throws InterruptedException {
        for (int i = 0; i < completions; i++) {
            stage.a.poll();
        }
        ended(stage, joined);
    }

    /// Waits until both ends know that the connection is over.
    static void ended(Stage stage, Joined joined) throws InterruptedException {
        if (!stage.isSoftware()) {
            // Verbena's own devices end the connection of a broken queue pair; elsewhere the application does.
            stage.a.call(
                    "disconnect",
                    "Its queue pair is of no use any more.",
                    () -> joined.idA().disconnect());
        }
        stage.a.disconnected();
        stage.b.disconnected();
        stage.a.state(joined.a());
        stage.b.state(joined.b());
        stage.a.asyncEvents();
        stage.b.asyncEvents();
    }
}
