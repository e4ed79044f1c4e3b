package verbena.verbs.cm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;

/// Memory that all peers of a [ConnectionListener] reach, each by the device of its connection. Peers on this host
/// use memory that the processes share, all others the network. It is one memory, registered at each device of the
/// listener.
///
/// ```java
/// try (var listener = ConnectionListener.bind("0.0.0.0", 7471);
///         var table = listener.allocate(1L << 30, Access.remoteRead())) {
///     while (true) {
///         Connection reader = listener.accept();
///         Thread.startVirtualThread(() -> serve(reader, table.remote(reader))); // sends it the key
///     }
/// }
/// ```
///
/// Each reader has a thread of its own here, because sending waits until the reader has posted a receive. A reader
/// that posts none would otherwise keep all others from being accepted.
///
/// Any thread may use it. [ConnectionListener#allocate] makes it, and the program closes it. Then its keys are
/// invalid, and the program must not use [#segment()] any more.
///
/// @since 0.1
public final class ListenerMemory implements AutoCloseable {
    private final List<SharedDomain> domains;
    /// The first is the memory's own; the others have the same memory.
    private final List<MemoryRegion> regions;

    private boolean isClosed;

    private ListenerMemory(List<SharedDomain> domains, List<MemoryRegion> regions) {
        this.domains = domains;
        this.regions = regions;
    }

    /// @param domains of all devices, that within this host first: others can register its memory
    static ListenerMemory allocate(List<SharedDomain> domains, long bytes, Set<Access> access) {
        var regions = new ArrayList<MemoryRegion>();
        boolean done = false;
        try {
            MemoryRegion own = domains.getFirst().domain().allocate(bytes, access);
            regions.add(own);
            for (SharedDomain each : domains.subList(1, domains.size())) {
                regions.add(each.domain().register(own.segment(), access));
            }
            domains.forEach(SharedDomain::use);
            done = true;
            return new ListenerMemory(domains, List.copyOf(regions));
        } finally {
            if (!done) {
                regions.reversed().forEach(MemoryRegion::close);
            }
        }
    }

    /// Returns the memory in this process.
    public MemorySegment segment() {
        return regions.getFirst().segment();
    }

    /// Returns the address and key by which the peer of a connection reaches the memory. They differ from device to
    /// device. The program sends them to that peer.
    ///
    /// @param to of the same listener
    /// @throws IllegalArgumentException when another listener accepted it, or this one did so before its first
    ///     [ConnectionListener#allocate]
    public RemoteMemory remote(Connection to) {
        Objects.requireNonNull(to, "to");
        return regions.stream()
                .filter(region -> region.protectionDomain() == to.queuePair().protectionDomain())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "to: a connection that the listener has accepted since its first allocate, got " + to))
                .remote();
    }

    /// Frees the memory; requests of peers for it fail from then on. Idempotent.
    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        regions.reversed().forEach(MemoryRegion::close);
        domains.forEach(SharedDomain::giveBack);
    }

    @Override
    public String toString() {
        return "memory of a listener, " + regions;
    }
}
