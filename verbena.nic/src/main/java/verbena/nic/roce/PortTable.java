package verbena.nic.roce;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.spi.ConnectionService.CallerPort;

/// The ports that this process has at its addresses, on all its devices. A port is bound, or an identifier asks its
/// peer from it; never both. Other processes need not know of ports of the second kind, because no peer sends to
/// these. Any thread.
final class PortTable {
    /// The ports of choice when the system does not say which (RFC 6335).
    private static final int FIRST = 49_152;

    private static final int LAST = 65_535;
    /// The system's own choice, two numbers, from which its rdma_cm takes ports too.
    private static final Path RANGE = Path.of("/proc/sys/net/ipv4/ip_local_port_range");

    private static final int CALLER = -1;

    static final PortTable OF_PROCESS = read();

    private record Key(long serviceId, Gid local) {}

    private final int first;
    private final int count;
    /// The number of devices that have a port bound, or CALLER. There may be several devices, each in a simulated
    /// network.
    private final ConcurrentHashMap<Key, Integer> users = new ConcurrentHashMap<>();

    /// @param first of the ports that are given to programs that ask for any
    /// @param last the same
    PortTable(int first, int last) {
        this.first = first;
        this.count = last - first + 1;
    }

    private static PortTable read() {
        // One read gets all: the kernel gives nothing to a second one, and Files.readString begins with a byte.
        try (var reader = Files.newBufferedReader(RANGE)) {
            String[] range = String.valueOf(reader.readLine()).strip().split("\\s+", -1);
            return new PortTable(Integer.parseInt(range[0]), Integer.parseInt(range[1]));
        } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException _) {
            return new PortTable(FIRST, LAST); // no Linux
        }
    }

    /// Enters a bound port; false when an identifier asks its peer from it.
    boolean bind(PortSpace space, Gid local, int port) {
        return users.merge(key(space, local, port), 1, (had, more) -> had == CALLER ? CALLER : had + more) != CALLER;
    }

    /// Takes a bound port out.
    void unbind(PortSpace space, Gid local, int port) {
        users.computeIfPresent(key(space, local, port), (_, had) -> had == 1 ? null : had - 1);
    }

    /// Takes a port that this process does not have.
    ///
    /// @throws ResourceLimitException when there is none
    CallerPort call(PortSpace space, Gid local) {
        return any("resolveAddress", local, port -> {
            Key key = key(space, local, port);
            return users.putIfAbsent(key, CALLER) == null ? new Caller(port, () -> users.remove(key, CALLER)) : null;
        });
    }

    private record Caller(int port, Runnable release) implements CallerPort {
        @Override
        public void close() {
            release.run();
        }
    }

    /// Returns the result of `take` for the first port where it is not null, from a random port on. Every second port
    /// comes first, beginning with the range's first, and then the others. The kernel prefers those others for
    /// listeners of TCP, so a program that listens for both finds its number free here.
    ///
    /// @throws ResourceLimitException when there is none
    <T> T any(String verb, Gid local, IntFunction<@Nullable T> take) {
        int firsts = (count + 1) / 2;
        int start = ThreadLocalRandom.current().nextInt(count);
        for (int i = 0; i < count; i++) {
            int offset = i < firsts ? (start + i) % firsts * 2 : (start + i) % (count - firsts) * 2 + 1;
            T taken = take.apply(first + offset);
            if (taken != null) {
                return taken;
            }
        }
        throw new ResourceLimitException(verb, "ports", count, "all of " + local + " are taken");
    }

    private static Key key(PortSpace space, Gid local, int port) {
        return new Key(space.serviceId(port), local);
    }
}
