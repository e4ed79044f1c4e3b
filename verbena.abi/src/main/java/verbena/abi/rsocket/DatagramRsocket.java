package verbena.abi.rsocket;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.PollableDescriptor;
import verbena.abi.Threads;
import verbena.abi.cm.CmCalls;
import verbena.abi.rsocket.DatagramPeers.Peer;
import verbena.abi.rsocket.RsocketOptions.Option;
import verbena.foreign.Memory;
import verbena.foreign.rdma.SocketAddress;
import verbena.verbs.AddressHandle;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsException;

/// An rsocket of datagrams, with librdmacm's protocol. It has a port of UDP, which is its name, and a queue pair
/// for each own address that it sends from. The first datagram to a peer goes by UDP, and tells the peer which
/// queue pair it came from; the peer answers with its own, and all that follow go over queue pairs
/// ([DatagramMessage]). Datagrams get lost as those of UDP do. Safe for use by any thread.
final class DatagramRsocket implements AnyRsocket {
    /// A call that waits looks for so long before it sleeps.
    private static final long LOOKING_NANOS = 20_000;
    /// Calls take the completions: look again after this, if not asked to before.
    private static final Duration PAUSE = Duration.ofMillis(1);
    /// The time that data on its way at the end gets to leave.
    private static final long LEAVING_NANOS = 1_000_000_000;
    /// The number of UDP messages that are read in one turn: others have to be read, too.
    private static final int MESSAGES_MAX = 64;

    private final DatagramChannel udp;
    private final RsocketOptions options;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile boolean isNonBlocking;

    // Guarded by the lock, all below.
    private @Nullable PollableDescriptor descriptor;
    private final DatagramPeers peers;
    private final ArrayDeque<Datagram> arrived = new ArrayDeque<>();
    private final ByteBuffer message = ByteBuffer.allocate(DatagramQueue.SLOT_BYTES);
    private @Nullable InetSocketAddress connectedTo;
    private boolean isBound;
    private boolean isClosed;
    private boolean mayRead = true;
    private boolean mayWrite = true;
    private boolean isWriterWaiting;

