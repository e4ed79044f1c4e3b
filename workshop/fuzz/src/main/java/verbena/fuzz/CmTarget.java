package verbena.fuzz;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import verbena.cm.CmCall;
import verbena.cm.CmConnection;
import verbena.cm.CmEnd;
import verbena.cm.CmEvent;
import verbena.cm.CmExtension;
import verbena.cm.CmLimits;
import verbena.cm.CmRoute;
import verbena.cm.CommunicationManager;
import verbena.cm.SidrInquiry;
import verbena.verbs.Gid;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Req;
import verbena.wire.mad.Mad;
import verbena.wire.notation.CmText;

/// Management datagrams: each is read, printed, written and read again, and given to a communication manager
/// that is at work. The input is a program of datagrams, decisions and time.
final class CmTarget {
    private static final Gid SERVER = Gid.parse("10.0.0.2");
    private static final long SERVICE = IpCmHeader.serviceId(IpCmHeader.PORT_SPACE_TCP, 7_471);
    private static final int[] ATTRIBUTES = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A};
    private static final CmCall CALL = new CmCall(SERVICE, 0, 3, 14, 7, 0, 64, 0, 17, 3);
    private static final CmLimits LIMITS = new CmLimits(16, 6, 3);
    private static final int STEPS_MAX = 40;
    private static final int HEAD = 96;

    private final Input in;
    private final CommunicationManager manager =
            new CommunicationManager(0xB, CommunicationManager.NO_SLOT, new SplittableRandom(3), LIMITS);
    private final List<CmConnection> live = new ArrayList<>();
    private final List<SidrInquiry> open = new ArrayList<>();
    private final List<byte[]> heard = new ArrayList<>();
    private final byte[] bytes = new byte[Mad.BYTES];
    private final MemorySegment mad = MemorySegment.ofArray(bytes);
    private long now = 1_000;
    private int qpn = 1;

    private CmTarget(Input in) {
        this.in = in;
        manager.listen(SERVICE, 4, this::onEvent);
        manager.answer(SERVICE + 1, open::add);
    }

    static void run(byte[] data) {
        new CmTarget(new Input(data)).run();
    }

    private void run() {
        for (int step = 0; step < STEPS_MAX && in.hasMore(); step++) {
            int what = in.u8();
            switch (what & 3) {
                case 0, 1 -> arrive(what >>> 2);
                case 2 -> decide(what >>> 2);
                default -> {
                    now += 1L + in.u16() * 1_000_000L;
                    manager.onDeadline(now);
                    Contract.holds(manager.deadlineNanos() > now, "a deadline that is over");
                }
            }
            hearAll();
        }
    }

    private Gid peer(int number) {
        return new Gid(0, 0xFFFF_0B00_0000L + number % 3);
    }

    private void arrive(int choices) {
        Gid from = peer(choices);
        compose(choices >>> 2, from);
        Contract.holds(manager.poll() == null, "something was not sent");
        readAndPrint();
        manager.onMad(mad, new CmRoute(SERVER, from), now);
        int answers = hearAll();
        Contract.holds(answers <= 2, answers + " answers to one datagram"); // and one to a peer that it displaces
    }

    /// Composes a message: a message that was received with some bytes changed, or a right header with any bytes
    /// behind it.
    private void compose(int choices, Gid from) {
        if ((choices & 1) != 0 && !heard.isEmpty()) {
            System.arraycopy(heard.get(in.below(heard.size())), 0, bytes, 0, Mad.BYTES);
            if ((choices & 2) != 0) {
                bytes[17] = (byte) ATTRIBUTES[in.below(ATTRIBUTES.length)];
                swapNames();
            }
            for (int i = in.u8() & 7; i > 0; i--) {
                bytes[in.u8()] = (byte) in.u8();
            }
        } else {
            java.util.Arrays.fill(bytes, (byte) 0);
            byte[] body = in.take(in.u8());
            System.arraycopy(body, 0, bytes, Mad.HEADER_BYTES, Math.min(body.length, Mad.BYTES - Mad.HEADER_BYTES));
            bytes[0] = 1;
            bytes[1] = Mad.CLASS_CM;
            bytes[2] = (byte) ((choices & 2) != 0 ? in.u8() : Mad.CM_VERSION);
            bytes[3] = Mad.METHOD_SEND;
            bytes[17] = (byte) ATTRIBUTES[in.below(ATTRIBUTES.length)];
            if ((choices & 4) != 0) {
                mad.set(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(java.nio.ByteOrder.BIG_ENDIAN), 32, SERVICE);
            }
        }
        if ((choices & 8) != 0) {
            // A REQ has to name the addresses that it travels between.
            MemorySegment.copy(MemorySegment.ofArray(from.bytes()), 0, mad, 24 + 56, Gid.BYTES);
            MemorySegment.copy(MemorySegment.ofArray(SERVER.bytes()), 0, mad, 24 + 72, Gid.BYTES);
        }
    }

    /// Turns a message of the manager into a message of the other end: the two communication IDs change places.
    private void swapNames() {
        for (int i = Mad.HEADER_BYTES; i < Mad.HEADER_BYTES + 4; i++) {
            byte b = bytes[i];
            bytes[i] = bytes[i + 4];
            bytes[i + 4] = b;
        }
    }

    private void readAndPrint() {
        CmMessage message = CmMessage.read(mad);
        if (message == null) {
            return;
        }
        String text = CmText.format(message);
        Contract.equal(List.of(), CmText.differences(text, message), text);
        MemorySegment again = MemorySegment.ofArray(new byte[Mad.BYTES]);
        message.write(again);
        CmMessage reread = CmMessage.read(again);
        Contract.holds(message.equals(reread), "written and read again: " + message + " became " + reread);
        if (message instanceof Req req) {
            IpCmHeader header = IpCmHeader.read(req.privateData());
            Contract.holds(header == null || header.toString().length() < 4 * HEAD, "the addresses of the request");
        }
    }

    private CmEnd end() {
        qpn = qpn % 1_000 + 1;
        return new CmEnd(qpn, 77, 1, 1, 7, false, CmExtension.NONE, PrivateData.NONE);
    }

    private void decide(int choices) {
        if ((choices & 3) == 0) {
            CmConnection made =
                    manager.connect(new CmRoute(SERVER, peer(choices >>> 2)), CALL, end(), this::onEvent, now);
            if (made != null) {
                live.add(made);
            }
            return;
        }
        if (!open.isEmpty() && (choices & 4) != 0) {
            open.removeLast().answer(choices >>> 3 & 1, 7, 8, PrivateData.NONE);
        }
        if (live.isEmpty()) {
            return;
        }
        CmConnection connection = live.get(in.below(live.size()));
        switch (connection.state()) {
            case REQ_RECEIVED -> {
                if ((choices & 8) != 0) {
                    connection.reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, now);
                } else {
                    connection.accept(end(), now);
                }
            }
            case REP_RECEIVED -> connection.ready(PrivateData.NONE, now);
            case REP_SENT, ESTABLISHED, REQ_SENT -> {
                if ((choices & 8) != 0) {
                    connection.disconnect(PrivateData.NONE, now);
                } else if (connection.state() == CmConnection.State.REP_SENT) {
                    connection.communicationEstablished();
                }
            }
            case DREQ_SENT, TIMEWAIT, CLOSED -> live.remove(connection);
        }
    }

    private void onEvent(CmConnection connection, CmEvent event) {
        if (event instanceof CmEvent.Requested) {
            live.add(connection);
        }
    }

    private int hearAll() {
        int said = 0;
        for (var out = manager.poll(); out != null; out = manager.poll()) {
            said++;
            Contract.holds(said < 100, "it answers for ever");
            Contract.equal(SERVER, out.route().local(), "where it answers from");
            byte[] copy = new byte[Mad.BYTES];
            out.message().write(MemorySegment.ofArray(copy));
            CmMessage read = CmMessage.read(MemorySegment.ofArray(copy));
            if (read == null) {
                throw new Contract.Broken("what it sends cannot be read");
            }
            byte[] again = new byte[Mad.BYTES];
            read.write(MemorySegment.ofArray(again));
            Contract.equal(copy, again, "what it sends, read and written again");
            if (heard.size() < 16) {
                heard.add(copy);
            } else {
                heard.set(said & 15, copy);
            }
        }
        return said;
    }
}
