package verbena.sim;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.SoftContext;
import verbena.transport.Protocol;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.weak.Weakness;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Preview;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.WorkCompletion;

/// A real device in a simulated world. The world drives it, and the program uses it through its [#context()], with
/// the verbs API.
///
/// The thread of the world uses it. [World#addDevice()] makes it, and it lives as long as the world, or until its
/// context is closed. [World#step()] throws [IllegalStateException] when the device has met an internal error.
///
/// @since 0.1
@Preview
public final class SimDevice {
    /// The options of a device.
    ///
    /// @param engines over which its queue pairs are spread
    /// @param congestion what its reliable connections do about congestion
    /// @param repeatsSelectively whether they send again only what is missing, where they can
    /// @param weakness the freedoms of cards that it takes, with one engine; null for none
    @Preview
    public record Options(
            int engines,
            CongestionRule congestion,
            boolean repeatsSelectively,
            @Nullable Weakness weakness) {
        /// One engine, and nothing else.
        public static final Options DEFAULT = new Options(1, CongestionRule.NONE, false);

        /// Options of a device that is not weak.
        public Options(int engines, CongestionRule congestion, boolean repeatsSelectively) {
            this(engines, congestion, repeatsSelectively, null);
        }

        /// Returns the same with freedoms, or without them.
        public Options with(@Nullable Weakness freedoms) {
            return new Options(engines, congestion, repeatsSelectively, freedoms);
        }
    }

    /// Pieces of work that a device may find to do at one moment, and steps of a world that may follow one another
    /// then.
    static final int PIECES_MAX = 1_000_000;

    private static final long REGION_STEP = 1L << 32;
    private static final long PAGE = 4_096;

    private final Network network;
    private final Trace trace;
    private final LongSupplier clock;
    /// One for each engine.
    private final List<SimLink> links;
    private final SoftContext context;
    private long pausedUntil = Long.MIN_VALUE;
    private long regions;

    SimDevice(Network network, Trace trace, LongSupplier clock, List<SimLink> links, SoftContext context) {
        this.network = network;
        this.trace = trace;
        this.clock = clock;
        this.links = links;
        this.context = context;
    }

    /// Returns the device's name in traces: `a`, `b`, ...
    public String name() {
        return links.getFirst().name;
    }

    int number() {
        return links.getFirst().number;
    }

    /// Returns the opened device, for the verbs API.
    public SoftContext context() {
        return context;
    }

    /// Registers `bytes` of fresh, zeroed memory. Peers address it by a number that is the same in every run of the
    /// world. The address of the memory would not be.
    public MemoryRegion register(ProtectionDomain domain, long bytes, Set<Access> access) {
        long iova = access.contains(Access.ZERO_BASED) ? 0 : nextAddress();
        return domain.register(Arena.ofAuto().allocate(bytes, PAGE), iova, access);
    }

    /// Returns an address for a region of up to 4 GiB that no other region of this device has.
    public long nextAddress() {
        return ++regions * REGION_STEP;
    }

    /// Takes a completion as [CompletionQueue#poll(WorkCompletion)] does, and records it in the world's trace.
    public boolean poll(CompletionQueue queue, WorkCompletion wc) {
        if (!queue.poll(wc)) {
            return false;
        }
        trace.completion(clock.getAsLong(), number(), name(), wc);
        return true;
    }

    /// Records a text in the world's trace.
    public void note(String text) {
        trace.note(clock.getAsLong(), name(), text);
    }

    /// Makes the device a slow receiver.
    ///
    /// @param packets that may wait to be received, as in a socket's buffer, up to 4,096
    /// @param nanosPerPacket time to receive each
    public void slow(int packets, long nanosPerPacket) {
        links.forEach(link -> link.slow(packets, nanosPerPacket));
    }

    /// Returns the number of the device's engines that have sent something.
    public int enginesUsed() {
        return (int) links.stream().filter(link -> link.sent > 0).count();
    }

    /// Loses everything that the device sends in that time.
    public void blackHole(long nanos) {
        links.forEach(link -> network.blackHole(link, nanos));
    }

    /// Loses every answer that the device sends in that time, while its own requests pass. Its peers see no
    /// acknowledgements.
    public void mute(long nanos) {
        links.forEach(link -> network.mute(link, nanos));
    }

    /// Stops the device for that time: it receives and sends nothing, and no timer expires.
    public void pause(long nanos) {
        pausedUntil = clock.getAsLong() + nanos;
    }

    /// Returns the time since which the device has not been paused; in the future while it is.
    public long awakeSinceNanos() {
        return pausedUntil;
    }

    /// Returns the time when it has to be driven next; [verbena.transport.Protocol#NEVER] when there is
    /// nothing to wait for.
    long dueNanos() {
        if (context.isClosed()) {
            return Protocol.NEVER;
        }
        long due = context.deadlineNanos();
        for (int i = 0; i < links.size(); i++) {
            due = Math.min(due, links.get(i).readableNanos());
        }
        return Math.max(pausedUntil, due);
    }

    /// Drives it until it has nothing to do now. A world goes on after no mistake, though a device may.
    void drive(long now) {
        if (now < pausedUntil || context.isClosed()) {
            return;
        }
        for (int pieces = 0; context.drive(); pieces++) {
            if (pieces == PIECES_MAX) {
                throw new IllegalStateException(name() + " does not come to rest");
            }
        }
        Optional<Throwable> mistake = context.containedFailure();
        if (mistake.isPresent()) {
            throw new IllegalStateException(name() + " has met a mistake of its own: " + mistake.get(), mistake.get());
        }
    }
}
