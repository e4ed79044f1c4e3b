package verbena.verbs;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/// How a queue pair is to be made (`struct ibv_qp_init_attr`, ibv_create_qp(3)). Start with [#of] and change what
/// should differ.
///
/// @param type kind of service
/// @param sendCq where sends complete
/// @param receiveCq where receives complete; may be the same
/// @param sharedReceiveQueue where receives are taken from; empty for the queue pair's own
/// @param maxSendWr requests that can be outstanding on the send queue
/// @param maxReceiveWr receives that can be outstanding; ignored with a shared receive queue
/// @param maxSendSge gather entries of a send request
/// @param maxReceiveSge scatter entries of a receive
/// @param maxInlineBytes bytes that a send request can carry in itself
/// @param signalAll whether every send request completes visibly, not just those that ask for it
/// @param extensions requests beyond the usual that may be posted, [Capability#FLUSH] and [Capability#ATOMIC_WRITE]
public record QueuePairOptions(
        QpType type,
        CompletionQueue sendCq,
        CompletionQueue receiveCq,
        Optional<SharedReceiveQueue> sharedReceiveQueue,
        int maxSendWr,
        int maxReceiveWr,
        int maxSendSge,
        int maxReceiveSge,
        int maxInlineBytes,
        boolean signalAll,
        Set<Capability> extensions) {
    private static final Set<Capability> EXTENSIONS = EnumSet.of(Capability.FLUSH, Capability.ATOMIC_WRITE);

    public QueuePairOptions {
        extensions = Set.copyOf(extensions);
        if (!EXTENSIONS.containsAll(extensions)) {
            throw new IllegalArgumentException("extensions: of " + EXTENSIONS + ", got " + extensions);
        }
        notNegative("maxSendWr", maxSendWr);
        notNegative("maxReceiveWr", maxReceiveWr);
        notNegative("maxSendSge", maxSendSge);
        notNegative("maxReceiveSge", maxReceiveSge);
        notNegative("maxInlineBytes", maxInlineBytes);
    }

    /// 128 sends and 128 receives with up to 4 entries each, 64 bytes inline, signalled on request.
    public static QueuePairOptions of(QpType type, CompletionQueue cq) {
        return new QueuePairOptions(type, cq, cq, Optional.empty(), 128, 128, 4, 4, 64, false, Set.of());
    }

    /// An unreliable connection with the sizes of [#of].
    public static QueuePairOptions uc(CompletionQueue cq) {
        return of(QpType.UC, cq);
    }

    /// Datagrams, with the sizes of [#of].
    public static QueuePairOptions ud(CompletionQueue cq) {
        return of(QpType.UD, cq);
    }

    /// A reliable connection with the sizes of [#of].
    public static QueuePairOptions rc(CompletionQueue cq) {
        return of(QpType.RC, cq);
    }

    public QueuePairOptions withReceiveCq(CompletionQueue receiveCq) {
        return new QueuePairOptions(
                type,
                sendCq,
                receiveCq,
                sharedReceiveQueue,
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                maxInlineBytes,
                signalAll,
                extensions);
    }

    public QueuePairOptions withSharedReceiveQueue(SharedReceiveQueue srq) {
        return new QueuePairOptions(
                type,
                sendCq,
                receiveCq,
                Optional.of(srq),
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                maxInlineBytes,
                signalAll,
                extensions);
    }

    public QueuePairOptions withDepth(int maxSendWr, int maxReceiveWr) {
        return new QueuePairOptions(
                type,
                sendCq,
                receiveCq,
                sharedReceiveQueue,
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                maxInlineBytes,
                signalAll,
                extensions);
    }

    public QueuePairOptions withSge(int maxSendSge, int maxReceiveSge) {
        return new QueuePairOptions(
                type,
                sendCq,
                receiveCq,
                sharedReceiveQueue,
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                maxInlineBytes,
                signalAll,
                extensions);
    }

    public QueuePairOptions withInline(int maxInlineBytes) {
        return new QueuePairOptions(
                type,
                sendCq,
                receiveCq,
                sharedReceiveQueue,
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                maxInlineBytes,
                signalAll,
                extensions);
    }

    public QueuePairOptions withSignalAll(boolean signalAll) {
        return new QueuePairOptions(
                type,
                sendCq,
                receiveCq,
                sharedReceiveQueue,
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                maxInlineBytes,
                signalAll,
                extensions);
    }

    /// Allows requests that a peer may not know: it leaves them without an answer, and the connection ends with
    /// `RETRY_EXC_ERR`. RC only.
    ///
    /// @param extensions of [Capability#FLUSH] and [Capability#ATOMIC_WRITE]
    public QueuePairOptions withExtensions(Set<Capability> extensions) {
        return new QueuePairOptions(
                type,
                sendCq,
                receiveCq,
                sharedReceiveQueue,
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                maxInlineBytes,
                signalAll,
                extensions);
    }

    private static void notNegative(String name, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(name + ": not negative, got " + value);
        }
    }
}
