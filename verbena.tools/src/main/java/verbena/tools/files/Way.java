package verbena.tools.files;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A way to bring a file from one process to another, with what it implies. What is said of copies and switches is
/// reasoned, from what each call does, not measured.
///
/// @param name as the table has it
/// @param kind which code moves it
/// @param device of RDMA; null for sockets
/// @param copies times that a processor copies each byte, both ends and the kernel together, without the disk's
///     DMA
/// @param path of a byte
/// @param switches into the kernel for each MiB, both ends
record Way(String name, Kind kind, @Nullable String device, int copies, String path, String switches) {
    enum Kind {
        READ_WRITE,
        MMAP,
        SENDFILE,
        DIRECT,
        RDMA_WRITE,
        RDMA_READ
    }

    private static final List<Way> SOCKETS = List.of(
            new Way(
                    "read + write",
                    Kind.READ_WRITE,
                    null,
                    4,
                    "page cache > buffer > socket | socket > buffer > page cache",
                    "read, write; as many reads as it arrives in, write"),
            new Way(
                    "mmap + write",
                    Kind.MMAP,
                    null,
                    3,
                    "page cache > socket | socket > buffer > page cache",
                    "faults for pages (256, or fewer around each), write; reads, write"),
            new Way(
                    "sendfile",
                    Kind.SENDFILE,
                    null,
                    2,
                    "page cache, by reference | socket > buffer > page cache",
                    "sendfile; reads, write"),
            new Way(
                    "O_DIRECT, 8 in flight",
                    Kind.DIRECT,
                    null,
                    2,
                    "(disk > buffer) > socket | socket > buffer (> disk)",
                    "pread, write; reads, pwrite; hand-overs to the threads that wait for the disk"));

    /// Returns the transfers over a TCP socket, the simplest first.
    static List<Way> sockets() {
        return SOCKETS;
    }

    /// Returns RDMA over a device, written and read.
    static List<Way> over(String device) {
        boolean isStream = device.startsWith("iwarp");
        boolean isUdp = device.startsWith("rocev2");
        String how = isStream ? "FPDU" : "packet";
        // A device of Verbena's copies payload out of and into regions, and the kernel into and out of the socket.
        boolean isCard = !isStream && !isUdp;
        boolean staysInPlace = isStream && device.contains("crc=off");
        int copies = isCard ? 2 : staysInPlace ? 4 : 6;
        String path = isCard
                ? "page cache > slot (card: slot > slot) | slot > page cache"
                : staysInPlace
                        ? "page cache > slot > socket | socket > slot > page cache"
                        : "page cache > slot > " + how + " > socket | socket > slot > page cache; " + how
                                + " buffers before the slot";
        String switches = isCard
                ? "pread; pwrite; none to move it"
                : isStream
                        ? "pread, a few sends; a few receives, pwrite; epoll"
                        : "pread, 17 or more sendmmsg of rows of packets; recvmmsg of them, acknowledgements, pwrite;"
                                + " looks that find nothing";
        return List.of(
                new Way(device + " WRITE", Kind.RDMA_WRITE, device, copies, path, switches),
                new Way(device + " READ", Kind.RDMA_READ, device, copies, path, switches));
    }

    boolean isRdma() {
        return device != null;
    }
}