    DatagramRsocket(int domain, boolean isNonBlocking) {
        this.options = new RsocketOptions(domain);
        this.isNonBlocking = isNonBlocking;
        options.beOfDatagrams();
        peers = new DatagramPeers(options, this::lookAfter);
        try {
            udp = DatagramChannel.open(
                    domain == SocketAddress.AF_INET6 ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
            udp.configureBlocking(false);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public int open() {
        lock.lock();
        try {
            descriptor = new PollableDescriptor();
            return descriptor.fd();
        } finally {
            lock.unlock();
        }
    }

    // ---- names

    @Override
    public long bind(InetSocketAddress address) {
        lock.lock();
        try {
            return isBound ? Errno.EINVAL : begin(address);
        } finally {
            lock.unlock();
        }
    }

    /// Gives it a port from now on.
    private long begin(InetSocketAddress address) {
        if (isClosed) {
            return Errno.EBADF;
        }
        if (isBound) {
            return 0;
        }
        try {
            udp.setOption(StandardSocketOptions.SO_REUSEADDR, options.get(Option.REUSE_ADDRESS) != 0);
            udp.bind(address);
        } catch (BindException e) {
            return CmCalls.isHere(address.getAddress()) ? Errno.EADDRINUSE : Errno.EADDRNOTAVAIL;
        } catch (IOException e) {
            return Errno.of(new UncheckedIOException(e));
        }
        isBound = true;
        DatagramService.add(udp, this::onReadable);
        return 0;
    }

    @Override
    public long connect(InetSocketAddress to) {
        lock.lock();
        try {
            long answer = begin(noName());
            if (answer == 0 && peer(to).isEmpty()) {
                return Errno.ENETUNREACH;
            }
            if (answer == 0) {
                connectedTo = to;
            }
            return answer;
        } finally {
            lock.unlock();
        }
    }

    private Optional<Peer> peer(InetSocketAddress to) {
        return peers.find(to, localName().orElseThrow());
    }

    private void lookAfter(DatagramQueue queue) {
        Thread ignored = Threads.start("verbena-abi-datagrams", () -> look(queue));
    }

    @Override
    public Optional<InetSocketAddress> localName() {
        try {
            return Optional.ofNullable((InetSocketAddress) udp.getLocalAddress());
        } catch (IOException e) {
            return Optional.empty(); // closed
        }
    }

    @Override
    public Optional<InetSocketAddress> peerName() {
        return Optional.ofNullable(connectedTo);
    }

    @Override
    public InetSocketAddress noName() {
        return new InetSocketAddress(SocketAddress.any(options.get(Option.DOMAIN)), 0);
    }

    // ---- what comes

    /// Reads from its socket, on the service's thread.
    private void onReadable() {
        lock.lock();
        try {
            for (int i = 0; i < MESSAGES_MAX && !isClosed; i++) {
                message.clear();
                InetSocketAddress from = (InetSocketAddress) udp.receive(message);
                if (from == null) {
                    return;
                }
                message.flip();
                DatagramMessage.Introduction.take(message).ifPresent(it -> onIntroduction(it, it.sender(from)));
            }
        } catch (IOException e) {
            // of one that was sent: datagrams get lost
        } finally {
            settle();
            lock.unlock();
        }
    }

    private void onIntroduction(DatagramMessage.Introduction it, InetSocketAddress from) {
        try {
            peer(from).ifPresent(peer -> onIntroduction(it, from, peer));
        } catch (VerbsException | UncheckedIOException e) {
            Errno.of(e); // the datagram can be read all the same
        }
        if (it.hasData() && arrived.size() < options.get(Option.RQ_SIZE)) {
            var data = new byte[message.remaining()];
            message.get(data);
            onDatagram(new Datagram(from, MemorySegment.ofArray(data), null, 0));
        }
    }

    private void onIntroduction(DatagramMessage.Introduction it, InetSocketAddress from, Peer peer) {
        if (it.hasData()) {
            introduce(peer, from, Pieces.NONE);
        }
        peer.onIntroduction(it.qpn(), from);
    }

    private void onDatagram(Datagram it) {
        if (isClosed || !mayRead || (connectedTo != null && !connectedTo.equals(it.from()))) {
            it.release();
        } else {
            arrived.add(it);
        }
    }

    private int progress() {
        int count = 0;
        for (DatagramQueue queue : peers.queues()) {
            count += queue.progress((from, data, slot) -> onDatagram(new Datagram(from, data, queue, slot)));
        }
        if (count > 0) {
            changed.signalAll();
        }
        return count;
    }

    /// Looks for datagrams of a queue, on the queue's thread.
    private void look(DatagramQueue queue) {
        try {
            while (true) {
                lock.lock();
                try {
                    if (isClosed) {
                        return;
                    }
                    queue.arm();
                    int ignored = progress();
                    settle();
                } finally {
                    lock.unlock();
                }
                queue.sleep();
                boolean isTaken;
                lock.lock();
                try {
                    isTaken = progress() == 0;
                    settle();
                } finally {
                    lock.unlock();
                }
                if (isTaken) {
                    boolean ignored = queue.sleep(PAUSE);
                }
            }
        } catch (InvalidStateException | InterruptedException e) {
            // closed
        }
    }

    /// Updates the file descriptor and wakes the calls that wait.
    private void settle() {
        if (descriptor == null || isClosed) {
            return;
        }
        descriptor.readable(!arrived.isEmpty() || !mayRead);
        if (isWriterWaiting && peers.queues().stream().allMatch(DatagramQueue::canSend)) {
            isWriterWaiting = false;
        }
        descriptor.writable(!isWriterWaiting);
        changed.signalAll();
    }

    /// Waits, without the lock, until there is what is wanted: false when it may not wait.
    private boolean await(BooleanSupplier wanted, boolean mayNotWait) {
        int ignored = progress();
        if (wanted.getAsBoolean() || mayNotWait) {
            return wanted.getAsBoolean();
        }
        long until = System.nanoTime() + LOOKING_NANOS;
        while (System.nanoTime() < until) {
            if (progress() > 0 && wanted.getAsBoolean()) {
                return true;
            }
            lock.unlock(); // for other threads
            Thread.onSpinWait();
            lock.lock();
        }
        while (!wanted.getAsBoolean()) {
            peers.queues().forEach(DatagramQueue::arm);
            if (progress() == 0) {
                changed.awaitUninterruptibly();
            }
        }
        return true;
    }

    @Override
    public long receive(Pieces into, boolean isPeek, boolean wantsAll, boolean mayNotWait, Arrival arrival) {
        lock.lock();
        try {
            long answer = begin(noName());
            if (answer != 0) {
                return answer;
            }
            if (!await(() -> !arrived.isEmpty() || !mayRead || isClosed, mayNotWait || isNonBlocking)) {
                return Errno.EAGAIN;
            }
            if (isClosed) {
                return Errno.EBADF;
            }
            Datagram first = isPeek ? arrived.peekFirst() : arrived.pollFirst();
            if (first == null) {
                return 0; // nothing is to come any more
            }
            MemorySegment data = first.data();
            arrival.from = first.from();
            arrival.isCut = data.byteSize() > into.bytes();
            long moved = into.forEach(0, (address, length, before) -> {
                long now = Math.min(length, data.byteSize() - before);
                MemorySegment.copy(
                        data, ValueLayout.JAVA_BYTE, before, Memory.ALL, ValueLayout.JAVA_BYTE, address, now);
                return now;
            });
            if (!isPeek) {
                first.release();
            }
            return moved;
        } finally {
            settle();
            lock.unlock();
        }
    }

    // ---- sending

    @Override
    public long send(Pieces from, @Nullable InetSocketAddress to, boolean mayNotWait) {
        lock.lock();
        try {
            InetSocketAddress destination = to == null ? connectedTo : to;
            if (destination == null) {
                return Errno.EDESTADDRREQ;
            }
            long answer = begin(noName());
            if (answer != 0) {
                return answer;
            }
            Peer peer = peer(destination).orElse(null);
            if (peer == null) {
                return Errno.ENETUNREACH;
            }
            DatagramQueue queue = peer.queue;
            if (from.bytes() > queue.bytesMax) {
                return Errno.EMSGSIZE;
            }
            if (!await(() -> queue.canSend() || !mayWrite || isClosed, mayNotWait || isNonBlocking)) {
                isWriterWaiting = true;
                return Errno.EAGAIN;
            }
            if (isClosed || !mayWrite) {
                return isClosed ? Errno.EBADF : Errno.EPIPE;
            }
            AddressHandle handle = peer.handle();
            if (handle == null) {
                introduce(peer, destination, from);
            } else {
                queue.send(from, handle, peer.qpn());
            }
            return from.bytes();
        } finally {
            settle();
            lock.unlock();
        }
    }

    /// Introduces this queue pair to a peer by UDP, with a datagram or without.
    ///
    /// @param data [Pieces#NONE] for an answer
    private void introduce(Peer peer, InetSocketAddress to, Pieces data) {
        InetAddress own = peer.queue.name.getAddress();
        var it = new DatagramMessage.Introduction(data != Pieces.NONE, peer.queue.qpn(), own);
        ByteBuffer buffer = it.before(data);
        try {
            int ignored = udp.send(buffer, to); // 0 when there is no room: datagrams get lost
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ---- the end

    @Override
    public long shutdown(int how) {
        lock.lock();
        try {
            if (connectedTo == null) {
                return Errno.ENOTCONN;
            }
            mayRead &= how == SHUT_WR;
            mayWrite &= how == SHUT_RD;
            return 0;
        } finally {
            settle();
            lock.unlock();
        }
    }

    @Override
    public void leave() {
        lock.lock();
        try {
            long until = System.nanoTime() + LEAVING_NANOS;
            while (!isClosed && !peers.queues().stream().allMatch(DatagramQueue::isSent)) {
                long left = until - System.nanoTime();
                peers.queues().forEach(DatagramQueue::arm);
                if (left <= 0) {
                    return;
                }
                if (progress() == 0) {
                    long ignored = changed.awaitNanos(left);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long close() {
        leave();
        List<DatagramQueue> made;
        lock.lock();
        try {
            if (isClosed) {
                return Errno.EBADF;
            }
            isClosed = true;
            made = peers.clear();
            arrived.clear();
            changed.signalAll();
            Rsockets.remove(this);
            if (descriptor != null) {
                descriptor.close();
            }
            made.forEach(DatagramQueue::close);
        } finally {
            lock.unlock();
        }
        DatagramService.close(udp);
        return 0;
    }

    // ---- options

    @Override
    public boolean isNonBlocking() {
        return isNonBlocking;
    }

    @Override
    public void nonBlocking(boolean wanted) {
        isNonBlocking = wanted;
    }

    @Override
    public boolean isConnected() {
        return connectedTo != null;
    }

    @Override
    public boolean isListening() {
        return false;
    }

    @Override
    public int takeError() {
        return 0;
    }

    @Override
    public long setOption(long level, long name, long value, long length) {
        lock.lock();
        try {
            return options.set(level, name, value, length, !peers.queues().isEmpty());
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long getOption(long level, long name, long into, long lengthPointer) {
        return options.get(level, name, into, lengthPointer, this);
    }
}
