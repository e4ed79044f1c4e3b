package verbena.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.verbs.Mtu;

/// The rights that devices on Ethernet itself need (`rocev1`, and `rocev2` with `link=raw` or `link=xdp`), as far as
/// this process has them. All other devices do without, so nothing of it is wrong. Linux only (capabilities(7),
/// user_namespaces(7)).
final class EthernetRights implements Check {
    private static final int NET_ADMIN = 12;
    private static final int NET_RAW = 13;
    private static final int SYS_ADMIN = 21;
    private static final int BPF = 39;
    private static final String EFFECTIVE = "CapEff:";
    /// The map of user numbers where no user namespace was made.
    private static final List<String> EVERY_USER = List.of("0", "0", "4294967295");

    @Override
    public List<Finding> look(Surroundings at) {
        Optional<Long> rights = rights(at);
        if (at.whyPortable().isPresent() || rights.isEmpty()) {
            return List.of(); // another finding says why
        }
        String seen = raw(rights.get()) + "; " + xdp(rights.get(), isHostsOwn(at));
        return List.of(Finding.ok("Ethernet", seen).with(interfaces(at)));
    }

    private static Optional<Long> rights(Surroundings at) {
        try {
            return Text.lines(at.root().resolve("proc/self/status")).stream()
                    .filter(line -> line.startsWith(EFFECTIVE))
                    .map(line -> Long.parseUnsignedLong(
                            line.substring(EFFECTIVE.length()).strip(), 16))
                    .findFirst();
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }

    private static boolean has(long rights, int capability) {
        return (rights >>> capability & 1) != 0;
    }

    private static boolean isHostsOwn(Surroundings at) {
        return Text.lines(at.root().resolve("proc/self/uid_map")).stream()
                .anyMatch(line -> List.of(line.strip().split("\\s+")).equals(EVERY_USER));
    }

    private static String raw(long rights) {
        return has(rights, NET_RAW)
                ? "rocev1 and link=raw have their right"
                : "rocev1 and link=raw lack CAP_NET_RAW (run as root, or in a network of one's own: unshare"
                        + " --map-root-user --net)";
    }

    private static String xdp(long rights, boolean isHostsOwn) {
        var missing = new ArrayList<String>();
        if (!has(rights, NET_RAW)) {
            missing.add("CAP_NET_RAW");
        }
        if (!has(rights, NET_ADMIN)) {
            missing.add("CAP_NET_ADMIN");
        }
        if (!has(rights, BPF) && !has(rights, SYS_ADMIN)) {
            missing.add("CAP_BPF");
        }
        if (!missing.isEmpty()) {
            return "link=xdp lacks " + String.join(", ", missing);
        }
        return isHostsOwn
                ? "link=xdp has its rights"
                : "link=xdp lacks its rights in the host's own user namespace, where programs of the kernel are loaded";
    }

    private static List<String> interfaces(Surroundings at) {
        return at.interfaces().stream()
                .filter(one -> !one.loopback() && one.mac() != 0 && !one.gids().isEmpty())
                .map(EthernetRights::describe)
                .toList();
    }

    private static String describe(HostInterface one) {
        String seen = "rocev1_" + one.name() + ": path MTU " + one.pathMtu();
        return one.pathMtu() == Mtu.MTU_4096 ? seen : seen + "; for 4096: ip link set " + one.name() + " mtu 9000";
    }
}
