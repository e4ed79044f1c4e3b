package verbena.sim.model;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import verbena.nic.SoftContext;
import verbena.nic.link.Faults;
import verbena.nic.link.FaultyLink;
import verbena.nic.link.Link;
import verbena.nic.link.shm.OutgoingRings;
import verbena.nic.link.shm.ShmLink;
import verbena.nic.shm.DrivenShm;
import verbena.sim.NetworkFaults;
import verbena.transport.Protocol;
import verbena.verbs.Access;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.VerbsObject;

/// Devices of one process that reach each other over the memory files and sockets of this host, as those of several
/// processes do. One thread drives them all, in virtual time. So a seed walks the same way each time, but for the
/// slots of the links, which the host hands out.
///
/// The seed draws whether requests may need no packets, how many engines a device has, and whether its memory lies
/// in a file that peers can map.
final class SharedMemoryWorld implements WalkWorld {
    /// A link that has connected is let in, then its file is taken, then what is in it.
    private static final int LOOKS = 4;

    private static final int ROUNDS_MAX = 100_000;

    private final SplittableRandom root;
    private final SplittableRandom random;
    private final NetworkFaults faults;
    private final Direct direct;
    private final boolean isDirect;
    private final List<SoftContext> contexts = new ArrayList<>();
    private final List<ShmLink> links = new ArrayList<>();
    private final List<VerbsObject> furniture = new ArrayList<>();
    private long now;

    /// Told at the end how much has needed no packets.
    interface Direct {
        void needed(long requests, long messages);
    }

    SharedMemoryWorld(long seed, NetworkFaults faults, Direct direct) {
        this.root = new SplittableRandom(seed);
        this.random = root.split();
        this.faults = faults;
        this.direct = direct;
        this.isDirect = root.nextInt(4) > 0;
    }

    @Override
    public Opened open(UnaryOperator<Link> wrap) {
        int number = contexts.size() + 1;
        // No packet leaves the host, so any address does; devices with different ones are easy to tell apart.
        List<GidEntry> gids = List.of(
                new GidEntry(0, Gid.parse("10.0.0." + number), GidType.ROCE_V2, "shm", 1),
                new GidEntry(1, Gid.parse("fd00::" + number), GidType.ROCE_V2, "shm", 1));
        List<ShmLink> own = IntStream.range(0, root.nextInt(3) == 0 ? 2 : 1)
                .mapToObj(_ -> ShmLink.open(gids))
                .toList();
        links.addAll(own);
        String name = String.valueOf((char) ('a' + number - 1));
        var context = DrivenShm.open(name, own, link -> wrap.apply(suffer(link)), isDirect, () -> now, root.split());
        contexts.add(context);
        boolean isInFile = root.nextInt(4) > 0;
        return new Opened(name, context, isInFile ? inFile(context) : inProcess());
    }

    private static MemorySegment inProcess() {
        return Arena.ofAuto().allocate(Lockstep.MEMORY_BYTES, 4_096);
    }

    /// Memory of a region that no peer has a key of: regions are made in it.
    private MemorySegment inFile(SoftContext context) {
        ProtectionDomain domain = context.allocateProtectionDomain();
        MemoryRegion around = domain.allocate(Lockstep.MEMORY_BYTES, Access.remoteAll());
        furniture.add(around);
        furniture.add(domain);
        return around.segment();
    }

    private Link suffer(Link link) {
        if (faults.equals(NetworkFaults.NONE)) {
            return link;
        }
        var same = new Faults(
                faults.loss(),
                faults.duplicate(),
                faults.reorder(),
                faults.corrupt(),
                0,
                0,
                Faults.On.SENT,
                OptionalLong.of(root.nextInt(Integer.MAX_VALUE)));
        return new FaultyLink(link, same, () -> now);
    }

    @Override
    public SplittableRandom random() {
        return random;
    }

    @Override
    public long nowNanos() {
        return now;
    }

    @Override
    public long nextNanos() {
        return contexts.stream().mapToLong(SoftContext::deadlineNanos).min().orElse(Protocol.NEVER);
    }

    @Override
    public boolean knowsStrangers() {
        return isDirect; // a message without packets names its sender
    }

    @Override
    public void step() {
        now = Math.max(now, nextNanos());
        int rounds = 0;
        boolean hasDone = drive();
        while (hasDone) {
            while (drive()) {
                if (++rounds == ROUNDS_MAX) {
                    throw new IllegalStateException("the devices do not come to rest");
                }
            }
            hasDone = look();
        }
        for (SoftContext context : contexts) {
            Optional<Throwable> mistake = context.containedFailure();
            if (mistake.isPresent()) {
                throw new IllegalStateException(
                        "a device has met a mistake of its own: " + mistake.get(), mistake.get());
            }
        }
    }

    private boolean drive() {
        boolean hasDone = false;
        for (SoftContext context : contexts) {
            hasDone |= context.drive();
        }
        return hasDone || isUnderWay();
    }

    /// A message is handed over by a poll, which is no work of the engine's. So a device that has done nothing may
    /// have told another one something.
    private boolean isUnderWay() {
        return links.stream().anyMatch(from -> links.stream().anyMatch(to -> hasUnread(from.rings(), to.slot())));
    }

    private static boolean hasUnread(OutgoingRings rings, int slot) {
        return !rings.isRead(slot, rings.added(slot));
    }

    /// Looks at the sockets, which a device that is driven does only now and then; whether that led to anything.
    private boolean look() {
        links.forEach(link -> link.await(1));
        boolean hasDone = false;
        for (int i = 0; i < LOOKS; i++) {
            hasDone |= drive();
        }
        return hasDone;
    }

    @Override
    public void close() {
        direct.needed(sum("direct.requests"), sum("direct.messages"));
        furniture.forEach(VerbsObject::close);
        contexts.forEach(SoftContext::close);
    }

    private long sum(String counter) {
        return contexts.stream()
                .mapToLong(context -> context.counters().get(counter))
                .sum();
    }

    @Override
    public void abandon() {
        links.forEach(ShmLink::close);
    }
}
