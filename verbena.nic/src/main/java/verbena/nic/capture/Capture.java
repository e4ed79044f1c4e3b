package verbena.nic.capture;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import verbena.wire.pcap.LinkType;
import verbena.wire.pcap.PcapngBlocks;

/// A capture of the traffic that one device sends and receives, from [#start] or [#toFile] until it is closed. The
/// engine only copies into a ring of a fixed size and never waits. Packets without room in the ring are missing in
/// the capture, and counted.
///
/// A thread of the capture writes the captured blocks to a file, or a reader takes them with [#take(int)]. A
/// reader that stays away longer than [#LEASE_SECONDS] is considered dead, and the capture ends.
public final class Capture implements AutoCloseable {
    /// The seconds that a reader may stay away.
    public static final int LEASE_SECONDS = 10;

    private static final int FILE_BUFFER_BYTES = 32 << 20;
    private static final int BUFFER_BYTES_MIN = 1 << 16;
    private static final int BUFFER_BYTES_MAX = 1 << 30;
    private static final int CHUNK_BYTES = 1 << 20;
    private static final long IDLE_NANOS = 10_000_000;
    private static final long LEASE_NANOS = LEASE_SECONDS * 1_000_000_000L;

    /// The files that captures of this process write.
    private static final Set<Path> FILES = new HashSet<>();

    private final CaptureSource source;
    private final NoteRing ring;
    private final CaptureTap tap;
    private final CaptureBlocks blocks;
    private final Thread thread;
    private final Runnable closer = this::close;
    private volatile boolean closed;
    private volatile long takenNanos = System.nanoTime();

    private Capture(CaptureSource source, int bufferBytes, int packetBytesMax, Body body) {
        this.source = source;
        this.ring = new NoteRing(bufferBytes);
        this.tap = new CaptureTap(ring, packetBytesMax);
        Instant now = Instant.now();
        long epochNanos = now.getEpochSecond() * 1_000_000_000L + now.getNano() - source.nanoTime();
        this.blocks = new CaptureBlocks(ring, epochNanos);
        this.thread = Thread.ofPlatform().daemon().name("verbena-capture").unstarted(() -> body.run(this));
    }

    /// The body of a capture's thread.
    private interface Body {
        void run(Capture capture);
    }

    /// Begins a capture whose blocks a reader takes with [#take(int)].
    ///
    /// @param bufferBytes the most bytes that wait for the reader, 64 KiB to 1 GiB
    /// @param packetBytesMax the most bytes kept of a packet of RoCE, from its BTH on; at least
    ///     [CaptureFile#PACKET_BYTES_MIN]
    public static Capture start(CaptureSource source, int bufferBytes, int packetBytesMax) {
        return start(source, bufferBytes, packetBytesMax, LEASE_NANOS);
    }

    /// @param leaseNanos how long the reader may stay away
    static Capture start(CaptureSource source, int bufferBytes, int packetBytesMax, long leaseNanos) {
        if (bufferBytes < BUFFER_BYTES_MIN || bufferBytes > BUFFER_BYTES_MAX) {
            throw new IllegalArgumentException(
                    "bufferBytes: " + BUFFER_BYTES_MIN + " to " + BUFFER_BYTES_MAX + ", got " + bufferBytes);
        }
        if (packetBytesMax < CaptureFile.PACKET_BYTES_MIN) {
            throw new IllegalArgumentException(
                    "packetBytesMax: at least " + CaptureFile.PACKET_BYTES_MIN + ", got " + packetBytesMax);
        }
        return begun(new Capture(source, bufferBytes, packetBytesMax, capture -> capture.watchLease(leaseNanos)));
    }

