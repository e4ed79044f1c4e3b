package verbena.tools.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.ethernet.TapPorts;
import verbena.sim.ethernet.Emulation;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Switch;
import verbena.tools.kit.Closing;

/// A thread that moves frames between TAP interfaces and an emulated network. The thread sleeps while nothing is
/// under way, and spins for the last [#SPIN_NANOS] before a frame is due.
final class Emulator implements AutoCloseable {
    /// A sleep ends so much too late at times.
    private static final long SPIN_NANOS = 30_000;
    /// The most frames taken from one host before the next has its turn.
    private static final int TURN = 16;
    /// The greatest delay of a frame that is counted as it is, in microseconds.
    private static final int LATE_MICROS_MAX = 10_000;

    private final EthernetNetwork network;
    private final Arena arena = Arena.ofShared();
    private final TapPorts ports;
    private final Emulation emulation;
    private final MemorySegment buffer = arena.allocate(Emulation.FRAME_MAX + 8L, 8);
    private final boolean[] listens;
    private final Thread thread = new Thread(this::run, "verbena-network");
    private final long beganNanos = System.nanoTime();
    private volatile boolean isOver;
    private volatile @Nullable Throwable failure;

    // The thread's, and then the reader's when it has ended.
    private final long[] late = new long[LATE_MICROS_MAX + 1];
    private long delivered;
    private long deliveredBytes;
    private long refused;
    private long latest;

    /// @param cables the names of the interfaces, in the order of the hosts
    Emulator(EthernetNetwork network, List<String> cables) {
        this.network = network;
        this.listens = new boolean[cables.size()];
        this.ports = TapPorts.open(cables);
        this.emulation = new Emulation(network, arena, this::send, System.nanoTime());
    }

    void start() {
        thread.start();
    }

    void join() throws InterruptedException {
        thread.join();
    }

    /// Ends the thread.
    ///
    /// @throws IllegalStateException when it has failed before
    void end() {
        isOver = true;
        ports.wakeup();
        Closing.join(thread);
        if (failure != null) {
            throw new IllegalStateException("the network has failed", failure);
        }
    }

    private void run() {
        try {
            move();
        } catch (RuntimeException | Error e) {
            failure = e;
        }
    }

    private void move() {
        while (!isOver) {
            boolean any = false;
            for (int host = 0; host < listens.length; host++) {
                any |= read(host);
            }
            long now = System.nanoTime();
            emulation.advance(now);
            if (any) {
                continue;
            }
            long due = emulation.dueNanos();
            long left = due == Long.MAX_VALUE ? -1 : due - now - SPIN_NANOS;
            if (due == Long.MAX_VALUE || left > 0) {
                for (int host = 0; host < listens.length; host++) {
                    listens[host] = emulation.hasRoom(host);
                }
                ports.await(left, listens);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private boolean read(int host) {
        boolean any = false;
        for (int i = 0; i < TURN && emulation.hasRoom(host); i++) {
            int length = ports.read(host, buffer);
            if (length < 0) {
                break;
            }
            emulation.offer(host, buffer, length, System.nanoTime());
            any = true;
        }
        return any;
    }

    private void send(int host, MemorySegment frame, int length, long lateNanos) {
        if (ports.write(host, frame, length)) {
            delivered++;
            deliveredBytes += length;
        } else {
            refused++;
        }
        latest = Math.max(latest, lateNanos);
        late[(int) Math.min(LATE_MICROS_MAX, lateNanos / 1_000)]++;
    }

    /// Returns the counts of frames, when it has ended.
    List<String> summary() {
        double seconds = (System.nanoTime() - beganNanos) / 1e9;
        var lines = new ArrayList<String>();
        lines.add(String.format(
                Locale.ROOT,
                "%,d frames sent, %,d arrived (%,d bytes) in %.1f s",
                emulation.offered(),
                delivered,
                deliveredBytes,
                seconds));
        if (refused + emulation.malformed() + emulation.crowded() > 0) {
            lines.add(String.format(
                    Locale.ROOT,
                    "lost at hosts: %,d that a host had no room for, %,d without a place in a sender's card, %,d too long or short",
                    refused,
                    emulation.crowded(),
                    emulation.malformed()));
        }
        for (Switch each : network.switches()) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%s: %,d dropped, %,d marked, %,d pauses, at most %,d bytes in its buffer",
                    each,
                    each.dropped(),
                    each.marked(),
                    each.pausesSent(),
                    each.mostUsed()));
        }
        if (delivered > 0) {
            lines.add(String.format(
                    Locale.ROOT,
                    "frames came later than planned by %,d us (median), %,d us (99 %%), %,d us at most",
                    quantile(0.5),
                    quantile(0.99),
                    latest / 1_000));
        }
        return lines;
    }

    private int quantile(double part) {
        long left = (long) Math.ceil(part * (delivered + refused));
        int micros = 0;
        while (micros < LATE_MICROS_MAX && (left -= late[micros]) > 0) {
            micros++;
        }
        return micros;
    }

    @Override
    public void close() {
        isOver = true;
        ports.wakeup();
        Closing.join(thread);
        ports.close();
        arena.close();
    }
}
