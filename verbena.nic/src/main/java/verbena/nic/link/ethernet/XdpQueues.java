package verbena.nic.link.ethernet;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// The state that the [XdpWire]s of one device share: the program in the kernel, the groups of the interface, and
/// what keeps the device alone there. The device has the queues from [#claim()] on, until the last wire is closed.
/// Any thread.
final class XdpQueues {
    private final HostInterface host;
    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final XdpProgram program;
    private final PacketMembership membership;
    private final EthernetClaim claim;
    /// The number of wires that are in each group.
    private final Map<Gid, Integer> groups = new HashMap<>();

    private final List<XdpQueue> queues = new ArrayList<>();
    private boolean isClaimed;

    /// @param ports of UDP whose packets arrive; none for frames of RoCE v1
    /// @param queue the first of the interface's queues
    /// @param count how many there are
    /// @throws LinkException when the system does not permit it
    XdpQueues(HostInterface host, List<Integer> ports, List<GidEntry> gids, int queue, int count, boolean inPieces) {
        this.host = host;
        XdpProgram madeProgram = null;
        PacketMembership madeMembership = null;
        EthernetClaim madeClaim = null;
        boolean isReady = false;
        try {
            madeProgram = new XdpProgram(host, ports, queue, count, inPieces, arena);
            for (GidEntry entry : gids) {
                madeProgram.add(entry.gid());
            }
            madeMembership = new PacketMembership(linux, linux.packetSocket(), host.index());
            madeClaim = new EthernetClaim(ports, gids);
            isReady = true;
        } finally {
            if (!isReady) {
                close(madeClaim, madeProgram, madeMembership);
                arena.close();
            }
        }
        program = madeProgram;
        membership = madeMembership;
        claim = madeClaim;
    }

    /// Adds a wire with this queue; [#release] removes it.
    synchronized void use(XdpQueue queue) {
        queues.add(queue);
    }

    /// Removes a wire that is about to close its socket. The last wire frees the shared state: frames go to the
    /// network stack again.
    synchronized void release(XdpQueue queue) {
        if (queues.remove(queue) && queues.isEmpty()) {
            close();
        }
    }

    /// Frees it all, when no wire uses it.
    synchronized void close() {
        close(claim, program, membership);
        arena.close();
    }

    /// Takes the interface and the queues of all wires: frames come from now on. After a failure, queues that were
    /// taken stay so until their wires are closed.
    ///
    /// @throws LinkException when another device or program has one of them, or the system does not permit it
    synchronized void claim() {
        if (isClaimed || queues.isEmpty()) {
            return;
        }
        boolean isTaken = claim.take();
        try {
            for (XdpQueue queue : queues) {
                queue.bind();
                program.put(queue.number(), queue.socket().fd());
            }
            program.attach();
            isClaimed = true;
        } finally {
            if (isTaken && !isClaimed) {
                claim.giveBack();
            }
        }
    }

    private static void close(
            @Nullable EthernetClaim claim, @Nullable XdpProgram program, @Nullable PacketMembership membership) {
        if (program != null) {
            program.close(); // first: frames go to the network stack again
        }
        if (claim != null) {
            claim.close();
        }
        if (membership != null && membership.fd() >= 0) {
            LinuxSockets.close(membership.fd());
        }
    }

    synchronized boolean isNative() {
        return program.isNative();
    }

    synchronized long elsewhere() {
        return queues.isEmpty() ? 0 : program.elsewhere();
    }

    // ---- groups

    /// Joins a group for one of the wires.
    ///
    /// @throws LinkException when the system does not permit it
    synchronized void join(Gid group, long mac) {
        if (groups.containsKey(group)) {
            groups.merge(group, 1, Integer::sum);
            return;
        }
        int result = membership.join(mac);
        if (result < 0) {
            throw new LinkException(
                    LinkException.Kind.FAILED,
                    "AF_XDP on " + host.name() + ": PACKET_ADD_MEMBERSHIP: " + LinuxSockets.message(-result));
        }
        program.add(group);
        claim.join(group);
        groups.put(group, 1);
    }

    synchronized void leave(Gid group, long mac) {
        if (groups.merge(group, -1, Integer::sum) == 0) {
            groups.remove(group);
            membership.leave(mac);
            program.remove(group);
            claim.leave(group);
        }
    }
}