    /// Begins a capture into a pcapng file, which is replaced. A second capture into the same file at the same
    /// time gets a file of its own, with a number before the dot.
    ///
    /// @throws IOException when the file cannot be written
    public static Capture toFile(CaptureSource source, CaptureFile to) throws IOException {
        Path file = claim(to.file().toAbsolutePath().normalize());
        try {
            OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), CHUNK_BYTES);
            out.write(PcapngBlocks.section("Verbena"));
            out.write(description(source.device().name().replaceFirst(",.*", "")));
            return begun(new Capture(
                    source,
                    FILE_BUFFER_BYTES,
                    to.packetBytesMax(),
                    capture -> capture.write(file, out, to.bytesMax())));
        } catch (IOException e) {
            release(file);
            throw e;
        }
    }

    private static Capture begun(Capture capture) {
        capture.source.tap(capture.tap);
        capture.source.beforeClosed(capture.closer);
        capture.thread.start();
        return capture;
    }

    /// Returns the description of a device in a file.
    public static byte[] description(String device) {
        return PcapngBlocks.interfaceDescription(
                LinkType.ETHERNET,
                device,
                "Verbena; headers below the transport's are made up, and for shm the ICRC too");
    }

    private static Path claim(Path file) {
        synchronized (FILES) {
            Path free = file;
            for (int i = 2; !FILES.add(free); i++) {
                String name = String.valueOf(file.getFileName());
                int dot = name.lastIndexOf('.');
                int at = dot > 0 ? dot : name.length();
                free = file.resolveSibling(name.substring(0, at) + "-" + i + name.substring(at));
            }
            return free;
        }
    }

    private static void release(Path file) {
        synchronized (FILES) {
            FILES.remove(file);
        }
    }

    /// Returns the next whole blocks of packets, until they are `enough` bytes; empty when nothing has come. All
    /// are of interface 0.
    public synchronized byte[] take(int enough) {
        takenNanos = System.nanoTime();
        return blocks.take(enough);
    }

    /// Returns how many packets were not captured because there was no room.
    public long lost() {
        return ring.lost();
    }

    /// Returns how many packets, and events of streams, were captured.
    public long captured() {
        return ring.noted();
    }

    /// Returns whether nothing more will be captured; blocks may still wait to be taken.
    public boolean isClosed() {
        return closed;
    }

    /// Ends the capture. A reader can still take what waits; a file is complete when this returns.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        source.untap(tap);
        source.cancelBeforeClosed(closer);
        closed = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread != Thread.currentThread() && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- the thread

    private void watchLease(long leaseNanos) {
        while (!closed) {
            long left = takenNanos + leaseNanos - System.nanoTime();
            if (left <= 0) {
                log("its reader has stayed away for " + leaseNanos / 1_000_000 + " ms", null);
                close();
            } else {
                LockSupport.parkNanos(left);
            }
        }
    }

    private void write(Path file, OutputStream to, long bytesMax) {
        long bytes = 0;
        try (to) {
            while (true) {
                boolean wasClosed = closed;
                byte[] made = take(CHUNK_BYTES);
                to.write(made);
                bytes += made.length;
                if (made.length == 0 && wasClosed) {
                    break;
                }
                if (bytes >= bytesMax && !wasClosed) {
                    log(file + " has reached its largest size", null);
                    close();
                }
                if (made.length == 0) {
                    to.flush(); // so that other processes can read the file meanwhile
                    LockSupport.parkNanos(IDLE_NANOS);
                }
            }
            Instant now = Instant.now();
            long nanos = now.getEpochSecond() * 1_000_000_000L + now.getNano();
            to.write(PcapngBlocks.statistics(0, nanos, captured() + lost(), lost()));
        } catch (IOException e) {
            log("cannot write " + file, e);
            close();
        } finally {
            release(file);
        }
    }

    private void log(String why, @Nullable IOException cause) {
        System.getLogger("verbena.nic")
                .log(
                        System.Logger.Level.WARNING,
                        "the capture of device " + source.device().name() + " ends: " + why
                                + (cause == null ? "" : ": " + cause.getMessage()));
    }
}
