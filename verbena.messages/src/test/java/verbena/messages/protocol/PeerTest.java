package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.verbs.RemoteMemory;

/// One peer, frame by frame. Frames are written as they are on the wire.
class PeerTest {
    private static final int FRAME_BYTES = 64;

    private static final int CROWDED_BYTES = 10_000;
    private static final int OFFERS = 5;

    private final Matching matching = new Matching(1 << 20);
    private boolean hasRoom = true;
    private final List<byte[]> requests = new ArrayList<>();
    private final List<String> handled = new ArrayList<>();

    private final Peer peer = new Peer(
            new PeerOwner() {
                @Override
                public Optional<Incoming> incoming(Kind kind, long tag, long length) {
                    return kind == Kind.CALL ? Optional.of(request((int) length)) : Optional.empty();
                }

                @Override
                public boolean active(int handler, MemorySegment frame, int at, int header, long bytes) {
                    handled.add(handler + ":"
                            + HexFormat.of().formatHex(frame.asSlice(at, header).toArray(JAVA_BYTE)) + ":"
                            + HexFormat.of()
                                    .formatHex(frame.asSlice(at + header, bytes).toArray(JAVA_BYTE)));
                    return handler != 0;
                }

                @Override
                public Optional<Incoming> active(int handler, byte[] header, long length) {
                    handled.add(handler + ":" + HexFormat.of().formatHex(header));
                    return Optional.of(request((int) length));
                }

                @Override
                public boolean admits(long length) {
                    return hasRoom;
                }

                @Override
                public List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange) {
                    return List.of(new RemoteMemory(0x1000, 0xABCD, data.byteSize()));
                }

                @Override
                public void withdraw(int offer, boolean isRead) {}
            },
            matching,
            new PeerLimits(FRAME_BYTES, 4, CROWDED_BYTES, OFFERS, OFFERS, 1));

    private Incoming request(int length) {
        return new Incoming() {
            @Override
            public MemorySegment memory() {
                requests.add(new byte[length]);
                return MemorySegment.ofArray(requests.getLast());
            }

            @Override
            public void done(PeerOwner from, long tag, long bytes) {}

            @Override
            public void failed(String why) {}
        };
    }

    private String poll() {
        MemorySegment out = MemorySegment.ofArray(new byte[FRAME_BYTES]);
        return hex(out, peer.poll(out));
    }

    private static String hex(MemorySegment frame, int bytes) {
        return HexFormat.of().formatHex(frame.asSlice(0, bytes).toArray(JAVA_BYTE));
    }

    private String arrives(String frame) {
        byte[] bytes = HexFormat.of().parseHex(frame.replace(" ", ""));
        return peer.onFrame(MemorySegment.ofArray(bytes), bytes.length);
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
        while (kept <= CROWDED_BYTES) {
            assertThat(arrives("02 00 01 00 00000000 0000000000000007" + "00".repeat(48)))
                    .isNull();
            kept += 48 + PeerLimits.KEPT_COST;
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
        assertThat(poll()).startsWith("030000"); // not crowded any more; an offer of no bytes, and of no memory
    }

    @ParameterizedTest
    @CsvSource({
        "'', a frame of 0 bytes",
        "'02 00 00', a frame of 3 bytes",
        "'09 00 00 00 00000000 0000000000000000', a frame of type 9",
        "'02 09 00 00 00000000 0000000000000000', a message of kind 9",
        "'02 02 00 00 00000000 0000000000000000', not taken",
        "'03 00 00 00 00000000 0000000000000000', an offer of 16 bytes",
        "'03 00 00 00 00000000 0000000000000000 8000000000000000 0000000000000000 00000000', an offer",
        "'03 07 00 00 00000000 0000000000000000 0000000000000001 0000000000000000 00000000', an offer of kind 7",
        "'02 05 00 00 00000000 0000000300000002 aa', an active message of 17 bytes with a header of 2",
        "'03 05 00 00 00000000 0000000300000002 0000000000000001 0000000000000000 00000000 aa', an offer of 37 bytes",
        "'02 05 00 00 00000000 00000003ffffffff aa', with a header of -1",
        "'04 00 00 00 00000009 0000000000000000', an offer was taken that was not made",
    })
    void aFrameThatIsWrongIsTold(String frame, String why) {
        poll(); // credits
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
            poll();
            wrong = arrives("03 00 01 00 00000001 0000000000000007 0000000000000001 0000000000000000 00000000");
            offers++;
        }
        assertThat(offers).isEqualTo(OFFERS + 1);
    }

    @Test
    void aPeerThatSendsWholeMessagesAfterItWasAskedForOffersIsWrong() {
        assertThat(poll()).startsWith("01");
        String whole = "02 00 01 00 00000000 0000000000000007" + "00".repeat(48);
        String wrong = null;
        int frames = 0;
        while (wrong == null) {
            wrong = arrives(whole);
            frames++;
            poll();
        }
        int until = CROWDED_BYTES / (48 + PeerLimits.KEPT_COST) + 1;
        assertThat(frames).isGreaterThan(until).isLessThanOrEqualTo(until + 2 * 4); // windows of four
        assertThat(wrong).contains("after offers were asked for");
    }

    /// Credits for all of them; the sixth waits here, a short one behind it passes, and so does an answer.
    @Test
    void offersThatThePeerDoesNotTakeAreHeldBackAndOthersPass() {
        poll();
        assertThat(arrives("01 00 00 14 00000000 0000000000000000")).isNull();
        for (int i = 0; i < OFFERS + 2; i++) {
            peer.send(message(100));
        }
        peer.send(new Outgoing(Kind.ANSWER, 9, MemorySegment.NULL) {
            @Override
            public void done() {}

            @Override
            public void failed(String why) {}
        });
        for (int i = 0; i < OFFERS; i++) {
            assertThat(poll()).startsWith("0300");
        }
        assertThat(poll()).startsWith("0202");
        assertThat(peer.heldBack()).isEqualTo(2);
        assertThat(poll()).isEmpty();
        assertThat(arrives("04 00 00 00 00000003 0000000000000000")).isNull();
        assertThat(poll()).startsWith("0300").contains("00000006");
        assertThat(poll()).isEmpty();
        assertThat(peer.heldBack()).isEqualTo(1);
        assertThat(peer.isIdle()).isFalse();
    }

    @Test
    void aFrameWithoutACreditIsWrong() {
        poll(); // three
        String whole = "02 00 00 00 00000000 0000000000000007";
        for (int i = 0; i < 3; i++) {
            assertThat(arrives(whole)).isNull();
        }
        assertThat(arrives(whole)).contains("without a credit");
    }

    /// The header and the data follow each other in one frame; a long message has its header behind the offer.
    @Test
    void anActiveMessageHasAHeaderAndData() {
        poll();
        assertThat(arrives("01 00 00 09 00000000 0000000000000000")).isNull();
        assertThat(atOnce(Kind.ACTIVE, Outgoing.activeTag(3, 1), array("aa"), array("010203")))
                .isEqualTo("02050100" + "00000000" + "0000000300000001" + "aa" + "010203");
        peer.send(active(new byte[] {(byte) 0xBB}, 2));
        peer.send(active(new byte[] {(byte) 0xCC, (byte) 0xDD}, 50));
        assertThat(atOnce(Kind.ACTIVE, Outgoing.activeTag(3, 0), MemorySegment.NULL, array("010203")))
                .isEmpty(); // others wait
        assertThat(poll()).isEqualTo("02050000" + "00000000" + "0000000500000001" + "bb" + "0000");
        assertThat(poll())
                .isEqualTo("03050000" + "00000001" + "0000000500000002" + "0000000000000032" + "0000000000001000"
                        + "0000abcd" + "ccdd");
        MemorySegment tooLong = MemorySegment.ofArray(new byte[60]);
        assertThat(atOnce(Kind.ACTIVE, Outgoing.activeTag(3, 0), MemorySegment.NULL, tooLong))
                .isEmpty();
    }

    /// It is the frame that it would be if it waited.
    @Test
    void aTaggedMessageMayLeaveAtOnce() {
        poll();
        assertThat(arrives("01 00 00 02 00000000 0000000000000000")).isNull();
        assertThat(atOnce(Kind.TAGGED, 7, MemorySegment.NULL, array("010203")))
                .isEqualTo("02000100" + "00000000" + "0000000000000007" + "010203");
    }

    @Test
    void aPeerThatIsCrowdedIsSentNoMessageAtOnce() {
        poll();
        assertThat(arrives("01 00 02 02 00000000 0000000000000000")).isNull();
        assertThat(atOnce(Kind.TAGGED, 7, MemorySegment.NULL, MemorySegment.NULL))
                .isEmpty();
    }

    @Test
    void memoryThatIsClosedCostsNoCredit() {
        poll();
        assertThat(arrives("01 00 00 01 00000000 0000000000000000")).isNull();
        MemorySegment gone;
        try (var arena = Arena.ofConfined()) {
            gone = arena.allocate(8);
        }
        assertThatThrownBy(() -> atOnce(Kind.ACTIVE, Outgoing.activeTag(3, 0), MemorySegment.NULL, gone))
                .isInstanceOf(IllegalStateException.class);
        assertThat(atOnce(Kind.TAGGED, 7, MemorySegment.NULL, MemorySegment.NULL))
                .isEqualTo("02000100" + "00000000" + "0000000000000007");
    }

    /// The frame of a message that leaves at once; empty when it does not.
    private String atOnce(Kind kind, long tag, MemorySegment header, MemorySegment data) {
        MemorySegment out = MemorySegment.ofArray(new byte[FRAME_BYTES]);
        return hex(out, peer.pollAtOnce(out, kind, tag, header, data));
    }

    private static MemorySegment array(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
    }

    private static Outgoing active(byte[] header, int bytes) {
        return new Outgoing(5, header, MemorySegment.ofArray(new byte[bytes])) {
            @Override
            public void done() {}

            @Override
            public void failed(String why) {}
        };
    }

    /// Three credits, and the reserve: an end that handles three messages gives none until one is handled.
    @Test
    void aFrameIsTheHandlersUntilItIsHandled() {
        poll();
        assertThat(arrives("02 05 01 00 00000000 0000000300000001 aa 0102")).isNull();
        assertThat(arrives("02 05 00 00 00000000 0000000300000000 03")).isNull();
        assertThat(arrives("03 05 00 00 00000007 0000000900000001 0000000000000064 0000000000000000 00000000 bb"))
                .isNull();
        assertThat(handled).containsExactly("3:aa:0102", "3::03", "9:bb");
        assertThat(peer.pollRead()).isNotNull();
        assertThat(poll()).isEmpty(); // one owed, of the offer
        peer.handled();
        assertThat(poll()).startsWith("01000002");
        peer.handled();
        assertThat(arrives("02 05 01 00 00000000 0000000000000000")).isNull(); // handler 0 does not want it
        assertThat(poll()).startsWith("01000002");
    }

    @Test
    void aLongRequestIsReadWhenThereIsRoomForIt() {
        hasRoom = false;
        poll();
        assertThat(arrives("03 01 01 03 00000001 0000000000000007 0000000000000100 0000000000000000 00000000"))
                .isNull();
        assertThat(peer.pollRead()).isNull();
        assertThat(peer.unread()).isEqualTo(1);
        assertThat(requests).isEmpty();
        hasRoom = true;
        Peer.Read read = peer.pollRead();
        assertThat(read).isNotNull();
        assertThat(requests).hasSize(1);
        assertThat(peer.unread()).isZero();
    }

    @Test
    void messagesOfALostPeerStayUntilThereAreTooMany() {
        var few = new Matching(2 * (48 + PeerLimits.KEPT_COST));
        var lost = new ArrayList<Peer>();
        for (int i = 0; i < 3; i++) {
            var each = new Peer(peer.owner(), few, new PeerLimits(FRAME_BYTES, 4, CROWDED_BYTES, OFFERS, OFFERS, 1));
            each.poll(MemorySegment.ofArray(new byte[FRAME_BYTES])); // credits
            byte[] frame = HexFormat.of().parseHex("0200010000000000" + "000000000000000" + i + "00".repeat(48));
            assertThat(each.onFrame(MemorySegment.ofArray(frame), frame.length)).isNull();
            each.lose("gone", List.of());
            lost.add(each);
        }
        assertThat(few.dropped()).isEqualTo(1);
        assertThat(few.unexpectedCount()).isEqualTo(2);
        var receive = new World.Posted(0, 0, 0, 0, null, 48);
        assertThat(few.receive(0, 0, null, receive)).isSameAs(lost.get(1)); // the oldest was dropped
    }
}
