import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import module java.base;
import verbena.messages.CallException;
import verbena.messages.PeerMemory;
import verbena.messages.RemoteWorker;
import verbena.messages.Worker;
import verbena.messages.WorkerOptions;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.Context;
import verbena.verbs.Pending;

/// A client of the store, for one thread.
public final class Store implements AutoCloseable {
    private static final Duration TRY = Duration.ofSeconds(2);
    private static final long PAUSE_MILLIS = 50;

    /// A replica, as long as there is a connection to it.
    private record Peer(RemoteWorker worker, PeerMemory table, CountDownLatch lost) {}

    private final Worker worker;
    private final AtomicReferenceArray<Peer> peers;
    private final Duration limit;
    private final long client = ThreadLocalRandom.current().nextLong();
    private long sequence;
    private int leader;
    private int witness = 1; // another replica than the leader

    /// @param limit how long a get or a change tries
    public Store(Context device, List<InetSocketAddress> replicas, Duration limit) {
        this.worker = Worker.open(
                device,
                WorkerOptions.defaults()
                        .withMaxPeers(2 * replicas.size())
                        .withWindow(16)
                        .withFrameBytes(1024)
                        .withConnectTimeout(TRY));
        this.peers = new AtomicReferenceArray<>(replicas.size());
        this.limit = limit;
        for (int i = 0; i < replicas.size(); i++) {
            int replica = i;
            Thread.startVirtualThread(() -> connect(replica, replicas.get(replica)));
        }
    }

    /// The body of a thread: keeps a connection to a replica, until the store is closed.
    private void connect(int replica, InetSocketAddress address) {
        try {
            while (true) {
                try (RemoteWorker made = worker.connect(address)) {
                    var peer = new Peer(made, made.memory(made.call(new byte[0], TRY)), new CountDownLatch(1));
                    peers.set(replica, peer);
                    peer.lost.await();
                } catch (ConnectionException | CallException e) {
                    Thread.sleep(PAUSE_MILLIS); // it has ended, or begins just now
                }
            }
        } catch (InterruptedException | RuntimeException e) {
            // The store is closed.
        }
    }

    private Peer peer(int replica) {
        Peer peer = peers.get(replica);
        if (peer == null) {
            throw new ConnectionException(Reason.DISCONNECTED, "no connection to replica " + (replica + 1));
        }
        return peer;
    }

    /// A replica that does not answer in time, or is lost, is connected to again.
    private void await(Pending<?> pending, int replica, Peer peer) throws InterruptedException {
        boolean isDone = false;
        try {
            isDone = pending.await(TRY);
        } catch (CallException e) {
            isDone = true;
            throw e;
        } finally {
            if (!isDone && peers.compareAndSet(replica, peer, null)) {
                peer.lost.countDown();
            }
        }
        if (!isDone) {
            throw new ConnectionException(Reason.TIMEOUT, "no answer of replica " + (replica + 1));
        }
    }

    // ---- the operations

    /// The value of a key, by READs alone. All of them are posted at once: of the leader's words and slot, and of
    /// the words of one more replica, the witness.
    public Optional<byte[]> get(String key) throws InterruptedException, TimeoutException {
        MemorySegment wanted = Entry.of(0, 0, key, null);
        return untilLed("get", () -> {
            Peer first = peer(leader);
            Peer second = peer(witness);
            var probe = new Table.Probe(wanted);
            do {
                var words = MemorySegment.ofArray(new long[2]);
                var fromWitness = Table.readHead(second.table, words);
                await(probe.read(first.table), leader, first);
                await(fromWitness, witness, second);
                Table.Head head = probe.head();
                if (!head.isLeader() || Table.Head.of(words).promised() > head.promised()) {
                    return null;
                }
            } while (probe.isElsewhere());
            return probe.isWhole() ? probe.value() : null;
        });
    }

    /// @return whether the key had a value before
    /// @throws TimeoutException when it is not known whether the change was made, or will be
    public boolean put(String key, byte[] value) throws InterruptedException, TimeoutException {
        return change(Entry.of(client, ++sequence, key, value));
    }

    /// @return whether the key had a value
    /// @throws TimeoutException as [#put]
    public boolean delete(String key) throws InterruptedException, TimeoutException {
        return change(Entry.of(client, ++sequence, key, null));
    }

    /// Each try has the same sequence number, so the change is made once.
    private boolean change(MemorySegment entry) throws InterruptedException, TimeoutException {
        Raft.Outcome outcome = untilLed("change", () -> {
            Peer peer = peer(leader);
            var answer = MemorySegment.ofArray(new byte[1]);
            await(peer.worker.postCall(entry, answer, TRY), leader, peer);
            var said = Raft.Outcome.values()[answer.get(JAVA_BYTE, 0)];
            return said == Raft.Outcome.ASK_ANOTHER ? null : said;
        });
        if (outcome == Raft.Outcome.FULL) {
            throw new IllegalStateException("the store is full");
        }
        return outcome == Raft.Outcome.WAS_THERE;
    }

    // ---- the leader

    private interface Try<T> {
        /// @return null when it has to be tried again
        T once() throws InterruptedException;
    }

    private <T> T untilLed(String verb, Try<T> each) throws InterruptedException, TimeoutException {
        for (long start = System.nanoTime(); System.nanoTime() - start < limit.toNanos(); find()) {
            try {
                T result = each.once();
                if (result != null) {
                    return result;
                }
            } catch (ConnectionException | CallException e) {
                Thread.sleep(PAUSE_MILLIS); // another replica may lead soon
            }
        }
        throw new TimeoutException(verb + ": no leader with a majority of the replicas within " + limit);
    }

    /// Looks at the words of all replicas for the one that leads, and for a witness.
    private void find() throws InterruptedException {
        long latest = 0;
        int alive = witness;
        for (int i = 0; i < peers.length(); i++) {
            try {
                Peer peer = peer(i);
                var words = MemorySegment.ofArray(new long[2]);
                await(Table.readHead(peer.table, words), i, peer);
                Table.Head head = Table.Head.of(words);
                if (head.isLeader() && head.serving() > latest) {
                    latest = head.serving();
                    alive = alive == i ? leader : alive;
                    leader = i;
                } else {
                    alive = i;
                }
            } catch (ConnectionException e) {
                // It has ended, perhaps.
            }
        }
        witness = alive != leader ? alive : (leader + 1) % peers.length();
    }

    @Override
    public void close() {
        worker.close();
    }
}
