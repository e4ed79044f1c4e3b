package verbena.nic.fabric;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.SockaddrUn;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.LinkException;
import verbena.subnet.node.NodePort;
import verbena.wire.BigEndian;
import verbena.wire.mad.PortInfo;

/// The socket where the process of a fabric listens, and its messages to a device beside packets.
///
/// The socket lies in a folder that only its user may enter. A message is a packet, LRH through VCRC, or begins with
/// [#CONTROL], which is no LRH: its link version is 15.
public final class FabricSocket {
    public static final int CONTROL = 0x0F;
    /// A request of a device for an adapter. Others ask for the state of an adapter, or for reports of its changes
    /// ([#WATCH]); each has the number of the adapter, 16 bits.
    public static final int ATTACH = 1;

    static final int QUERY = 2;
    /// An answer to these, and news for devices that have or watch the adapter.
    static final int INFO = 3;
    /// A request for the end of the fabric.
    static final int DOWN = 4;
    /// A request for a description of the fabric in words, with its routes where the number is not 0. It comes in
    /// messages of [#TEXT], and then the connection ends.
    static final int SHOW = 5;

    static final int TEXT = 6;
    /// A request to take the link of a port down, or up; the number is the port, 0 for all of the node, and the
    /// node's name follows. The answer is a text: why it cannot be, or nothing.
    static final int LINK_DOWN = 7;

    static final int LINK_UP = 8;
    /// The request of a program at queue pairs 0 and 1 for the port of the adapter with this number. The answer is
    /// [#OPENED]; from then on each message of the connection, both ways, is a datagram ([ProgramPort]).
    static final int OPEN_PORT = 9;

    static final int OPENED = 10;
    /// A request to make or end an agent of such a program, over a connection of its own. The answer has an errno
    /// for status.
    static final int REGISTER = 11;

    static final int UNREGISTER = 12;
    public static final int WATCH = 13;

    static final int OK = 0;
    static final int NO_SUCH = 1;
    static final int IN_USE = 2;

    // Of INFO.
    static final int STATUS = 2;
    static final int REREGISTRATIONS = 4; // 32 bits
    static final int NODE_GUID = 8;
    static final int PORT_GUID = 16;
    static final int PORT_INFO = 24; // as the attribute PortInfo
    static final int PKEYS = PORT_INFO + PortInfo.BYTES; // 16 bits each
    public static final int INFO_BYTES = PKEYS + Short.BYTES * NodePort.PKEYS;

    // Of OPENED, REGISTER and UNREGISTER. STATUS is of the answers.
    static final int AGENT = 4; // 32 bits
    static final int TOKEN = 8; // 64 bits: which program
    static final int OPENED_BYTES = 16;
    static final int SPEC_CLASS = 16;
    static final int SPEC_VERSION = 17;
    static final int SPEC_RMPP = 18;
    static final int SPEC_OUI = 20; // 32 bits
    static final int SPEC_METHODS_LOW = 24; // 64 bits
    static final int SPEC_METHODS_HIGH = 32; // 64 bits
    static final int REGISTER_BYTES = 40;

    static final int ASK_BYTES = 4;
    static final int NAME_BYTES_MAX = 256;
    static final int TEXT_AT = 2;
    static final int TEXT_BYTES_MAX = 1_024;

    private static final String ENVIRONMENT = "VERBENA_FABRIC";
    private static final int PATH_BYTES_MAX = 107;
    // What kind of file a mode says (inode(7)).
    private static final int S_IFMT = 0xF000;
    private static final int S_IFSOCK = 0xC000;

    private FabricSocket() {}

    /// Returns the path of the socket: the value of the environment variable `VERBENA_FABRIC`, else `fabric` in the
    /// runtime folder of the user.
    public static Path place() {
        String said = System.getenv(ENVIRONMENT);
        if (said != null && !said.isEmpty()) {
            return Path.of(said);
        }
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        return runtime == null || runtime.isEmpty()
                ? Path.of(System.getProperty("java.io.tmpdir"), "verbena-" + LinuxSockets.effectiveUser(), "fabric")
                : Path.of(runtime, "verbena", "fabric");
    }

