package verbena.tools.doctor;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// The own address that reaches a peer, and the reasons against the others.
///
/// @param picked the interface with the one address that is taken, none of its own on loopback; empty when none is
/// @param reason why none is; empty when one is
/// @param table a line for each own address
record Candidates(Optional<HostInterface> picked, String reason, List<String> table) {
    /// Looks at all addresses of this host.
    static Candidates towards(InetAddress peer, Surroundings at) {
        List<HostInterface> interfaces = at.interfaces();
        try {
            Gid source = Gid.of(at.sourceTowards(peer));
            Optional<HostInterface> picked = interfaces.stream()
                    .flatMap(one -> one.gids().stream()
                            .filter(entry -> entry.gid().equals(source))
                            .map(_ -> own(one, source, peer)))
                    .findFirst();
            String reason = picked.isPresent()
                    ? ""
                    : "packets to it would leave from " + source + ", which is on no interface: is it the address of a"
                            + " tunnel or another namespace?";
            return new Candidates(picked, reason, table(interfaces, Optional.of(source), peer));
        } catch (IOException e) {
            return new Candidates(
                    Optional.empty(),
                    "no route leads there (" + e.getMessage() + ")",
                    table(interfaces, Optional.empty(), peer));
        }
    }

    /// Returns the interface with the own address alone; on IPv4's loopback with none, because a device there has
    /// an address of its own.
    private static HostInterface own(HostInterface at, Gid source, InetAddress peer) {
        HostInterface only = at.withOnly(source.address());
        return peer.isLoopbackAddress() && source.isIpv4()
                ? new HostInterface(
                        at.name(), at.index(), at.mtu(), at.mac(), at.up(), true, at.bitsPerSecond(), List.of())
                : only;
    }

    private static List<String> table(List<HostInterface> interfaces, Optional<Gid> source, InetAddress peer) {
        var lines = new ArrayList<String>();
        for (HostInterface one : interfaces) {
            for (GidEntry entry : one.gids()) {
                lines.add("%-10s %-26s %-8s %-10s %s"
                        .formatted(
                                one.name(),
                                entry.gid(),
                                entry.type(),
                                scope(one, entry.gid()),
                                verdict(one, entry.gid(), source, peer)));
            }
        }
        return lines;
    }

    private static String scope(HostInterface at, Gid gid) {
        return at.loopback() ? "host" : gid.isLinkLocal() ? "link" : "global";
    }

    private static String verdict(HostInterface at, Gid own, Optional<Gid> source, InetAddress peer) {
        Gid other = Gid.of(peer);
        if (source.isPresent() && source.get().equals(own)) {
            return "picked: packets to " + other + " leave from it"
                    + (at.loopback() && own.isIpv4() ? " (a device takes another of 127.0.0.0/8)" : "");
        }
        if (own.isIpv4() != other.isIpv4()) {
            return own.isIpv4() ? "no: IPv4, the peer is IPv6" : "no: IPv6, the peer is IPv4";
        }
        if (!at.up()) {
            return "no: " + at.name() + " is down";
        }
        if (at.loopback() && !peer.isLoopbackAddress()) {
            return "no: it reaches this host only";
        }
        if (own.isLinkLocal() != other.isLinkLocal()) {
            return own.isLinkLocal() ? "no: link-local, the peer is not" : "no: not link-local, the peer is";
        }
        return source.map(address -> "no: the route leaves from " + address).orElse("no: no route leads from it");
    }
}
