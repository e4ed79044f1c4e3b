package verbena.tools.doctor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.cm.CmMessage;

/// A host that a test makes up: healthy, with one interface, until the test spoils it.
final class FakeSurroundings implements Surroundings {
    static final String OWN = "10.0.0.3";
    static final String PEER = "10.0.0.9";

    final Path root;
    final Map<String, String> properties = new HashMap<>();
    Optional<String> whyPortable = Optional.empty();
    Optional<String> whyNoVerbs = Optional.empty();
    boolean isLoopbackWhole = true;
    final List<HostInterface> interfaces = new ArrayList<>(
            List.of(nic("lo", 65_536, true, "127.0.0.1", "::1"), nic("eth0", 1_500, true, OWN, "fd00::3")));
    long receiveBufferBytes = 32 << 20;
    Function<String, Context> opener = name -> Device.named(name).open();
    final Map<String, List<String>> names = new HashMap<>();
    /// Own addresses by those of peers.
    final Map<String, String> routes = new HashMap<>(Map.of(PEER, OWN));

    /// What becomes of a datagram.
    interface Network {
        Echo echo(int port, int bytes) throws IOException;
    }

    Network network = (port, _) -> port == 4791 ? Echo.SILENCE : Echo.REFUSED;
    /// How the peer's manager answers; null is silence.
    Function<CmMessage, CmMessage> peer = _ -> null;
    RuntimeException questionsFail = null;
    final List<CmMessage> told = new ArrayList<>();

    FakeSurroundings(Path root) {
        this.root = root;
        properties.putAll(Map.of(
                "java.runtime.version", "25.0.3+9",
                "java.vendor", "Somebody",
                "os.name", "Linux",
                "os.arch", "amd64"));
    }

    static HostInterface nic(String name, int mtu, boolean up, String... addresses) {
        var gids = new ArrayList<GidEntry>();
        for (String address : addresses) {
            gids.add(new GidEntry(gids.size(), Gid.parse(address), GidType.ROCE_V2, name, 1));
        }
        return new HostInterface(name, 1, mtu, 0, up, name.equals("lo"), OptionalLong.empty(), gids);
    }

    /// Puts a file into the host.
    FakeSurroundings file(String path, String content) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
        return this;
    }

    /// The findings about one subject.
    static List<Finding> about(String subject, List<Finding> findings) {
        return findings.stream()
                .filter(finding -> finding.subject().startsWith(subject))
                .toList();
    }

    @Override
    public Path root() {
        return root;
    }

    @Override
    public String property(String name) {
        return properties.getOrDefault(name, "");
    }

    @Override
    public Optional<String> whyNoVerbs() {
        return whyNoVerbs;
    }

    @Override
    public boolean isLoopbackWhole() {
        return isLoopbackWhole;
    }

    @Override
    public Optional<String> whyPortable() {
        return whyPortable;
    }

    @Override
    public List<HostInterface> interfaces() {
        return interfaces;
    }

    @Override
    public long receiveBufferBytes() {
        return receiveBufferBytes;
    }

    @Override
    public Context open(String device) {
        return opener.apply(device);
    }

    @Override
    public List<InetAddress> resolve(String host) throws UnknownHostException {
        List<String> known = names.get(host);
        if (known == null) {
            try {
                return List.of(InetAddress.ofLiteral(host));
            } catch (IllegalArgumentException e) {
                throw new UnknownHostException(host + ": Name or service not known");
            }
        }
        return known.stream().map(InetAddress::ofLiteral).toList();
    }

    @Override
    public InetAddress sourceTowards(InetAddress peer) throws IOException {
        String own = routes.get(Gid.of(peer).toString());
        if (own == null) {
            throw new IOException("Network is unreachable");
        }
        return InetAddress.ofLiteral(own);
    }

    @Override
    public Echo knock(InetAddress own, InetSocketAddress peer, int bytes, Duration timeout) throws IOException {
        return network.echo(peer.getPort(), bytes);
    }

    @Override
    public Questions questions(HostInterface own) {
        if (questionsFail != null) {
            throw questionsFail;
        }
        return new Questions() {
            @Override
            public Gid own() {
                return own.gids().isEmpty()
                        ? Gid.parse("127.1.2.3")
                        : own.gids().getFirst().gid();
            }

            @Override
            public int newId() {
                return told.size() + 17;
            }

            @Override
            public Optional<CmMessage> ask(Gid to, CmMessage question, Duration timeout) {
                return Optional.ofNullable(peer.apply(question));
            }

            @Override
            public void tell(Gid to, CmMessage message) {
                told.add(message);
            }

            @Override
            public void close() {}
        };
    }
}
