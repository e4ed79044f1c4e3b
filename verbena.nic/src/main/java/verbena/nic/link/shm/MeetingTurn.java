package verbena.nic.link.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxAbi.Timespec;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.nic.link.sharing.PeerSocket;
import verbena.nic.link.sharing.PeerSockets;

/// The turn to meet the links that are there: the links of one user on a host take it one after the other. Two that
/// met at the same moment would connect to each other, and each would keep the connection that the other one drops.
///
/// The turn is a name at which its holder listens. The kernel ends it with the holder's process.
final class MeetingTurn implements AutoCloseable {
    private static final String NAME = "meeting-" + Integer.toUnsignedString(LinuxSockets.effectiveUser());
    /// The number of waits for another link's turn, and their length, before a link goes on without it: a process
    /// may be stopped (SIGSTOP) in its turn, or be of another user that means harm.
    private static final int WAITS = 100;

    private static final long WAIT_NANOS = 20_000_000;

    private final PeerSockets peers;
    private final @Nullable PeerSocket turn;

    /// The turn, for which the caller waits first.
    ///
    /// @throws verbena.nic.link.LinkException when the system does not permit it
    MeetingTurn(PeerSockets peers) {
        this.peers = peers;
        PeerSocket taken = peers.listen(NAME);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment waited = arena.allocate(Pollfd.BYTES, 8);
            MemorySegment limit = arena.allocate(Timespec.BYTES, 8);
            limit.set(JAVA_LONG, Timespec.TV_NSEC, WAIT_NANOS);
            for (int i = 0; i < WAITS && taken == null; i++) {
                int holder = peers.connect(NAME); // the connection breaks when the holder stops listening
                Pollfds.watch(waited, 0, holder, LinuxAbi.POLLIN); // a negative descriptor is never ready
                int _ = holder == -LinuxAbi.ECONNREFUSED ? 0 : LinuxSockets.poll(waited, 1, limit);
                if (holder >= 0) {
                    LinuxSockets.close(holder);
                }
                taken = peers.listen(NAME);
            }
        }
        turn = taken;
    }

    @Override
    public void close() {
        if (turn != null) {
            peers.close(turn);
        }
    }
}
