package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The matching of messages with receives. A message takes the oldest receive that it matches, and a receive the
/// oldest message. Both lists are looked through from the front, so a long one costs time.
public final class Matching {
    /// A receive that waits.
    ///
    /// @param mask the bits of the tag that count
    /// @param from null for any peer
    private record Expected(long tag, long mask, @Nullable Peer from, Incoming incoming) {
        boolean takes(Peer peer, long itsTag) {
            return (from == null || from == peer) && ((itsTag ^ tag) & mask) == 0;
        }
    }

    /// A message that waits, whole or as an offer.
    private static final class Unexpected {
        private final Peer from;
        private final long tag;
        private final byte[] whole;
        private final Peer.@Nullable Offer offer;

        private Unexpected(Peer from, long tag, byte[] whole, Peer.@Nullable Offer offer) {
            this.from = from;
            this.tag = tag;
            this.whole = whole;
            this.offer = offer;
        }
    }

    private static final String CLOSED = "its memory was closed before the message came";

    private final long leftMax;
    private long leftBytes;
    private long dropped;
    private final ArrayDeque<Expected> expected = new ArrayDeque<>();
    private final ArrayDeque<Unexpected> unexpected = new ArrayDeque<>();
    private @Nullable String closed;

    /// @param leftMax bytes of whole messages that lost peers leave here; the oldest go when there are more
    public Matching(long leftMax) {
        this.leftMax = leftMax;
    }

    /// Takes the receive for a message that has come; returns empty when none waits for it.
    Optional<Incoming> take(Peer from, long tag) {
        Iterator<Expected> each = expected.iterator();
        while (each.hasNext()) {
            Expected receive = each.next();
            if (receive.takes(from, tag)) {
                each.remove();
                if (isOpen(receive.incoming)) {
                    return Optional.of(receive.incoming);
                }
                receive.incoming.failed(CLOSED);
            }
        }
        return Optional.empty();
    }

    /// Keeps a message for a receive to come.
    void keep(Peer from, long tag, byte[] whole, Peer.@Nullable Offer offer) {
        unexpected.add(new Unexpected(from, tag, whole, offer));
    }

    /// Posts a receive. It may be done at once.
    ///
    /// @return the peer whose message it took; null for none
    public @Nullable Peer receive(long tag, long mask, @Nullable Peer from, Incoming incoming) {
        if (closed != null) {
            incoming.failed(closed);
            return null;
        }
        var receive = new Expected(tag, mask, from, incoming);
        Iterator<Unexpected> each = unexpected.iterator();
        while (each.hasNext()) {
            Unexpected message = each.next();
            if (receive.takes(message.from, message.tag)) {
                Peer.Offer offer = message.offer;
                if (offer != null) {
                    message.from.read(offer, message.tag, incoming);
                } else if (deliver(message.from.owner(), message.tag, MemorySegment.ofArray(message.whole), incoming)) {
                    message.from.released(message.whole.length);
                } else {
                    return null;
                }
                each.remove();
                leftBytes -= leftBy(message);
                assert leftBytes >= 0 : leftBytes;
                return message.from;
            }
        }
        if (from != null && from.isLost()) {
            incoming.failed(from.whyLost());
        } else {
            expected.add(receive);
        }
        return null;
    }

    private static boolean isOpen(Incoming incoming) {
        return incoming.memory().scope().isAlive();
    }

    /// Copies a message. False when the memory was closed: then this has failed, and the message is for another.
    static boolean deliver(PeerOwner from, long tag, MemorySegment message, Incoming incoming) {
        MemorySegment into = incoming.memory();
        long bytes = Math.min(message.byteSize(), into.byteSize());
        try {
            MemorySegment.copy(message, ValueLayout.JAVA_BYTE, 0, into, ValueLayout.JAVA_BYTE, 0, bytes);
        } catch (IllegalStateException e) { // by the program
            incoming.failed(CLOSED);
            return false;
        }
        incoming.done(from, tag, message.byteSize());
        return true;
    }

    /// Takes a receive back; false when it has a message already.
    public boolean withdraw(Incoming incoming) {
        return expected.removeIf(each -> each.incoming == incoming);
    }

    /// Forgets a peer from which nothing more will come: receives from it alone fail. Its messages that have come
    /// whole stay; its offers are gone.
    void forget(Peer peer, String why) {
        unexpected.removeIf(each -> each.from == peer && each.offer != null);
        leftBytes += unexpected.stream()
                .filter(each -> each.from == peer)
                .mapToLong(Matching::leftBy)
                .sum();
        Iterator<Unexpected> oldest = unexpected.iterator();
        while (leftBytes > leftMax) {
            Unexpected message = oldest.next();
            if (message.from.isLost()) {
                leftBytes -= leftBy(message);
                dropped++;
                oldest.remove();
            }
        }
        var failing = expected.stream().filter(each -> each.from == peer).toList();
        expected.removeAll(failing);
        failing.forEach(each -> each.incoming.failed(why));
    }

    /// Fails all receives, and those to come.
    public void close(String why) {
        closed = why;
        unexpected.clear();
        var failing = expected.stream().toList();
        expected.clear();
        failing.forEach(each -> each.incoming.failed(why));
    }

    /// Returns the cost of a message that a lost peer has left; 0 when the peer is not lost.
    private static long leftBy(Unexpected message) {
        return message.from.isLost() ? message.whole.length + PeerLimits.KEPT_COST : 0;
    }

    /// Returns the number of whole messages of lost peers that no receive took and that exceeded their limit.
    public long dropped() {
        return dropped;
    }

    /// Returns the number of messages that no receive waits for, whole or offered.
    public int unexpectedCount() {
        return unexpected.size();
    }
}
