package verbena.nic.link;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import verbena.verbs.Gid;
import verbena.wire.roce.RoceV2;

/// The processes with UDP port 4791 on this host, from the kernel's tables (proc(5)); none where such tables are
/// missing.
public final class PortOwners {
    /// One socket.
    ///
    /// @param address that it is bound to; all zeroes for any
    /// @param uid of its owner
    /// @param process that has it; empty for the kernel's own, and for what this user may not see
    public record Owner(Gid address, boolean isWildcard, int uid, Optional<Program> process) {}

    /// A process that has a socket.
    ///
    /// @param name as the kernel has it, cut off at 15 characters
    public record Program(long pid, String name) {}

    private static final int PORT = RoceV2.UDP_PORT;
    private static final int COLUMN_LOCAL = 1;
    private static final int COLUMN_UID = 7;
    private static final int COLUMN_INODE = 9;

    private static final int PASSWD_UID = 2; // passwd(5)

    private final Path proc;
    private final Path passwd;

    /// @param root of the file system that the tables are in
    public PortOwners(Path root) {
        proc = root.resolve("proc");
        passwd = root.resolve("etc/passwd");
    }

    /// Returns whether Verbena's devices share the port at `address` (they listen at local sockets with abstract
    /// names).
    public boolean isShared(Gid address) {
        String slots = "@verbena/" + address;
        return lines(proc.resolve("net/unix")).stream()
                .map(line -> line.substring(line.lastIndexOf(' ') + 1))
                .anyMatch(name -> (name.startsWith(slots + "/") || name.startsWith(slots + "%"))
                        && name.contains("/" + PORT + "/slot-"));
    }

    /// Returns all owners; those of IPv4 first.
    public List<Owner> all() {
        var owners = new ArrayList<Owner>();
        for (String table : List.of("udp", "udp6")) {
            lines(proc.resolve("net").resolve(table)).stream()
                    .skip(1) // the heading
                    .map(line -> line.strip().split("\\s+", -1))
                    .filter(columns -> columns.length > COLUMN_INODE)
                    .map(this::owner)
                    .flatMap(Optional::stream)
                    .forEach(owners::add);
        }
        return owners;
    }

    /// Returns the description of an owner, in words.
    public String words(Owner owner) {
        String user = user(owner.uid());
        return owner.process()
                .map(process -> "process " + process.pid() + " (" + process.name() + ") of user " + user)
                .orElse("a process of user " + user + " that this user may not see, or the kernel");
    }

    private String user(int uid) {
        return lines(passwd).stream()
                .map(line -> line.split(":", -1))
                .filter(columns -> columns.length > PASSWD_UID && columns[PASSWD_UID].equals(String.valueOf(uid)))
                .map(columns -> columns[0])
                .findFirst()
                .orElse(String.valueOf(uid));
    }

    private Optional<Owner> owner(String[] columns) {
        String[] local = columns[COLUMN_LOCAL].split(":", -1);
        if (local.length != 2 || HexFormat.fromHexDigits(local[1]) != PORT) {
            return Optional.empty();
        }
        InetAddress address = address(local[0]);
        return Optional.of(new Owner(
                Gid.of(address),
                address.isAnyLocalAddress(),
                Integer.parseInt(columns[COLUMN_UID]),
                process(columns[COLUMN_INODE])));
    }

    /// Returns the address of a hexadecimal text: words of 32 bits, each in this machine's order.
    private static InetAddress address(String hex) {
        ByteBuffer words = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
        ByteBuffer inOrder = ByteBuffer.allocate(words.capacity()).order(ByteOrder.nativeOrder());
        while (words.hasRemaining()) {
            inOrder.putInt(words.getInt());
        }
        try {
            return InetAddress.getByAddress(inOrder.array());
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("address: \"" + hex + "\"", e);
        }
    }

    private Optional<Program> process(String inode) {
        Path socket = Path.of("socket:[" + inode + "]");
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                if (has(process, socket)) {
                    String name =
                            lines(process.resolve("comm")).stream().findFirst().orElse("?");
                    return Optional.of(
                            new Program(Long.parseLong(process.getFileName().toString()), name));
                }
            }
        } catch (IOException _) {
            // no processes to be seen
        }
        return Optional.empty();
    }

    private static boolean has(Path process, Path socket) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                if (Files.isSymbolicLink(descriptor)
                        && Files.readSymbolicLink(descriptor).equals(socket)) {
                    return true;
                }
            }
        } catch (IOException _) {
            // another user's, or it has ended
        }
        return false;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException _) {
            return List.of();
        }
    }
}
