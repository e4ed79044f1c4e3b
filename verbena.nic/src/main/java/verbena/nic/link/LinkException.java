package verbena.nic.link;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.roce.RoceV2;

/// The exception when a link cannot be opened, or cannot join a multicast group. The kind is for programs that
/// decide by it; the message is for persons.
public final class LinkException extends RuntimeException {
    /// The reason.
    public enum Kind {
        /// Another socket has the port at this address.
        PORT_IN_USE,
        /// The address belongs to no interface of this host.
        ADDRESS_NOT_LOCAL,
        /// The operating system does not permit it to this process.
        NOT_PERMITTED,
        /// A platform, JVM or address family that cannot do it.
        UNSUPPORTED,
        /// Any other reason; the message has the system's words.
        FAILED
    }

    private final Kind kind;

    public LinkException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public LinkException(Kind kind, String message) {
        this(kind, message, null);
    }

    private static String sharing(String address) {
        String why = NativeAccess.whyPortable();
        return why == null
                ? "Devices of one user share an address when all were opened by name (rocev2@" + address
                        + ") and with system calls (not with link=portable)."
                : "This process cannot share it: " + why + ".";
    }

    /// Returns a description of the owners of a port, as far as the system names them.
    private static String holder(String address, int port) {
        var owners = new PortOwners(Path.of("/"));
        List<PortOwners.Owner> all =
                port == RoceV2.UDP_PORT ? owners.all() : List.of(); // the only port that is looked up
        return all.stream()
                .filter(owner ->
                        owner.isWildcard() || owner.address().toString().equals(address))
                .map(owner -> owners.words(owner) + (owner.isWildcard() ? ", at all addresses" : ""))
                .findFirst()
                .orElse("the kernel's soft-RoCE (rdma_rxe), by a program bound to all addresses, or by another"
                        + " software device");
    }

    /// Returns the failure to bind `address` and `port`, with advice; `detail` holds the system's words.
    public static LinkException ofBind(Kind kind, String address, int port, String detail, @Nullable Throwable cause) {
        String where = "UDP port " + port + " at " + address;
        String message = switch (kind) {
            case PORT_IN_USE ->
                where + " is in use (" + detail + "): by " + holder(address, port) + ". " + sharing(address)
                        + " Use another address"
                        + (address.startsWith("127.")
                                ? "; on loopback every process can have one of its own in 127.0.0.0/8 (the device rocev2)."
                                : ", or one of 127.0.0.0/8 for peers on this host.");
            case ADDRESS_NOT_LOCAL ->
                address + " is no usable address of this host (" + detail
                        + "): choose one that an interface has, and for a link-local one the interface that"
                        + " has it.";
            case NOT_PERMITTED ->
                where + ": not permitted (" + detail + "). A sandbox, a firewall or a security module decides"
                        + " about this; the port itself needs no privilege.";
            case UNSUPPORTED ->
                address + " cannot be used by this JVM on this system (" + detail
                        + "): is its address family switched off (IPv6 by java.net.preferIPv4Stack or the"
                        + " kernel)?";
            case FAILED -> where + ": " + detail;
        };
        return new LinkException(kind, message, cause);
    }

    /// Returns the failure to join `group` on the interface of `at`; `detail` holds the system's words.
    public static LinkException ofJoin(Kind kind, Gid group, GidEntry at, String detail, @Nullable Throwable cause) {
        String where = "multicast group " + group + " on " + at.networkInterface();
        String message = switch (kind) {
            case PORT_IN_USE ->
                where + ": the UDP port is in use (" + detail + ") by a program that does not share it: the kernel's"
                        + " soft-RoCE (rdma_rxe), or a program bound to all addresses.";
            case ADDRESS_NOT_LOCAL -> where + ": there is no such interface any more (" + detail + ")";
            case UNSUPPORTED, NOT_PERMITTED, FAILED -> where + ": " + detail;
        };
        return new LinkException(kind, message, cause);
    }

    /// Returns the reason.
    public Kind kind() {
        return kind;
    }
}
