package verbena.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;

/// The interfaces that can carry devices: their addresses and MTUs.
final class OwnAddresses implements Check {
    /// The bytes that an interface adds to the payload at most, as soft-RoCE reckons (see
    /// [HostInterface#pathMtu()]).
    static final int HEADERS = 80;

    @Override
    public List<Finding> look(Surroundings at) {
        var findings = new ArrayList<Finding>();
        List<HostInterface> all = at.interfaces();
        if (all.stream().noneMatch(HostInterface::loopback)) {
            findings.add(Finding.fail(
                    "interface lo",
                    "there is no loopback interface, or it is down",
                    "ip link set lo up; until then the device rocev2 does not open"));
        }
        all.stream().map(OwnAddresses::describe).forEach(findings::add);
        if (all.stream().anyMatch(HostInterface::loopback) && !at.isLoopbackWhole()) {
            findings.add(Finding.ok(
                    "loopback",
                    "of 127.0.0.0/8 only 127.0.0.1 is local: "
                            + (at.whyPortable().isEmpty()
                                    ? "devices of this user share it"
                                    : "each device has a UDP port of its own there, and an address 127.1.x.y that stands"
                                            + " for port 256x + y")));
        }
        boolean reachesOthers = all.stream()
                .anyMatch(one -> one.up() && !one.loopback() && !one.gids().isEmpty());
        if (!reachesOthers) {
            findings.add(Finding.warn(
                    "addresses",
                    "no interface but loopback is up and has an address",
                    "only peers on this host can connect; for others give an interface an address (ip address add)"));
        }
        return findings;
    }

    private static Finding describe(HostInterface one) {
        String subject = "interface " + one.name();
        String gids =
                one.gids().stream().map(GidEntry::gid).map(Object::toString).collect(Collectors.joining(" "));
        String seen = (gids.isEmpty() ? "no address" : gids) + ", MTU " + one.mtu() + " -> path MTU "
                + one.pathMtu().bytes();
        if (!one.up()) {
            return Finding.warn(subject, "down; " + seen, "when it is needed: ip link set " + one.name() + " up");
        }
        if (one.gids().isEmpty()) {
            return Finding.warn(
                    subject, "up; " + seen, "no device there; when it is needed: ip address add ... dev " + one.name());
        }
        if (one.mtu() < Mtu.MTU_256.bytes() + HEADERS) {
            return Finding.fail(
                    subject, seen, "not even packets of 256 bytes fit: ip link set " + one.name() + " mtu 1500");
        }
        if (!one.loopback() && one.gids().stream().allMatch(entry -> entry.gid().isLinkLocal())) {
            return Finding.warn(
                    subject,
                    "only link-local: " + seen,
                    "it reaches this link only, and peers have to name the interface (ADDRESS%" + one.name()
                            + "); give it another address");
        }
        return Finding.ok(subject, seen);
    }
}
