package verbena.tools.explain;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.SoftContext;
import verbena.nic.link.tap.Tap;
import verbena.nic.link.tap.TappedStream;
import verbena.tools.explain.Event.Kind;
import verbena.transport.PacketFate;
import verbena.verbs.Context;
import verbena.wire.Frame;

/// The recorder of everything that happens in one run: the calls of the two applications, their events, and, where
/// the devices are Verbena's own, every packet. Any thread.
final class Recorder {
    /// A piece of a TCP stream as a tap was shown it.
    @SuppressWarnings("ArrayRecordComponent") // never compared or changed
    record Chunk(Place device, boolean sent, long nanos, String connection, byte[] bytes) {}

    /// The time that packets which are under way when the scenario ends may take to arrive.
    private static final long SETTLE_NANOS = 500_000_000;

    private final List<Event> events = new ArrayList<>();
    private final List<Seen> packets = new ArrayList<>();
    private final List<Chunk> chunks = new ArrayList<>();
    private final List<Watched> watched = new ArrayList<>();
    private final List<Key> keys = new ArrayList<>();
    private final Set<Place> tapped = EnumSet.noneOf(Place.class);

    // ---- what the applications tell

    /// Begins a part of the recording.
    synchronized void phase(String title, String text) {
        events.add(Event.phase(System.nanoTime(), title, text));
    }

    /// Records an event of one place, which has happened now.
    void step(Place at, String label, String text) {
        step(System.nanoTime(), at, label, text);
    }

    private synchronized void step(long nanos, Place at, String label, String text) {
        events.add(Event.of(nanos, Kind.STEP, at, at, label, text));
    }

    /// Records a call of an application to its device, and makes it.
    <T> T call(Place application, String label, String text, Supplier<T> call) {
        return call(application, label, _ -> text, call);
    }

    /// Does the same, with a text that is known only afterwards.
    ///
    /// @param text from when the call began
    <T> T call(Place application, String label, LongFunction<String> text, Supplier<T> call) {
        long began = System.nanoTime();
        T result = call.get();
        long took = System.nanoTime() - began;
        String said = text.apply(began);
        synchronized (this) {
            events.add(new Event(began, took, Kind.CALL, application, application.device(), label, said, null));
        }
        return result;
    }

    /// Records news that a device has given to its application.
    void told(Place application, String label, String text) {
        synchronized (this) {
            look();
            events.add(Event.of(System.nanoTime(), Kind.TOLD, application.device(), application, label, text));
        }
    }

    /// Adds memory to be looked at from now on.
    synchronized void watch(Watched memory) {
        watched.add(memory);
        keys.add(new Key(
                memory.name,
                memory.region.rkey(),
                memory.region.address(),
                memory.region.length(),
                memory.region.access()));
    }

    /// Adds a key that opens memory from now on: a window's.
    synchronized void key(Key key) {
        keys.add(key);
    }

    /// Forgets everything that has happened, and what was watched: the next run begins.
    synchronized void clear() {
        events.clear();
        packets.clear();
        chunks.clear();
        watched.clear();
        keys.clear();
    }

    /// Returns the number of packets that this thread itself has sent since then.
    synchronized long sentByThisThread(long sinceNanos) {
        return packets.stream()
                .filter(packet -> packet.sent()
                        && packet.nanos() >= sinceNanos
                        && packet.thread().equals(Thread.currentThread()))
                .count();
    }

    // ---- what the devices show

    /// Looks at what a device sends and receives, if it is one of Verbena's own.
    ///
    /// @return how to stop; null when there is nothing to look at
    @Nullable
    Runnable tap(Context context, Place device) {
        if (!(context instanceof SoftContext soft)) {
            return null;
        }
        Tap tap = new Ear(device);
        soft.tap(tap);
        tapped.add(device);
        return () -> soft.untap(tap);
    }

    /// Returns whether both devices' packets are seen.
    boolean seesPackets() {
        return tapped.size() == 2;
    }

