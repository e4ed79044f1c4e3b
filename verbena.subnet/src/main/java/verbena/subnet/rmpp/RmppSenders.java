package verbena.subnet.rmpp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Rmpp;
import verbena.wire.mad.Sa;

/// The senders of long messages, in segments (IBTA 13.6): the receiver grants how many may be sent. Segments that
/// are not acknowledged are sent again, [#TIMES] at most. One thread at a time uses it; no method throws, whatever
/// arrives.
public final class RmppSenders {
    /// The most times that a segment is sent.
    public static final int TIMES = 5;
    private static final int MOST = 64;
    private static final long TIMEOUT_NANOS = 1_000_000_000L;

    private static final class Sender {
        final Datagram head;
        final int dataOffset;
        final int dataBytes;
        final int ownHeaderBytes;
        final byte[] payload;
        final int segments;
        int acknowledged;
        int windowLast = 1;
        int sent;
        int times = 1;
        long dueNanos;

        Sender(Datagram head, int dataOffset, byte[] payload) {
            this.head = head;
            this.dataOffset = dataOffset;
            this.payload = payload;
            dataBytes = Mad.BYTES - dataOffset;
            ownHeaderBytes = dataOffset - Rmpp.END;
            segments = Math.max(1, (payload.length + dataBytes - 1) / dataBytes);
        }

        MemorySegment segment(int number) {
            MemorySegment mad = Mad.copyOf(head.mad());
            MemorySegment data = mad.asSlice(dataOffset).fill((byte) 0);
            int from = (number - 1) * dataBytes;
            int bytes = Math.min(dataBytes, payload.length - from);
            MemorySegment.copy(MemorySegment.ofArray(payload), from, data, 0, bytes);
            Rmpp.RMPP_VERSION.put(mad, Rmpp.VERSION);
            Rmpp.TYPE.put(mad, Rmpp.DATA);
            Rmpp.RESPONSE_TIME.put(mad, 0x1F);
            Rmpp.ACTIVE.put(mad, true);
            Rmpp.FIRST.put(mad, number == 1);
            Rmpp.LAST.put(mad, number == segments);
            Rmpp.STATUS.put(mad, Rmpp.STATUS_NORMAL);
            Rmpp.SEGMENT.put(mad, number);
            int length = number == segments
                    ? bytes + ownHeaderBytes
                    : number == 1 ? payload.length + segments * ownHeaderBytes : 0;
            // A single segment is the first and the last; both rules say the same then.
            Rmpp.PAYLOAD_LENGTH.put(mad, length);
            return mad;
        }
    }

    private final Queue<Datagram> departures;
    private final List<Sender> senders = new ArrayList<>();

    /// @param departures takes the segments
    public RmppSenders(Queue<Datagram> departures) {
        this.departures = departures;
    }

    /// Returns the number of messages under way.
    public int size() {
        return senders.size();
    }

    /// Sends records, each padded to 8 bytes.
    ///
    /// @param answer its headers
    public void send(Datagram answer, List<MemorySegment> records, long nowNanos) {
        int each = records.isEmpty() ? 0 : (int) (records.getFirst().byteSize() + 7) / 8 * 8;
        byte[] payload = new byte[each * records.size()];
        for (int i = 0; i < records.size(); i++) {
            MemorySegment record = records.get(i);
            MemorySegment.copy(record, 0, MemorySegment.ofArray(payload), (long) i * each, record.byteSize());
        }
        if (!send(answer, Sa.HEADER_BYTES, payload, nowNanos)) {
            Mad.answer(answer.mad(), Mad.method(answer.mad()), Mad.STATUS_BUSY);
            departures.add(answer);
        }
    }

    /// Sends a message; false, and nothing is sent, when there are too many. It takes the place of one with the
    /// same receiver and transaction.
    ///
    /// @param head its headers, of which those of [Rmpp] are written here
    /// @param dataOffset where the data begin in each segment, behind all headers
    public boolean send(Datagram head, int dataOffset, byte[] payload, long nowNanos) {
        senders.removeIf(one -> isOf(one, head.route().dlid(), head.route().destinationQpn(), head.mad()));
        if (senders.size() == MOST) {
            return false;
        }
        var sender = new Sender(head, dataOffset, payload);
        senders.add(sender);
        advance(sender, nowNanos);
        return true;
    }

    /// Returns whether a datagram that has arrived is a receiver's reply to a message under way.
    public boolean isAwaited(int slid, int sourceQpn, MemorySegment mad) {
        return Rmpp.ACTIVE.getBoolean(mad)
                && Rmpp.TYPE.getInt(mad) >= Rmpp.ACK
                && senders.stream().anyMatch(one -> isOf(one, slid, sourceQpn, mad));
    }

    private void advance(Sender sender, long nowNanos) {
        while (sender.sent < Math.min(sender.windowLast, sender.segments)) {
            sender.sent++;
            departures.add(new Datagram(sender.head.route(), sender.segment(sender.sent)));
        }
        sender.dueNanos = nowNanos + TIMEOUT_NANOS;
    }

    private static boolean isOf(Sender sender, int lid, int qpn, MemorySegment mad) {
        return sender.head.route().dlid() == lid
                && sender.head.route().destinationQpn() == qpn
                && Mad.transactionId(sender.head.mad()) == Mad.transactionId(mad);
    }

    /// Handles the reply of a receiver, which acknowledges or gives up.
    public void onAnswer(Datagram answer, long nowNanos) {
        MadRoute route = answer.route();
        MemorySegment mad = answer.mad();
        for (Sender sender : List.copyOf(senders)) {
            if (isOf(sender, route.slid(), route.sourceQpn(), mad)) {
                if (Rmpp.TYPE.getInt(mad) != Rmpp.ACK) {
                    senders.remove(sender);
                    return;
                }
                long segment = Rmpp.SEGMENT.get(mad);
                long windowLast = Rmpp.NEW_WINDOW_LAST.get(mad);
                if (segment > sender.sent || windowLast < segment) {
                    senders.remove(sender); // a receiver that counts wrong
                    return;
                }
                if (segment < sender.acknowledged) {
                    return; // an old one
                }
                sender.acknowledged = (int) segment;
                sender.windowLast = (int) Math.min(windowLast, sender.segments);
                sender.times = 1;
                if (sender.acknowledged == sender.segments) {
                    senders.remove(sender);
                } else {
                    advance(sender, nowNanos);
                }
                return;
            }
        }
    }

    /// Returns the time at which to call [#onDeadline]; [Long#MAX_VALUE]: never.
    public long deadlineNanos() {
        return senders.stream().mapToLong(one -> one.dueNanos).min().orElse(Long.MAX_VALUE);
    }

    /// Repeats the segments that are due, and drops the messages that were repeated too often.
    public void onDeadline(long nowNanos) {
        for (Sender sender : List.copyOf(senders)) {
            if (sender.dueNanos <= nowNanos) {
                if (sender.times == TIMES) {
                    senders.remove(sender);
                } else {
                    sender.times++;
                    sender.sent = sender.acknowledged;
                    advance(sender, nowNanos);
                }
            }
        }
    }
}
