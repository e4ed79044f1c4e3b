package verbena.tools.rdmacm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Closing;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Completion;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionId;

/// One connection of a test, or one end of datagrams, with a buffer that all its messages go into and come from. For
/// one thread.
final class CmNode implements AutoCloseable {
    /// The number of bytes that a datagram has in front of it (IBTA 11.4.1.2).
    static final int AREA_BYTES = 40;

    private final ConnectionId id;
    private final int messages;
    private final int size;
    private final Duration timeout;
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final WorkCompletion wc = new WorkCompletion();
    private @Nullable Made made;
    private @Nullable Target target;
    private boolean connected;

    /// The objects that need a device, and so the address.
    private record Made(
            ProtectionDomain domain,
            CompletionQueue sent,
            CompletionQueue received,
            QueuePair qp,
            MemoryRegion buffer,
            int offset) {}

    /// The destination of datagrams.
    private record Target(AddressHandle handle, int qpn, int qkey) {}

    /// @param id closed with this
    CmNode(ConnectionId id, int messages, int size, Duration timeout) {
        this.id = id;
        this.messages = messages;
        this.size = size;
        this.timeout = timeout;
    }

    ConnectionId id() {
        return id;
    }

    boolean isConnected() {
        return connected;
    }

    void setConnected(boolean connected) {
        this.connected = connected;
    }

    /// Makes the queue pair; the device is known now.
    void open(QpType type) {
        Context context = id.context();
        boolean isDatagram = type == QpType.UD;
        int mtu = context.port(1).activeMtu().bytes();
        if (isDatagram && messages > 0 && size > mtu) {
            throw new CommandFailed("-S " + size + ": a datagram of "
                    + context.device().name() + " has at most " + mtu + " bytes, its active MTU");
        }
        int depth = Math.max(messages, 1);
        int offset = isDatagram ? AREA_BYTES : 0;
        ProtectionDomain domain = opened(context.allocateProtectionDomain());
        CompletionQueue sent = opened(context.createCompletionQueue(depth));
        CompletionQueue received = opened(context.createCompletionQueue(depth));
        MemoryRegion buffer = opened(domain.allocate(offset + Math.max(size, 1), Access.local()));
        QueuePair qp = opened(id.createQueuePair(
                domain,
                QueuePairOptions.of(type, sent)
                        .withReceiveCq(received)
                        .withDepth(depth, depth)
                        .withSge(1, 1)
                        .withInline(0)
                        .withSignalAll(true)));
        made = new Made(domain, sent, received, qp, buffer, offset);
    }

    private Made made() {
        Made there = made;
        if (there == null) {
            throw new IllegalStateException("not opened: " + id);
        }
        return there;
    }

    /// Posts the receives of all messages.
    void postReceives() {
        Made my = made();
        try (ReceiveBatch batch = my.qp.receiveBatch()) {
            for (int i = 0; i < messages; i++) {
                batch.receive(i).sge(my.buffer, 0, my.offset + size);
            }
            batch.submit();
        }
    }

    /// Sets the destination of datagrams from now on.
    void sendTo(AddressVector path, int qpn, int qkey) {
        target = new Target(opened(made().domain.createAddressHandle(path)), qpn, qkey);
    }

    /// Posts all messages; datagrams have the own queue pair's number as immediate data.
    void postSends() {
        Made my = made();
        try (SendBatch batch = my.qp.sendBatch()) {
            for (int i = 0; i < messages; i++) {
                if (target == null) {
                    batch.send(i);
                } else {
                    batch.sendWithImmediate(i, my.qp.qpn()).to(target.handle, target.qpn, target.qkey);
                }
                batch.sge(my.buffer, my.offset, size);
            }
            batch.submit();
        }
    }

    /// Waits until all messages are sent.
    ///
    /// @throws CommandFailed when one is not
    void awaitSends() throws InterruptedException {
        for (int i = 0; i < messages; i++) {
            await(made().sent, i + " of " + messages + " messages sent");
        }
    }

    /// Waits until all messages have come; the sender of the first datagram gets the answers, at `qkey`.
    ///
    /// @throws CommandFailed when they do not
    void awaitReceives(int qkey) throws InterruptedException {
        awaitReceives(qkey, false);
    }

    /// Does the same.
    ///
    /// @param anyTime whether the first may come as late as it likes
    void awaitReceives(int qkey, boolean anyTime) throws InterruptedException {
        Made my = made();
        for (int i = 0; i < messages; i++) {
            String progress = i + " of " + messages + " messages received";
            if (i == 0 && anyTime) {
                my.received.await(wc);
                requireGood(progress);
            } else {
                await(my.received, progress);
            }
            if (my.offset > 0 && target == null) {
                AddressHandle back = opened(my.domain.createAddressHandle(wc, my.buffer.segment()));
                target = new Target(back, wc.immediate(), qkey);
            }
        }
    }

    private void await(CompletionQueue cq, String progress) throws InterruptedException {
        if (!cq.await(wc, timeout)) {
            throw new CommandFailed("nothing happened for " + timeout.toSeconds() + " s (--timeout) after " + progress
                    + ": " + id + "; are -c, -C and -S the same at both ends?");
        }
        requireGood(progress);
    }

    private void requireGood(String progress) {
        if (!wc.ok()) {
            throw new CommandFailed("after " + progress + ": " + ((Completion.Failure) wc.snapshot()).explanation());
        }
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }

    @Override
    public void close() {
        Closing.all(opened);
        id.close();
    }
}
