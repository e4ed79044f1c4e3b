package verbena.verbs;

import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/// The options of a new queue pair (`struct ibv_qp_init_attr`, ibv_create_qp(3)). Start with [#rc], [#uc], [#ud] or
/// [#xrcInitiator]. Immutable. The constructor throws [IllegalArgumentException] for a negative size, and for an
/// unknown extension.
///
/// @param type kind of service
/// @param sendCq where sends complete
/// @param receiveCq where receives complete; may be the same
/// @param sharedReceiveQueue that its receives come from; empty for a receive queue of its own. It may be of another
///     protection domain. The memory of its receives then belongs to that one, all other memory to the queue pair's
/// @param sizes of its queues
/// @param signalAll whether every send request has a completion, and not only signaled requests
/// @param extensions further requests that may be posted: [Capability#FLUSH] and [Capability#ATOMIC_WRITE]
/// @since 0.1
public record QueuePairOptions(
        QpType type,
        CompletionQueue sendCq,
        CompletionQueue receiveCq,
        Optional<SharedReceiveQueue> sharedReceiveQueue,
        Sizes sizes,
        boolean signalAll,
        Set<Capability> extensions) {
    /// The sizes of a queue pair (`struct ibv_qp_cap`).
    ///
    /// @param maxSendWr requests that can be outstanding on the send queue
    /// @param maxReceiveWr receives that can be outstanding; ignored with a shared receive queue
    /// @param maxSendSge gather entries of a send request
    /// @param maxReceiveSge scatter entries of a receive
    /// @param maxInlineBytes bytes that a send request can carry in itself
    public record Sizes(int maxSendWr, int maxReceiveWr, int maxSendSge, int maxReceiveSge, int maxInlineBytes) {
        public Sizes {
            notNegative("maxSendWr", maxSendWr);
            notNegative("maxReceiveWr", maxReceiveWr);
            notNegative("maxSendSge", maxSendSge);
            notNegative("maxReceiveSge", maxReceiveSge);
            notNegative("maxInlineBytes", maxInlineBytes);
        }

        /// Returns these sizes with other numbers of requests that can be outstanding.
        public Sizes withDepth(int maxSendWr, int maxReceiveWr) {
            return new Sizes(maxSendWr, maxReceiveWr, maxSendSge, maxReceiveSge, maxInlineBytes);
        }

        /// Returns these sizes with other numbers of entries.
        public Sizes withSge(int maxSendSge, int maxReceiveSge) {
            return new Sizes(maxSendWr, maxReceiveWr, maxSendSge, maxReceiveSge, maxInlineBytes);
        }

        /// Returns these sizes with another number of inline bytes.
        public Sizes withInline(int maxInlineBytes) {
            return new Sizes(maxSendWr, maxReceiveWr, maxSendSge, maxReceiveSge, maxInlineBytes);
        }

        private static void notNegative(String name, int value) {
            if (value < 0) {
                throw new IllegalArgumentException(name + ": not negative, got " + value);
            }
        }
    }

    private static final Sizes SIZES = new Sizes(128, 128, 4, 4, 64);
    private static final Set<Capability> EXTENSIONS = EnumSet.of(Capability.FLUSH, Capability.ATOMIC_WRITE);

    @Preview
    public QueuePairOptions {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(sendCq, "sendCq");
        Objects.requireNonNull(receiveCq, "receiveCq");
        Objects.requireNonNull(sharedReceiveQueue, "sharedReceiveQueue");
        Objects.requireNonNull(sizes, "sizes");
        extensions = Set.copyOf(extensions);
        if (!EXTENSIONS.containsAll(extensions)) {
            throw new IllegalArgumentException("extensions: of " + EXTENSIONS + ", got " + extensions);
        }
    }

    /// Returns options with one completion queue, signalled on request: 128 sends and 128 receives with up to 4 entries
    /// each, 64 bytes inline.
    public static QueuePairOptions of(QpType type, CompletionQueue cq) {
        return new QueuePairOptions(type, cq, cq, Optional.empty(), SIZES, false, Set.of());
    }

    /// Returns options of a reliable connection, otherwise as [#of].
    public static QueuePairOptions rc(CompletionQueue cq) {
        return of(QpType.RC, cq);
    }

    /// Returns options of an unreliable connection, otherwise as [#of].
    public static QueuePairOptions uc(CompletionQueue cq) {
        return of(QpType.UC, cq);
    }

    /// Returns options of a queue pair for datagrams, otherwise as [#of].
    public static QueuePairOptions ud(CompletionQueue cq) {
        return of(QpType.UD, cq);
    }

    /// Returns options of a queue pair of Ethernet frames, otherwise as [#of].
    @Preview
    public static QueuePairOptions rawPacket(CompletionQueue cq) {
        return of(QpType.RAW_PACKET, cq);
    }

    /// Returns options of the sending end of an extended reliable connection, otherwise as [#of]. It has no receive
    /// queue, so its sizes for receives do not count.
    public static QueuePairOptions xrcInitiator(CompletionQueue cq) {
        return of(QpType.XRC_INITIATOR, cq);
    }

    /// Returns these options with another completion queue for receives; sends complete in the one of [#of].
    public QueuePairOptions withReceiveCq(CompletionQueue receiveCq) {
        return new QueuePairOptions(type, sendCq, receiveCq, sharedReceiveQueue, sizes, signalAll, extensions);
    }

    /// Returns these options with receives that come from a shared receive queue, so that many queue pairs need no
    /// receives of their own. The size of the own receive queue then does not count.
    public QueuePairOptions withSharedReceiveQueue(SharedReceiveQueue srq) {
        return new QueuePairOptions(type, sendCq, receiveCq, Optional.of(srq), sizes, signalAll, extensions);
    }

    /// Returns these options with other sizes, all at once. Larger queues take more memory of the device.
    public QueuePairOptions withSizes(Sizes sizes) {
        return new QueuePairOptions(type, sendCq, receiveCq, sharedReceiveQueue, sizes, signalAll, extensions);
    }

    /// Returns these options with other numbers of requests that can be outstanding. Posting one more throws
    /// [ResourceLimitException].
    public QueuePairOptions withDepth(int maxSendWr, int maxReceiveWr) {
        return withSizes(sizes.withDepth(maxSendWr, maxReceiveWr));
    }

    /// Returns these options with other numbers of entries, the pieces of memory from which a request gathers its
    /// data and to which it scatters them.
    public QueuePairOptions withSge(int maxSendSge, int maxReceiveSge) {
        return withSizes(sizes.withSge(maxSendSge, maxReceiveSge));
    }

    /// Returns these options with another number of bytes that a send request can carry in itself
    /// ([SendBatch#inline]). Such bytes need no registered memory, and their memory is free at once.
    public QueuePairOptions withInline(int maxInlineBytes) {
        return withSizes(sizes.withInline(maxInlineBytes));
    }

    /// Returns these options with a completion for every send request, or for those only that the program posts as
    /// [SendBatch#signaled()].
    public QueuePairOptions withSignalAll(boolean signalAll) {
        return new QueuePairOptions(type, sendCq, receiveCq, sharedReceiveQueue, sizes, signalAll, extensions);
    }

    /// Returns these options with requests that a peer may not know. Such a peer leaves them without an answer, and
    /// the connection ends with `RETRY_EXC_ERR`. They are requests of RC, but these options do not check the type.
    ///
    /// @param extensions of [Capability#FLUSH] and [Capability#ATOMIC_WRITE]
    public QueuePairOptions withExtensions(Set<Capability> extensions) {
        return new QueuePairOptions(type, sendCq, receiveCq, sharedReceiveQueue, sizes, signalAll, extensions);
    }

    /// Returns the requests that can be outstanding on the send queue.
    public int maxSendWr() {
        return sizes.maxSendWr;
    }

    /// Returns the receives that can be outstanding.
    public int maxReceiveWr() {
        return sizes.maxReceiveWr;
    }

    /// Returns the gather entries of a send request.
    public int maxSendSge() {
        return sizes.maxSendSge;
    }

    /// Returns the scatter entries of a receive.
    public int maxReceiveSge() {
        return sizes.maxReceiveSge;
    }

    /// Returns the bytes that a send request can carry in itself.
    public int maxInlineBytes() {
        return sizes.maxInlineBytes;
    }
}
