package verbena.abi.rsocket;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import verbena.abi.Errno;
import verbena.foreign.Memory;
import verbena.verbs.Access;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.VerbsException;
import verbena.verbs.VerbsObject;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionId;

/// The queue pair from which an rsocket of datagrams sends at one own address, and its buffers, a slot for each
/// datagram. Guarded by the lock of its [DatagramRsocket], but for [#sleep].
final class DatagramQueue {
    /// The length of a datagram with the name in front: librdmacm's receives have as much.
    static final int SLOT_BYTES = 2_048;

    private static final int DEPTH_MIN = 16;
    private static final int HEAD_BYTES = 40; // the place of the GRH
    private static final long RECEIVE = 1L << 32;

    /// A receiver of datagrams that have come.
    @FunctionalInterface
    interface Receiver {
        /// Handles a datagram that has come.
        ///
        /// @param data of a slot, to be given back by [#release]
        void onDatagram(InetSocketAddress from, MemorySegment data, int slot);
    }

    private final List<VerbsObject> owned = new ArrayList<>();
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue cq;
    private final QueuePair qp;
    private final MemoryRegion sends;
    private final MemoryRegion receives;
    private final WorkCompletion completion = new WorkCompletion();
    private final int[] free;
    private int freeCount;

    /// Own address and port.
    final InetSocketAddress name;

    /// Bytes of the largest datagram, without the name.
    final int bytesMax;

    /// Makes all of it, with receives posted.
    ///
    /// @param id whose address is resolved; closed with this
    DatagramQueue(ConnectionId id, InetSocketAddress name, RsocketOptions options) {
        this.name = name;
        boolean done = false;
        owned.add(id);
        try {
            Context context = id.context();
            int max = context.attributes().queues().maxQpWr();
            int sendCount = depth(options, RsocketOptions.Option.SEND_BUFFER, RsocketOptions.Option.SQ_SIZE, max);
            int receiveCount = depth(options, RsocketOptions.Option.RECEIVE_BUFFER, RsocketOptions.Option.RQ_SIZE, max);
            int mtu = context.port(1).activeMtu().bytes();
            bytesMax = Math.min(SLOT_BYTES, mtu) - DatagramMessage.nameBytes(name.getAddress());
            domain = own(context.allocateProtectionDomain());
            channel = own(context.createCompletionChannel());
            cq = own(context.createCompletionQueue(
                    CompletionQueueOptions.of(sendCount + receiveCount).withChannel(channel)));
            sends = own(domain.allocate((long) sendCount * SLOT_BYTES, EnumSet.of(Access.LOCAL_WRITE)));
            receives = own(
                    domain.allocate((long) receiveCount * (HEAD_BYTES + SLOT_BYTES), EnumSet.of(Access.LOCAL_WRITE)));
            qp = id.createQueuePair(
                    domain,
                    QueuePairOptions.ud(cq)
                            .withDepth(sendCount, receiveCount)
                            .withSge(1, 1)
                            .withInline(0)
                            .withSignalAll(true));
            owned.add(qp);
            free = new int[sendCount];
            while (freeCount < sendCount) {
                free[freeCount] = freeCount;
                freeCount++;
            }
            for (int slot = 0; slot < receiveCount; slot++) {
                release(slot);
            }
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    private <T extends VerbsObject> T own(T made) {
        owned.add(made);
        return made;
    }

    /// Returns the number of requests for which there is a buffer, and a place in the queue.
    private static int depth(
            RsocketOptions options, RsocketOptions.Option buffer, RsocketOptions.Option size, int max) {
        int count = Math.min(options.get(buffer) / SLOT_BYTES, options.get(size));
        return Math.clamp(count, DEPTH_MIN, Math.max(DEPTH_MIN, max));
    }

    int qpn() {
        return qp.qpn();
    }

    AddressHandle handleTo(InetSocketAddress peer) {
        Gid gid = Gid.of(peer.getAddress());
        int own = domain.context().gidFor(1, gid).index();
        return domain.createAddressHandle(AddressVector.to(gid, own));
    }

    // ---- completions

    void arm() {
        cq.arm();
    }

    /// Waits for a completion after [#arm], without a time limit and without the lock.
    ///
    /// @throws verbena.verbs.InvalidStateException when it is closed, also while waiting
    void sleep() throws InterruptedException {
        CompletionQueue _ = channel.await();
    }

    /// Waits for a completion after [#arm]; false when `timeout` passed. Without the lock.
    ///
    /// @throws verbena.verbs.InvalidStateException when it is closed, also while waiting
    boolean sleep(Duration timeout) throws InterruptedException {
        return channel.await(timeout).isPresent();
    }

    /// Takes all completions there are; returns how many.
    int progress(Receiver receiver) {
        int count = 0;
        while (cq.poll(completion)) {
            count++;
            int slot = (int) completion.wrId();
            if ((completion.wrId() & RECEIVE) == 0) {
                assert freeCount < free.length && slot >= 0 && slot < free.length : slot + " is no slot in use";
                free[freeCount++] = slot; // also when it has failed: datagrams get lost
                continue;
            }
            Optional<InetSocketAddress> from = Optional.empty();
            long at = (long) slot * (HEAD_BYTES + SLOT_BYTES) + HEAD_BYTES;
            long length = completion.byteLength() - HEAD_BYTES;
            if (completion.ok()) {
                from = DatagramMessage.name(receives.segment(), at, length);
            }
            if (from.isPresent()) {
                int over = receives.segment().get(ValueLayout.JAVA_BYTE, at + 1);
                receiver.onDatagram(from.get(), receives.segment().asSlice(at + over, length - over), slot);
            } else if (completion.ok()) {
                release(slot);
            }
        }
        return count;
    }

    /// Releases the slot of a datagram that has been read: it takes another one.
    void release(int slot) {
        try (ReceiveBatch batch = qp.receiveBatch()) {
            batch.receive(RECEIVE | slot)
                    .sge(receives, (long) slot * (HEAD_BYTES + SLOT_BYTES), HEAD_BYTES + SLOT_BYTES)
                    .submit();
        } catch (VerbsException e) {
            Errno.of(e); // the device has failed: nothing comes any more
        }
    }

    // ---- sending

    boolean canSend() {
        return freeCount > 0;
    }

    boolean isSent() {
        return freeCount == free.length;
    }

    /// Sends a datagram; needs [#canSend].
    void send(Pieces from, AddressHandle to, int qpn) {
        assert canSend();
        int slot = free[--freeCount];
        int at = slot * SLOT_BYTES;
        DatagramMessage.putName(name, sends.segment(), at);
        int over = DatagramMessage.nameBytes(name.getAddress());
        long bytes = from.forEach(0, (address, length, before) -> {
            MemorySegment.copy(Memory.ALL, address, sends.segment(), at + over + before, length);
            return length;
        });
        boolean done = false;
        try (SendBatch batch = qp.sendBatch()) {
            batch.send(slot)
                    .to(to, qpn, ConnectionId.UDP_QKEY)
                    .sge(sends, at, over + (int) bytes)
                    .submit();
            done = true;
        } finally {
            if (!done) {
                free[freeCount++] = slot;
            }
        }
    }

    /// Frees all of it. A thread that sleeps wakes.
    void close() {
        owned.reversed().forEach(VerbsObject::close);
        owned.clear();
    }
}
