package verbena.tools.network;

import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.sim.ethernet.Emulation;
import verbena.tools.kit.HostNetwork;

/// A host of an emulated network: a network namespace with an interface `eth0`, or a bridge of another one.
final class EmulatedHost implements AutoCloseable {
    private static final int HOSTS_IN_BYTE = 250;

    private final String name;
    private final int number;
    private final @Nullable Plug plug;
    private final @Nullable HostNetwork own;

    EmulatedHost(String name, int number, @Nullable Plug plug) throws IOException {
        this.name = name;
        this.number = number;
        this.plug = plug;
        this.own = plug == null ? new HostNetwork() : null;
    }

    String name() {
        return name;
    }

    /// Returns the name of its interface before it is moved there.
    String cable() {
        return "vnet" + number;
    }

    /// Returns 10.76.0.1 and so on.
    String address() {
        return "10.76." + number / HOSTS_IN_BYTE + "." + (number % HOSTS_IN_BYTE + 1);
    }

    /// Returns fd76::1 and so on.
    private String address6() {
        return "fd76::" + Integer.toHexString(number + 1);
    }

    /// Returns the place where programs find it.
    String where() {
        return plug == null ? address() + "  " + address6() : "behind " + plug.bridge() + " of " + plug.namespace();
    }

    Optional<RunningNetwork.Member> member() {
        return own == null ? Optional.empty() : Optional.of(RunningNetwork.Member.of(name, own.pid(), address()));
    }

    /// Moves its interface there, and brings it up.
    void connect(int mtu) throws IOException, InterruptedException {
        if (plug != null) {
            String there = "-n " + plug.namespace() + " link set " + cable();
            HostNetwork.ipHere("link set " + cable() + " netns " + plug.namespace());
            HostNetwork.ipHere(there + " addrgenmode none");
            HostNetwork.ipHere(there + " mtu " + mtu + " master " + plug.bridge() + " up");
        } else if (own != null) {
            HostNetwork.ipHere("link set " + cable() + " netns " + own.pid());
            own.ip("link set lo up");
            own.ip("link set " + cable() + " name eth0 mtu " + mtu + " address " + mac());
            own.ip("link set eth0 addrgenmode none");
            own.ip("address add " + address() + "/16 dev eth0");
            own.ip("address add " + address6() + "/64 dev eth0 nodad");
            own.ip("link set eth0 up");
        }
    }

    private String mac() {
        String digits = "%012x".formatted(Emulation.mac(number));
        return digits.replaceAll("(..)(?!$)", "$1:");
    }

    @Override
    public void close() {
        if (own != null) {
            own.close();
        }
    }
}
