package verbena.subnet.rmpp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Rmpp;

/// The receivers of long messages that arrive in segments (IBTA 13.6). They put the segments together, and grant the
/// sender how many more it may send. Segments count in order; the sender repeats what is missing. One thread at a
/// time uses it; no method throws, whatever arrives.
public final class RmppReceivers {
    /// The longest message, in bytes: a longer message is refused.
    public static final int BYTES_MAX = 128 << 10;

    private static final int MOST = 64;
    private static final int WINDOW = 64;
    /// The time that a message may wait for its next segment, and that the end of a message is acknowledged again.
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    private static final class Receiver {
        final MadRoute route;
        final long transactionId;
        final int method;
        byte[] bytes = new byte[4 * Mad.BYTES];
        int length;
        long expected = 1;
        long windowLast = 1;
        boolean isComplete;
        long dueNanos;

        Receiver(Datagram first) {
            route = first.route();
            transactionId = Mad.transactionId(first.mad());
            method = Mad.method(first.mad());
        }

        void add(MemorySegment mad, int from, int count) {
            if (length + count > bytes.length) {
                bytes = Arrays.copyOf(bytes, 2 * bytes.length); // more than a segment
            }
            MemorySegment.copy(mad, ValueLayout.JAVA_BYTE, from, bytes, length, count);
            length += count;
        }

        boolean isOf(MadRoute from, MemorySegment mad) {
            return route.slid() == from.slid()
                    && route.sourceQpn() == from.sourceQpn()
                    && transactionId == Mad.transactionId(mad)
                    && method == Mad.method(mad);
        }
    }

    private final Queue<Datagram> departures;
    private final List<Receiver> receivers = new ArrayList<>();

    /// @param departures takes the replies to senders
    public RmppReceivers(Queue<Datagram> departures) {
        this.departures = departures;
    }

    /// Returns the number of messages that are under way, or have just ended.
    public int size() {
        return receivers.size();
    }

    /// Returns whether a datagram that has arrived is a segment of a message that is known.
    public boolean isKnown(MadRoute route, MemorySegment mad) {
        return find(route, mad) != null;
    }

    /// Forgets the messages of an earlier transaction with this number, because the transaction begins anew.
    public void forget(long transactionId) {
        receivers.removeIf(one -> one.transactionId == transactionId);
    }

    private @Nullable Receiver find(MadRoute route, MemorySegment mad) {
        for (Receiver one : receivers) {
            if (one.isOf(route, mad)) {
                return one;
            }
        }
        return null;
    }

    /// Handles the arrival of a datagram with [Rmpp#ACTIVE] that is no reply of a receiver.
    ///
    /// @param dataOffset where the data begin in each segment, behind all headers
    /// @return the headers of the first segment and all data, when this was the last; else null
    public byte @Nullable [] onSegment(Datagram segment, int dataOffset, long nowNanos) {
        MemorySegment mad = segment.mad();
        Receiver receiver = find(segment.route(), mad);
        long number = Rmpp.SEGMENT.get(mad);
        int refusal = refusal(mad, dataOffset);
        if (refusal != 0) {
            refuse(segment, receiver, Rmpp.ABORT, refusal);
            return null;
        }
        if (receiver == null) {
            if (number != 1 || !Rmpp.FIRST.getBoolean(mad)) {
                return null; // of a message that is over
            }
            if (receivers.size() == MOST) {
                refuse(segment, null, Rmpp.STOP, Rmpp.STATUS_NO_RESOURCES);
                return null;
            }
            receiver = new Receiver(segment);
            receiver.add(mad, 0, dataOffset);
            receivers.add(receiver);
        }
        receiver.dueNanos = nowNanos + PATIENCE_NANOS;
        if (number < receiver.expected) {
            acknowledge(segment, receiver); // the acknowledgement was lost
        }
        if (number != receiver.expected || receiver.isComplete) {
            return null;
        }
        boolean isLast = Rmpp.LAST.getBoolean(mad);
        int bytes = isLast ? (int) Rmpp.PAYLOAD_LENGTH.get(mad) - (dataOffset - Rmpp.END) : Mad.BYTES - dataOffset;
        if (receiver.length + bytes > BYTES_MAX) {
            refuse(segment, receiver, Rmpp.STOP, Rmpp.STATUS_NO_RESOURCES);
            return null;
        }
        receiver.add(mad, dataOffset, bytes);
        receiver.expected++;
        if (isLast || number == receiver.windowLast) {
            receiver.windowLast = isLast ? number : number + WINDOW;
            acknowledge(segment, receiver);
        }
        receiver.isComplete = isLast;
        return isLast ? Arrays.copyOf(receiver.bytes, receiver.length) : null;
    }

    /// Returns the reason why a segment is invalid, as a status; 0 when it is valid.
    private static int refusal(MemorySegment mad, int dataOffset) {
        if (Rmpp.RMPP_VERSION.getInt(mad) != Rmpp.VERSION) {
            return Rmpp.STATUS_BAD_VERSION;
        }
        if (Rmpp.TYPE.getInt(mad) != Rmpp.DATA) {
            return Rmpp.STATUS_BAD_TYPE;
        }
        long length = Rmpp.PAYLOAD_LENGTH.get(mad);
        boolean fits = length >= dataOffset - Rmpp.END && length <= Mad.BYTES - Rmpp.END;
        return Rmpp.LAST.getBoolean(mad) && !fits ? Rmpp.STATUS_BAD_LENGTH : 0;
    }

    private void acknowledge(Datagram segment, Receiver receiver) {
        say(segment, Rmpp.ACK, Rmpp.STATUS_NORMAL, receiver.expected - 1, receiver.windowLast);
    }

    private void refuse(Datagram segment, @Nullable Receiver receiver, int type, int status) {
        receivers.remove(receiver);
        if (Rmpp.TYPE.getInt(segment.mad()) <= Rmpp.DATA) { // what refuses is not refused
            say(segment, type, status, 0, 0);
        }
    }

    /// Sends a reply with the headers of the segment, in the other direction.
    private void say(Datagram segment, int type, int status, long number, long windowLast) {
        MadRoute route = segment.route();
        MemorySegment mad = Mad.copyOf(segment.mad());
        mad.asSlice(Rmpp.END).fill((byte) 0);
        Mad.answer(mad, Mad.method(mad) ^ Mad.RESPONSE, 0);
        Rmpp.RMPP_VERSION.put(mad, Rmpp.VERSION);
        Rmpp.TYPE.put(mad, type);
        Rmpp.ACTIVE.put(mad, true);
        Rmpp.FIRST.put(mad, false);
        Rmpp.LAST.put(mad, false);
        Rmpp.RESPONSE_TIME.put(mad, 0x1F);
        Rmpp.STATUS.put(mad, status);
        Rmpp.SEGMENT.put(mad, number);
        Rmpp.NEW_WINDOW_LAST.put(mad, windowLast);
        departures.add(new Datagram(route.back(route.port(), route.dlid()), mad));
    }

    /// Returns the time at which to call [#onDeadline]; [Long#MAX_VALUE]: never.
    public long deadlineNanos() {
        return receivers.stream().mapToLong(one -> one.dueNanos).min().orElse(Long.MAX_VALUE);
    }

    /// Forgets the messages whose time is over, if any.
    public void onDeadline(long nowNanos) {
        receivers.removeIf(one -> one.dueNanos <= nowNanos);
    }
}