    /// Makes the folder of the socket.
    ///
    /// @throws LinkException when it cannot be made, or another user may enter it
    static void makeFolder(Path socket) {
        Path folder = socket.toAbsolutePath().getParent();
        if (folder == null) {
            throw new LinkException(LinkException.Kind.FAILED, "socket " + socket + ": not a file in a folder");
        }
        try {
            Files.createDirectory(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            check(folder);
        } catch (IOException e) {
            throw new LinkException(LinkException.Kind.FAILED, "folder " + folder + ": " + e.getMessage());
        }
    }

    private static void check(Path folder) {
        try {
            Object owner = Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            int mode = (int) Files.getAttribute(folder, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            if (!owner.equals(LinuxSockets.effectiveUser())
                    || (mode & 077) != 0
                    || !Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                throw new LinkException(
                        LinkException.Kind.NOT_PERMITTED,
                        "folder " + folder + ": only its user may enter the folder of a fabric (chmod 700)");
            }
        } catch (IOException e) {
            throw new LinkException(LinkException.Kind.FAILED, "folder " + folder + ": " + e.getMessage());
        }
    }

    /// Removes the socket of a process that was killed.
    ///
    /// @throws LinkException when something else is there
    static void removeOld(Path socket) throws IOException {
        try {
            int mode = (int) Files.getAttribute(socket, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            if ((mode & S_IFMT) != S_IFSOCK) {
                throw new LinkException(
                        LinkException.Kind.FAILED,
                        socket + " is there and is no socket: move it away, or have " + ENVIRONMENT
                                + " name another file");
            }
            Files.delete(socket);
        } catch (NoSuchFileException _) {
            // there is none
        }
    }

    /// Returns the identity of the file: its device and inode.
    static Object identity(Path socket) throws IOException {
        Object device = Files.getAttribute(socket, "unix:dev", LinkOption.NOFOLLOW_LINKS);
        return List.of(device, Files.getAttribute(socket, "unix:ino", LinkOption.NOFOLLOW_LINKS));
    }

    /// Removes that file, and nothing that has taken its place meanwhile.
    static void remove(Path socket, Object identity) throws IOException {
        try {
            if (identity(socket).equals(identity)) {
                Files.delete(socket);
            }
        } catch (NoSuchFileException _) {
            // another process was faster
        }
    }

    /// Returns the address of a path (unix(7)).
    static MemorySegment address(Path socket) {
        byte[] path = socket.toString().getBytes(StandardCharsets.UTF_8);
        if (path.length > PATH_BYTES_MAX) {
            throw new LinkException(
                    LinkException.Kind.FAILED, "socket " + socket + ": a path of at most " + PATH_BYTES_MAX + " bytes");
        }
        MemorySegment address = Arena.ofAuto().allocate(SockaddrUn.SUN_PATH + path.length + 1L, 8);
        address.set(JAVA_SHORT, SockaddrUn.SUN_FAMILY, (short) LinuxAbi.AF_UNIX);
        MemorySegment.copy(path, 0, address, JAVA_BYTE, SockaddrUn.SUN_PATH, path.length);
        return address;
    }

    /// Connects to the fabric of this user; returns a descriptor, negative when there is none.
    public static int connect(LinuxSockets linux, Path socket) {
        int fd = linux.localSocket();
        if (fd < 0) {
            return fd;
        }
        boolean isOurs = linux.connect(fd, address(socket)) == 0 && linux.peerUser(fd) == LinuxSockets.effectiveUser();
        if (!isOurs) {
            LinuxSockets.close(fd);
            return -1;
        }
        int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_SNDBUF, SOCKET_BYTES);
        return fd;
    }

    /// The bytes that a socket holds in each direction: some twenty long packets. More would only make each one
    /// later.
    static final int SOCKET_BYTES = 1 << 16;

    /// Sends a question.
    ///
    /// @param message at least [#ASK_BYTES] and the bytes of the name
    /// @param name of a node; empty where the question is about none
    public static boolean ask(int fd, MemorySegment message, int kind, int number, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        BigEndian.put8(message, 0, CONTROL);
        BigEndian.put8(message, 1, kind);
        BigEndian.put16(message, 2, number);
        MemorySegment.copy(bytes, 0, message, JAVA_BYTE, ASK_BYTES, bytes.length);
        return LinuxSockets.send(fd, message.asSlice(0, ASK_BYTES + (long) bytes.length));
    }
}
