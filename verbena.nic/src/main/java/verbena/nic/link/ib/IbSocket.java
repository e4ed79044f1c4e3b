package verbena.nic.link.ib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.fabric.FabricPort;
import verbena.nic.fabric.FabricSocket;
import verbena.nic.link.LinkException;

/// The socket between an [IbLink] and its fabric: one for news of an adapter, which any number of links may have,
/// and another in its place once the link claims the adapter, for packets too. Any thread.
final class IbSocket implements AutoCloseable {
    private static final int NONE = -1;

    private final Path place;
    private final int number;
    private final FabricPort said;
    private volatile int fd;
    /// The socket before the claim. It is closed at the end only, because a thread may just read it.
    private int before = NONE;

    private boolean isClosed;

    private IbSocket(Path place, int number, int fd, FabricPort said) {
        this.place = place;
        this.number = number;
        this.fd = fd;
        this.said = said;
    }

    private record Answer(int fd, FabricPort said) {}

    /// Asks for news of an adapter.
    ///
    /// @throws LinkException when there is no fabric, or no such adapter
    static IbSocket open(LinuxSockets linux, Path place, int number) {
        Answer answer = ask(linux, place, FabricSocket.WATCH, number);
        return new IbSocket(place, number, answer.fd, answer.said);
    }

    private static Answer ask(LinuxSockets linux, Path place, int kind, int number) {
        int fd = FabricSocket.connect(linux, place);
        if (fd < 0) {
            throw new LinkException(
                    LinkException.Kind.FAILED,
                    "no fabric of this user at " + place + ": start one (verbena fabric up TOPOLOGY)");
        }
        try (Arena call = Arena.ofConfined()) {
            MemorySegment message = call.allocate(FabricSocket.INFO_BYTES);
            boolean isAsked = FabricSocket.ask(fd, message, kind, number, "");
            FabricPort said = isAsked ? FabricPort.answer(fd, message) : null;
            if (said != null) {
                return new Answer(fd, said);
            }
        }
        LinuxSockets.close(fd);
        throw new LinkException(LinkException.Kind.FAILED, "the fabric has no adapter " + number);
    }

    /// Returns the report of the fabric about the port at the beginning.
    FabricPort said() {
        return said;
    }

    /// Returns the descriptor of the socket for messages; the claim replaces it.
    int fd() {
        return fd;
    }

    /// Takes the adapter, once; does nothing after [#close()]. What was news before comes again.
    ///
    /// @throws LinkException when another link has it
    synchronized void claim() {
        if (before != NONE || isClosed) {
            return;
        }
        try (Arena call = Arena.ofShared()) {
            var linux = new LinuxSockets(call);
            Answer answer = ask(linux, place, FabricSocket.ATTACH, number);
            boolean isSame = answer.said.portGuid() == said.portGuid();
            if (answer.said.isInUse() || !isSame) {
                LinuxSockets.close(answer.fd);
                throw new LinkException(
                        LinkException.Kind.PORT_IN_USE,
                        isSame
                                ? "adapter " + number + " is in use: one device at a time has queue pairs at an adapter"
                                : "another fabric has taken the place of this one");
            }
            before = fd;
            fd = answer.fd;
            int _ = linux.shutdown(before, LinuxAbi.SHUT_WR); // its end wakes a thread that sleeps there
        }
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        LinuxSockets.close(fd);
        if (before != NONE) {
            LinuxSockets.close(before);
        }
    }
}
