package verbena.tools.doctor;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Link;
import verbena.nic.link.udp.UdpLink;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.cm.CmMessage;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.mad.Mad;

/// Management datagrams straight through a link, without a device: they have to come through where a device
/// would not.
final class ManagementQuestions implements Surroundings.Questions {
    private static final int PAYLOAD = Frame.HEADROOM + Bth.BYTES + Deth.BYTES;
    private static final int BATCH = 8;
    /// A question is lost like any datagram: so often it is asked in all.
    private static final int ATTEMPTS = 4;

    /// A wait in the link is not ended by an interrupt, as Ctrl-C makes it: so often it is looked for.
    private static final long LOOK_NANOS = 100_000_000;

    /// Bits of an ID that are free when others share the address ([Link#slot()]).
    private static final int ID_BITS = 24;

    private final UdpLink link;
    private final RandomGenerator random = new SecureRandom();
    private final Arena arena = Arena.ofConfined();
    private final Frame[] out = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64));
    private final Frame[] in = Frame.allocate(arena.allocate((long) Frame.SLOT_BYTES * BATCH, 64));
    private int psn;

    /// @param link with one address; closed with this
    ManagementQuestions(UdpLink link) {
        this.link = link;
    }

    @Override
    public int newId() {
        int any = random.nextInt(1, 1 << ID_BITS);
        return link.slot() == Link.NO_SLOT ? any : (link.slot() << ID_BITS) | any;
    }

    @Override
    public Gid own() {
        return link.gids().getFirst().gid();
    }

    @Override
    public Optional<CmMessage> ask(Gid peer, CmMessage question, Duration timeout) {
        long each = timeout.toNanos() / ATTEMPTS;
        for (int i = 0; i < ATTEMPTS; i++) {
            tell(peer, question);
            CmMessage answer = answer(peer, question, System.nanoTime() + each);
            if (answer != null) {
                return Optional.of(answer);
            }
        }
        return Optional.empty();
    }

    @Override
    public void tell(Gid peer, CmMessage message) {
        Frame frame = out[0];
        Bth.write(frame.slot, frame.start, Opcode.UD_SEND_ONLY, false, 0, Bth.PKEY_DEFAULT, Mad.QPN, false, psn++);
        Deth.write(frame.slot, frame.start + Bth.BYTES, Mad.QKEY, Mad.QPN);
        message.write(frame.slot.asSlice(PAYLOAD, Mad.BYTES));
        frame.length = Packet.length(Opcode.UD_SEND_ONLY, Mad.BYTES);
        frame.sourceHigh = own().high();
        frame.sourceLow = own().low();
        frame.destinationHigh = peer.high();
        frame.destinationLow = peer.low();
        link.transmit(out, 0, 1);
    }

    private @Nullable CmMessage answer(Gid peer, CmMessage question, long untilNanos) {
        for (long left = 1; left > 0; left = untilNanos - System.nanoTime()) {
            int count = link.receive(in, 0, BATCH);
            for (int i = 0; i < count; i++) {
                CmMessage message = read(in[i], peer);
                if (message != null
                        && message.transactionId() == question.transactionId()
                        && message.attributeId() != question.attributeId()) {
                    return message;
                }
            }
            if (count == 0) {
                link.await(Math.min(untilNanos - System.nanoTime(), LOOK_NANOS));
                if (Thread.currentThread().isInterrupted()) {
                    throw new CommandFailed("interrupted");
                }
            }
        }
        return null;
    }

    private static @Nullable CmMessage read(Frame frame, Gid peer) {
        if (!frame.icrcValid
                || frame.sourceHigh != peer.high()
                || frame.sourceLow != peer.low()
                || Packet.check(frame) != Malformed.OK
                || Packet.opcode(frame) != Opcode.UD_SEND_ONLY
                || Bth.destinationQp(frame.slot, frame.start) != Mad.QPN
                || Packet.payloadBytes(frame, Opcode.UD_SEND_ONLY) != Mad.BYTES) {
            return null;
        }
        MemorySegment mad = frame.slot.asSlice(PAYLOAD, Mad.BYTES);
        return CmMessage.read(mad);
    }

    @Override
    public void close() {
        link.close();
        arena.close();
    }
}
