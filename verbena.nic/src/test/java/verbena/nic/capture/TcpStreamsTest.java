package verbena.nic.capture;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import verbena.nic.capture.CaptureTap.Kind;
import verbena.wire.Frame;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.LinkType;
import verbena.wire.pcap.Unwrapped.Tcp;

/// The TCP segments around the notes of a stream.
class TcpStreamsTest {
    private static final long LOCAL = 0xFFFF_7F00_0001L;
    private static final long REMOTE = 0xFFFF_7F00_0002L;

    private final NoteRing ring = new NoteRing(1 << 20);
    private final List<Tcp> segments = new ArrayList<>();
    private final Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 8))[0];
    private final TcpStreams streams = new TcpStreams((nanos, from, bytes, flags, comment) -> {
        MemorySegment copy = MemorySegment.ofArray(new byte[bytes]);
        MemorySegment.copy(from, 0, copy, 0, bytes);
        if (new Encapsulation().unwrap(LinkType.ETHERNET, copy, frame) instanceof Tcp tcp) {
            segments.add(tcp);
        }
    });

    private void note(Kind kind, long position, int bytes, long nanos) {
        synchronized (ring) {
            assertThat(ring.begin(kind.ordinal(), bytes)).isTrue();
            ring.putInt(NoteRing.STREAM, 1);
            ring.putLong(NoteRing.NANOS, nanos);
            ring.putLong(NoteRing.POSITION, position);
            ring.putLong(NoteRing.SOURCE_LOW, LOCAL);
            ring.putLong(NoteRing.DESTINATION_LOW, REMOTE);
            ring.putBytes(MemorySegment.ofArray(new byte[bytes]), 0, bytes);
            ring.publish();
        }
        int note = ring.peek();
        streams.add(kind, ring, note);
        ring.remove(note);
    }

    @Test
    void piecesFollowEachOther() {
        note(Kind.STREAM_SENT, 0, 100, 1);
        note(Kind.STREAM_RECEIVED, 0, 10, 2);
        note(Kind.STREAM_SENT, 100, 50, 3);
        note(Kind.STREAM_SENT, 150, 50, 3); // of one call: one segment
        streams.flush();

        assertThat(segments).extracting(Tcp::sequence).containsExactly(1, 1, 101);
        assertThat(segments).extracting(Tcp::payloadBytes).containsExactly(100, 10, 100);
        assertThat(segments.getLast().acknowledgement()).isEqualTo(11);
    }

    @Test
    void whatHadNoRoomInTheRingIsMissingInTheNumbers() {
        note(Kind.STREAM_SENT, 0, 100, 1);
        note(Kind.STREAM_SENT, 500, 50, 1);
        note(Kind.STREAM_RECEIVED, 70, 10, 2);
        note(Kind.STREAM_SENT, 550, 50, 3);
        streams.flush();

        assertThat(segments).extracting(Tcp::sequence).containsExactly(1, 501, 71, 551);
        assertThat(segments).extracting(Tcp::payloadBytes).containsExactly(100, 50, 10, 50);
        assertThat(segments.getLast().acknowledgement()).isEqualTo(81);
    }
}
