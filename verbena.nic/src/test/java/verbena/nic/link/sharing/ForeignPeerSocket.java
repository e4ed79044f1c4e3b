package verbena.nic.link.sharing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.Envelope;
import verbena.nic.link.LinkBench;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// A program of another user that tries to misuse the peer sockets of a [SharedAddress].
final class ForeignPeerSocket {
    private ForeignPeerSocket() {}

    /// `forge NAME`: connects and sends a packet in an envelope. `squat NAME …`: takes the names. Prints `done`,
    /// and ends with its input.
    public static void main(String[] arguments) throws IOException {
        try (var arena = Arena.ofConfined()) {
            var linux = new LinuxSockets(arena);
            if (arguments[0].equals("squat")) {
                for (String name : List.of(arguments).subList(1, arguments.length)) {
                    int fd = linux.localSocket();
                    require(linux.bind(fd, name(name, arena)));
                    require(linux.listen(fd, 10));
                }
            } else {
                int fd = linux.localSocket();
                require(linux.connect(fd, name(arguments[1], arena)));
                Frame[] forged = LinkBench.frames(1);
                LinkBench.fill(forged[0], Gid.parse("127.0.0.1"), Gid.parse("127.0.0.1"), 1, 64);
                new RoceV2().seal(forged[0], 0);
                Envelope.seal(forged[0]);
                LinuxSockets.send(fd, forged[0].slot.asSlice(Envelope.START, Envelope.BYTES + 64L));
            }
            System.out.println("done");
            int _ = System.in.read();
        }
    }

    private static void require(int result) throws IOException {
        if (result < 0) {
            throw new IOException(LinuxSockets.message(-result));
        }
    }

    /// A name in the abstract namespace, as an address.
    static MemorySegment name(String text, Arena arena) {
        byte[] path = ("\0" + text).getBytes(StandardCharsets.US_ASCII);
        MemorySegment at = arena.allocate(2L + path.length, 8);
        at.set(ValueLayout.JAVA_SHORT, 0, (short) LinuxAbi.AF_UNIX);
        MemorySegment.copy(path, 0, at, ValueLayout.JAVA_BYTE, 2, path.length);
        return at;
    }
}
