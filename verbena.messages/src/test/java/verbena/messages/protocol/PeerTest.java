package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.verbs.RemoteMemory;

/// One peer, frame by frame. Frames are written as they are on the wire.
class PeerTest {
    private static final int FRAME_BYTES = 64;

    private final Matching matching = new Matching();
    private final Peer peer = new Peer(
            new Peer.Owner() {
                @Override
                public Optional<Incoming> incoming(Peer itself, Kind kind, long tag, long length) {
                    return Optional.empty();
                }

                @Override
                public RemoteMemory expose(Peer itself, int offer, MemorySegment data) {
                    return new RemoteMemory(0x1000, 0xABCD, data.byteSize());
                }

                @Override
                public void withdraw(Peer itself, int offer) {}
            },
            matching,
            FRAME_BYTES,
            4);

    private String poll() {
        MemorySegment out = MemorySegment.ofArray(new byte[FRAME_BYTES]);
        int bytes = peer.poll(out);
        return HexFormat.of().formatHex(out.asSlice(0, bytes).toArray(JAVA_BYTE));
    }

    private String arrives(String frame) {
        return peer.onFrame(MemorySegment.ofArray(HexFormat.of().parseHex(frame.replace(" ", ""))));
    }

    private World.Sent message(int bytes) {
        return new World.Sent(0, 1, 0, 0x55, new byte[bytes]);
    }

    @Test
    void theFirstFrameGivesCreditsAndOthersWaitForSome() {
        peer.send(message(2));
        assertThat(poll()).isEqualTo("01000003" + "00000000" + "0000000000000000"); // window 4: three, and the reserve
        assertThat(poll()).isEmpty();
        assertThat(arrives("01 00 00 01 00000000 0000000000000000")).isNull();
        assertThat(poll()).isEqualTo("02000100" + "00000000" + "0000000000000055" + "0000"); // gives the reserve back
        peer.send(message(2));
        assertThat(poll()).isEmpty();
    }

    @Test
    void aLongMessageIsOfferedAndDoneWhenItIsTaken() {
        World.Sent message = message(100);
        peer.send(message);
        assertThat(poll()).startsWith("01");
        assertThat(arrives("01 00 00 03 00000000 0000000000000000")).isNull();
        assertThat(poll())
                .isEqualTo("03000100" + "00000001" + "0000000000000055" + "0000000000000064" + "0000000000001000"
                        + "0000abcd");
        assertThat(message.done).isZero();
        assertThat(arrives("04 00 00 00 00000001 0000000000000000")).isNull();
        assertThat(message.done).isEqualTo(1);
        assertThat(arrives("04 00 00 00 00000001 0000000000000000")).contains("not made");
    }

    @Test
    void aPeerWithMuchThatNoReceiveWaitsForAsksForOffers() {
        assertThat(poll()).startsWith("01");
        assertThat(arrives("01 00 00 03 00000000 0000000000000000")).isNull();
        long kept = 0;
        while (kept <= Peer.CROWDED_BYTES) {
            assertThat(arrives("02 00 01 00 00000000 0000000000000007" + "00".repeat(48)))
                    .isNull();
            kept += 48;
            poll();
        }
        peer.send(message(2));
        assertThat(poll()).startsWith("020002"); // the flag
        // The other side of it: this peer is asked, and offers what would fit.
        assertThat(arrives("01 00 02 03 00000000 0000000000000000")).isNull();
        peer.send(message(2));
        assertThat(poll()).startsWith("0300");
        while (matching.unexpectedCount() > 0) {
            matching.receive(7, -1, peer, new World.Posted(0, 0, 7, -1, null, 48));
        }
        peer.send(message(0));
        assertThat(poll()).startsWith("020000"); // not crowded any more; nothing to offer of no bytes
    }

    @ParameterizedTest
    @CsvSource({
        "'', a frame of 0 bytes",
        "'02 00 00', a frame of 3 bytes",
        "'09 00 00 00 00000000 0000000000000000', a frame of type 9",
        "'02 09 00 00 00000000 0000000000000000', a message of kind 9",
        "'02 01 00 00 00000000 0000000000000000', not taken",
        "'03 00 00 00 00000000 0000000000000000', an offer of 16 bytes",
        "'03 00 00 00 00000000 0000000000000000 8000000000000000 0000000000000000 00000000', an offer",
        "'03 07 00 00 00000000 0000000000000000 0000000000000001 0000000000000000 00000000', an offer of kind 7",
        "'04 00 00 00 00000009 0000000000000000', an offer was taken that was not made",
    })
    void aFrameThatIsWrongIsTold(String frame, String why) {
        assertThat(arrives(frame)).contains(why);
    }

    @Test
    void moreCreditsThanFramesAreWrong() {
        assertThat(arrives("01 00 00 ff 00000000 0000000000000000")).isNull();
        assertThat(arrives("01 00 00 01 00000000 0000000000000000")).contains("credits");
    }

    @Test
    void offersThatNoReceiveWaitsForAreBounded() {
        String wrong = null;
        int offers = 0;
        while (wrong == null) {
            wrong = arrives("03 00 01 00 00000001 0000000000000007 0000000000000001 0000000000000000 00000000");
            offers++;
        }
        assertThat(offers).isEqualTo(Peer.OFFERS_MAX + 1);
    }
}