    /// Waits until a packet like this has been seen.
    ///
    /// @return false when that did not happen in time
    synchronized boolean awaitPacket(Predicate<Seen> wanted, long seconds) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (packets.stream().noneMatch(wanted)) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }

    /// Waits until everything that was sent has arrived, but for what was lost: a sender is often ahead of its
    /// receiver. What has not come by then is part of the recording.
    synchronized void settle(LongSupplier lost) throws InterruptedException {
        long deadline = System.nanoTime() + SETTLE_NANOS;
        while ((new Packets(packets, keys).underWay() != lost.getAsLong() || new Streams(chunks, keys).underWay() != 0)
                && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.timedWait(this, 1);
        }
    }

    private synchronized void add(Seen packet) {
        packets.add(packet);
        look();
        notifyAll();
    }

    private synchronized void add(Chunk chunk) {
        chunks.add(chunk);
        look();
    }

    /// Looks at all memory now.
    synchronized void looked() {
        look();
    }

    // Whether something was placed since the last look.
    private void look() {
        for (Watched memory : watched) {
            String change = memory.change();
            if (change != null) {
                step(
                        System.nanoTime(),
                        memory.owner.device(),
                        change,
                        "Observed: the bytes of " + memory.name + " (" + memory.owner.title()
                                + "'s registered memory) have changed. The device has written them on its own.");
            }
        }
    }

    private final class Ear implements Tap {
        private final Place device;

        Ear(Place device) {
            this.device = device;
        }

        @Override
        public void onSent(Frame packet, long nanos) {
            add(Seen.of(device, true, nanos, packet, null));
        }

        @Override
        public void onReceived(Frame packet, @Nullable PacketFate fate, long nanos) {
            add(Seen.of(device, false, nanos, packet, fate));
        }

        @Override
        public void onUnsendable(Frame packet, long nanos) {
            step(nanos, device, "a packet cannot be sent", "The operating system refused it for good.");
        }

        @Override
        public void onStreamOpened(TappedStream stream, long nanos) {
            InetSocketAddress own = stream.localAddress();
            step(
                    nanos,
                    device,
                    "TCP connection is open",
                    "Port " + own.getPort() + " here, " + stream.remotePort() + " at " + stream.remote()
                            + ". The three-way handshake was the operating system's.");
        }

        @Override
        public void onStreamSent(TappedStream stream, MemorySegment bytes, long from, long count, long nanos) {
            add(new Chunk(device, true, nanos, connection(stream), copy(bytes, from, count)));
        }

        @Override
        public void onStreamReceived(TappedStream stream, MemorySegment bytes, long from, long count, long nanos) {
            add(new Chunk(device, false, nanos, connection(stream), copy(bytes, from, count)));
        }

        @Override
        public void onStreamEnded(TappedStream stream, boolean byPeer, long nanos) {
            step(
                    nanos,
                    device,
                    byPeer ? "the peer has ended the TCP stream" : "ends the TCP stream",
                    byPeer ? "Its FIN has arrived." : "Nothing more will be sent: a FIN.");
        }

        private static byte[] copy(MemorySegment bytes, long from, long count) {
            return bytes.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE);
        }

        // The same name at both ends.
        private static String connection(TappedStream stream) {
            int own = stream.localAddress().getPort();
            int peer = stream.remotePort();
            return Math.min(own, peer) + "-" + Math.max(own, peer);
        }
    }

    // ---- what came of it

    /// Returns all of it, in the order of time.
    synchronized List<Event> events() {
        var all = new ArrayList<>(events);
        all.addAll(new Packets(packets, keys).events());
        all.addAll(new Streams(chunks, keys).events());
        all.sort(Comparator.comparingLong(Event::nanos));
        return all;
    }

    /// Returns the number of times that a device has handed packets or bytes to the system, or has got some: at
    /// least so many system calls.
    synchronized long moves(Place device, boolean sent) {
        return packets.stream()
                        .filter(packet -> packet.device() == device && packet.sent() == sent)
                        .mapToLong(Seen::nanos)
                        .distinct()
                        .count()
                + chunks.stream()
                        .filter(chunk -> chunk.device() == device && chunk.sent() == sent)
                        .mapToLong(Chunk::nanos)
                        .distinct()
                        .count();
    }
}
