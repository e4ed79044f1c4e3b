package verbena.tools.explain;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import verbena.tools.explain.Ends.Joined;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.Completion;
import verbena.verbs.RemoteMemory;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Syndrome;

/// Scenarios in which something goes wrong.
final class Troubles {
    private static final Set<Access> FOR_WRITES = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);

    /// Faults with a seed by which, of the first 24 packets that a device sends exactly the fourth is lost: behind
    /// REQ, RTU and the first packet of the WRITE.
    static final String LOSES_FOURTH = "faults=loss:10%,on:sent,seed:330";
    /// Faults with a seed by which the second is lost: behind REP, the acknowledgement.
    static final String LOSES_SECOND = "faults=loss:10%,on:sent,seed:53";

    /// The delay of an application whose packets are not shown.
    private static final long LATE_NANOS = 5_000_000;

    private Troubles() {}

    // ---- what the network does

    static void lostPacket(Ends ends) throws InterruptedException {
        int packets = 1 + (ends.size - 1) / ends.a.context.port(1).activeMtu().bytes();
        if (packets < 3) {
            throw new CommandFailed("lost-packet needs a WRITE of three packets: --size of more than "
                    + 2 * ends.a.context.port(1).activeMtu().bytes() + " bytes");
        }
        Watched from = ends.source();
        Watched to = ends.target(FOR_WRITES);
        Joined joined = ends.connect(to);
        ends.phase(
                "A WRITE that loses a packet",
                "The second packet of the WRITE is lost on purpose: A's device was opened with " + LOSES_FOURTH + ".");
        OneSided.write(ends, joined, from, ends.size);
        ends.a.poll();
        ends.awaitEqual(from, to, ends.size);
    }

    static void duplicate(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(FOR_WRITES);
        Joined joined = ends.connect(to);
        ends.phase(
                "A WRITE whose acknowledgement is lost",
                "A cannot tell whether its WRITE or the answer is lost, and sends it again when the ACK timeout (67 ms here) is"
                        + " over. B's device was opened with " + LOSES_SECOND + ".");
        OneSided.write(ends, joined, from, ends.size);
        ends.a.poll();
        ends.awaitEqual(from, to, ends.size);
    }

    // ---- what applications do

    static void receiverNotReady(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(Access.local());
        Joined joined = ends.connect(to);
        ends.phase(
                "A message without a receive",
                "Application B is late: it posts its receive when the message was turned away.");
        var posted = new CountDownLatch(1);
        Future<Completion> received = ends.meanwhile(() -> {
            posted.await();
            beLate(ends);
            ends.b.receive(joined.b(), 7, to, (int) to.region.length());
            ends.b.arm();
            return ends.b.sleep();
        });
        Messages.send(ends, joined.a(), 1, from, ends.size);
        posted.countDown();
        ends.a.poll();
        Ends.get(received);
        ends.awaitEqual(from, to, ends.size);
    }

    private static void beLate(Ends ends) throws InterruptedException {
        if (!ends.recorder.seesPackets()) {
            LockSupport.parkNanos(LATE_NANOS);
        } else if (!ends.recorder.awaitPacket(Troubles::isRnrNak, End.TIMEOUT.toSeconds())) {
            throw new CommandFailed("the message was not turned away in " + End.TIMEOUT.toSeconds() + " s");
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

    static void badKey(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(FOR_WRITES);
        Joined joined = ends.connect(to);
        RemoteMemory remote = joined.remote();
        int wrong = remote.rkey() ^ 0x0100_0000;
        ends.phase("A WRITE with a wrong key", "One bit of the key is wrong. A right WRITE is posted behind it.");
        ends.a.post(
                joined.a(),
                "WRITE to b+0 with key 0x%08x, then a right one".formatted(wrong),
                batch -> batch.write(1, remote.address(), wrong)
                        .sge(from.region, 0, ends.size)
                        .signaled()
                        .write(2, remote.address(), remote.rkey())
                        .sge(from.region, 0, ends.size)
                        .signaled());
        ended(ends, joined, 2);
    }

    static void outOfBounds(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(FOR_WRITES);
        Joined joined = ends.connect(to);
        RemoteMemory remote = joined.remote();
        long at = remote.length() - ends.size / 2;
        ends.phase(
                "A WRITE that reaches too far",
                "The key is right, and half of the bytes would lie behind the memory's end.");
        ends.a.post(
                joined.a(),
                String.format(Locale.ROOT, "WRITE %,d bytes to b+%d of %d", ends.size, at, remote.length()),
                batch -> batch.write(1, remote.address() + at, remote.rkey())
                        .sge(from.region, 0, ends.size)
                        .signaled());
        ended(ends, joined, 1);
    }

    static void tooLong(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(Access.local());
        Joined joined = ends.connect(to);
        int room = ends.size / 2;
        ends.phase("A message that does not fit", "B's receive has room for half of what A sends.");
        ends.b.receive(joined.b(), 7, to, room);
        ends.b.arm();
        Future<Completion> received = ends.meanwhile(ends.b::sleep);
        Messages.send(ends, joined.a(), 1, from, ends.size);
        ended(ends, joined, ends.isIwarp() ? 0 : 1);
        Ends.get(received);
    }

    static void badLocalKey(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(FOR_WRITES);
        Joined joined = ends.connect(to);
        RemoteMemory remote = joined.remote();
        int wrong = from.region.lkey() ^ 0x0100_0000;
        ends.phase(
                "Memory that A does not have",
                "The request names memory by a wrong key of its own: A's device finds that out.");
        ends.a.post(
                joined.a(),
                "WRITE from key 0x%08x to b+0".formatted(wrong),
                batch -> batch.write(1, remote.address(), remote.rkey())
                        .sge(wrong, from.region.address(), ends.size)
                        .signaled());
        ended(ends, joined, 1);
    }

    /// Takes what is left, and looks at both queue pairs.
    private static void ended(Ends ends, Joined joined, int completions) throws InterruptedException {
        for (int i = 0; i < completions; i++) {
            ends.a.poll();
        }
        ended(ends, joined);
    }

    /// Waits until both ends know that the connection is over.
    static void ended(Ends ends, Joined joined) throws InterruptedException {
        if (!ends.isSoftware()) {
            // Verbena's own devices end the connection of a broken queue pair; elsewhere the application does.
            ends.a.call(
                    "disconnect",
                    "Its queue pair is of no use any more.",
                    () -> joined.idA().disconnect());
        }
        ends.a.disconnected();
        ends.b.disconnected();
        ends.a.state(joined.a());
        ends.b.state(joined.b());
        ends.a.asyncEvents();
        ends.b.asyncEvents();
    }
}
