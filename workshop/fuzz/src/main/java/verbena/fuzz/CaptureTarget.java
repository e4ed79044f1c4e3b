package verbena.fuzz;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.tools.decode.Conversation;
import verbena.tools.decode.IwarpStreams;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Packet;
import verbena.wire.notation.CmText;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketText;
import verbena.wire.notation.PspText;
import verbena.wire.pcap.CaptureException;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.PspUnwrapper;
import verbena.wire.pcap.Unwrapped;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspMasterKey;

/// Capture files, and all that `verbena decode` does with their packets. The input is the file.
final class CaptureTarget {
    private static final Frame[] FRAMES = Frame.allocate(Arena.global().allocate(2L * Frame.SLOT_BYTES, 64));
    private static final Encapsulation ENCAPSULATION = new Encapsulation();

    /// A key for any SPI, which no input is sealed by.
    private static final PspMasterKey KEY = new PspMasterKey(new byte[PspMasterKey.BYTES]);

    private CaptureTarget() {}

    static void run(byte[] data) {
        var packets = new ArrayList<CapturedPacket>();
        Contract.worksOrFailsBy(CaptureException.class, () -> read(data, packets));
        Conversation conversation = null;
        var streams = new IwarpStreams();
        var psp = new PspUnwrapper((spi, version) -> List.of(KEY.derive(spi, version)), PspHeader.UDP_PORT);
        for (CapturedPacket packet : packets) {
            PspUnwrapper.Found found = psp.unwrap(packet);
            if (found != null) {
                Contract.holds(!PspText.format(found).isEmpty(), "a line for a packet of PSP");
            }
            switch (ENCAPSULATION.unwrap(packet.linkType(), packet.bytes(), FRAMES[0])) {
                case Unwrapped.Roce roce -> {
                    again(roce, packet);
                    conversation = look(conversation);
                }
                case Unwrapped.Part _ -> {
                    String _ = PacketText.format(FRAMES[0], Names.NUMBERS);
                }
                case Unwrapped.Tcp tcp -> {
                    Contract.holds(
                            tcp.payload().byteSize() <= Math.max(0, tcp.payloadBytes()), "more payload than there is");
                    List<IwarpStreams.Said> _ = streams.add(tcp);
                }
                case Unwrapped.Other _ -> {}
            }
        }
        if (conversation != null) {
            tell(conversation, packets);
        }
    }

    private static void read(byte[] data, List<CapturedPacket> packets) throws IOException {
        try (CaptureReader reader = CaptureReader.of(new ByteArrayInputStream(data))) {
            long bytes = 0;
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                bytes += packet.bytes().byteSize();
                Contract.holds(bytes <= data.length, "more bytes of packets than the file has");
                Contract.holds(packet.originalBytes() >= packet.bytes().byteSize(), "less on the wire than kept");
                packets.add(packet);
            }
        }
    }

    /// Checks that the packet is the same after it was put into its envelope and taken out again.
    private static void again(Unwrapped.Roce roce, CapturedPacket packet) {
        Frame frame = FRAMES[0];
        String text = PacketText.format(frame, Names.NUMBERS);
        String _ = CmText.format(frame);
        MemorySegment out = MemorySegment.ofArray(
                new byte[(int) roce.envelope().linkHeader().byteSize() + Encapsulation.OVERHEAD_MAX + frame.length]);
        int bytes = Encapsulation.wrap(frame, roce.envelope(), out);
        Unwrapped unwrapped = ENCAPSULATION.unwrap(packet.linkType(), out.asSlice(0, bytes), FRAMES[1]);
        Contract.holds(unwrapped instanceof Unwrapped.Roce, "wrapped and unwrapped: " + unwrapped);
        // A hop limit of 0 becomes another; it is outside the ICRC.
        Contract.equal(text, PacketText.format(FRAMES[1], Names.NUMBERS), "wrapped and unwrapped");
        Contract.equal(
                frame.packet().toArray(ValueLayout.JAVA_BYTE),
                FRAMES[1].packet().toArray(ValueLayout.JAVA_BYTE),
                "wrapped and unwrapped");
    }

    private static @Nullable Conversation look(@Nullable Conversation conversation) {
        Frame frame = FRAMES[0];
        if (Packet.check(frame) != Malformed.OK) {
            return conversation;
        }
        Conversation with =
                conversation == null ? new Conversation(Bth.destinationQp(frame.slot, frame.start)) : conversation;
        with.look(frame, Packet.opcode(frame));
        return with;
    }

    private static void tell(Conversation conversation, List<CapturedPacket> packets) {
        Contract.holds(conversation.settle(), "the queue pair of the first packet is in the capture");
        Contract.holds(!conversation.heading().isEmpty(), "a heading");
        long number = 0;
        for (CapturedPacket packet : packets) {
            number++;
            if (ENCAPSULATION.unwrap(packet.linkType(), packet.bytes(), FRAMES[0]) instanceof Unwrapped.Roce
                    && Packet.check(FRAMES[0]) == Malformed.OK) {
                boolean isDirect = packet.comment().contains("direct access:");
                Conversation.Told _ =
                        conversation.tell(FRAMES[0], Packet.opcode(FRAMES[0]), number, packet.nanos(), isDirect);
            }
        }
        Contract.equal(2, conversation.summary().size(), "a line for each direction");
    }
}
