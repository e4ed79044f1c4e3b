package verbena.sim.ethernet;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.wire.notation.ByteSize;

/// A network in words, a line for each part:
///
///     switch leaf buffer=16MB mark=100KB:400KB:0.2
///     host a
///     host b
///     link a leaf 100G 1us
///     link b leaf 100G 1us
///
/// or one line for a usual shape ([Topologies]), with its numbers, the rate and delay of all links, and options of
/// all switches:
///
///     star HOSTS 100G 1us
///     dumb-bell LEFT RIGHT 100G 1us
///     leaf-spine LEAVES SPINES HOSTS-PER-LEAF 100G 1us
///     fat-tree K 100G 1us buffer=16MB
///     dragonfly GROUPS SWITCHES HOSTS LINKS 100G 1us
///
/// A host with `bus=RATE:BYTES` takes in no more than that rate, as a card behind a slow PCIe bus. What waits for
/// the bus has room for so many bytes, 256KB by default; when half of them wait, the host asks for a pause. A link
/// loses packets by chance with `loss=SHARE`, 0 to 1, behind its delay. A switch may have `buffer=`, `headroom=`
/// and `watchdog=`, `alpha=`, `mark=FROM:ALL:CHANCE`, `drop` in place of pauses, `cut-through` and `spray`
/// ([SwitchOptions]). Units are decimal: KB, MB; ns, us, ms; G and M of bits per second. `#` begins a comment.
public final class NetworkText {
    private static final Pattern AMOUNT = Pattern.compile("(\\d+(?:\\.\\d+)?)([a-zA-Z]*)");
    private static final Map<String, Double> NANOS = Map.of("", 1.0, "ns", 1.0, "us", 1e3, "ms", 1e6, "s", 1e9);
    private static final Map<String, Double> PLAIN = Map.of("", 1.0);
    private static final Map<String, Double> BITS = Map.of("M", 1e6, "G", 1e9, "T", 1e12);

    /// The bytes that may wait for a bus whose room is not given.
    private static final long BUS_BYTES = 256_000;

    /// The shapes, and how many numbers each has.
    private static final Map<String, Integer> SHAPES =
            Map.of("star", 1, "dumb-bell", 2, "leaf-spine", 3, "fat-tree", 1, "dragonfly", 4);

    private final EthernetNetwork network;
    private final Map<String, Node> nodes = new HashMap<>();
    private boolean hasBegun;

    private NetworkText(EthernetNetwork network) {
        this.network = network;
    }

    /// Builds the network, which has begun then.
    ///
    /// @throws IllegalArgumentException with the number of the line, or when a host cannot be reached
    public static void build(EthernetNetwork network, List<String> lines) {
        var text = new NetworkText(network);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).replaceFirst("#.*", "").strip();
            if (!line.isEmpty()) {
                try {
                    text.read(line.split("\\s+", -1));
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException("line " + (i + 1) + ": " + e.getMessage(), e);
                }
            }
        }
        if (network.hosts().size() < 2) {
            throw new IllegalArgumentException(
                    "two hosts at least; there are " + network.hosts().size());
        }
        if (!text.hasBegun) {
            network.begin();
        }
    }

    /// Returns the number of bytes in words, such as `64KB`.
    ///
    /// @throws IllegalArgumentException when it is none
    public static long bytes(String word) {
        return ByteSize.parse(word);
    }

    /// Returns a time in words, such as `1.5ms`, in nanoseconds.
    ///
    /// @throws IllegalArgumentException when it is none
    public static long nanos(String word) {
        return Math.round(amount(word, NANOS, "a time, such as 1us"));
    }

    private void read(String[] words) {
        Integer numbers = SHAPES.get(words[0]);
        if (hasBegun || (numbers != null && !network.hosts().isEmpty())) {
            throw new IllegalArgumentException("a shape is a network by itself");
        }
        if (numbers != null) {
            shape(words, numbers);
            return;
        }
        switch (words[0]) {
            case "switch" -> {
                require(words.length >= 2, "switch NAME [OPTION ...]");
                add(words[1], network.addSwitch(words[1], options(words, 2)));
            }
            case "host" -> {
                require(
                        words.length == 2 || (words.length == 3 && words[2].startsWith("bus=")),
                        "host NAME [bus=RATE[:BYTES]]");
                Host host = network.addHost(words[1]);
                add(words[1], host);
                if (words.length == 3) {
                    behindBus(host, words[2].substring(4).split(":", 2));
                }
            }
            case "link" -> {
                require(
                        words.length == 5 || (words.length == 6 && words[5].startsWith("loss=")),
                        "link NAME NAME RATE DELAY [loss=SHARE]");
                double loss = words.length == 5 ? 0 : amount(words[5].substring(5), PLAIN, "a share, such as 0.01");
                network.link(node(words[1]), node(words[2]), bitsPerSecond(words[3]), nanos(words[4]), loss);
            }
            default ->
                throw new IllegalArgumentException("'" + words[0] + "' is none of switch, host, link and the shapes");
        }
    }

    private void behindBus(Host host, String[] parts) {
        double rate = bitsPerSecond(parts[0]);
        require(rate > 0, "a bus of no rate takes nothing in");
        host.slowDown(rate, parts.length == 1 ? BUS_BYTES : bytes(parts[1]));
    }

    private void shape(String[] words, int numbers) {
        require(
                words.length >= numbers + 3,
                words[0] + " has " + numbers + (numbers == 1 ? " number" : " numbers") + ", a rate and a delay");
        int[] of = new int[numbers];
        for (int i = 0; i < numbers; i++) {
            require(words[i + 1].matches("\\d{1,5}"), "'" + words[i + 1] + "' is not a number");
            of[i] = Integer.parseInt(words[i + 1]);
        }
        var shape = new Topologies(
                bitsPerSecond(words[numbers + 1]), nanos(words[numbers + 2]), options(words, numbers + 3));
        switch (words[0]) {
            case "star" -> shape.star(network, of[0]);
            case "dumb-bell" -> shape.dumbBell(network, of[0], of[1]);
            case "leaf-spine" -> shape.leafSpine(network, of[0], of[1], of[2]);
            case "fat-tree" -> shape.fatTree(network, of[0]);
            default -> shape.dragonfly(network, of[0], of[1], of[2], of[3]);
        }
        hasBegun = true;
    }

    private static double bitsPerSecond(String word) {
        return amount(word, BITS, "bits per second, such as 100G");
    }

    private void add(String name, Node node) {
        require(nodes.putIfAbsent(name, node) == null, "there is a '" + name + "' already");
    }

    private Node node(String name) {
        Node found = nodes.get(name);
        if (found == null) {
            throw new IllegalArgumentException("there is no '" + name + "' above");
        }
        return found;
    }

    private static SwitchOptions options(String[] words, int from) {
        SwitchOptions options = SwitchOptions.LOSSLESS;
        for (int i = from; i < words.length; i++) {
            String[] pair = words[i].split("=", 2);
            String value = pair.length == 2 ? pair[1] : "";
            options = switch (pair[0]) {
                case "buffer" -> options.buffer(bytes(value));
                case "headroom" -> options.headroom(bytes(value));
                case "watchdog" -> options.watchdog(nanos(value));
                case "alpha" -> options.alpha(amount(value, PLAIN, "a number"));
                case "mark" -> marking(options, value.split(":", -1));
                case "drop" -> options.dropping();
                case "cut-through" -> options.cuttingThrough();
                case "spray" -> options.spraying();
                default ->
                    throw new IllegalArgumentException(
                            "'" + words[i]
                                    + "' is none of buffer=, headroom=, watchdog=, alpha=, mark=FROM:ALL:CHANCE, cut-through, spray and drop");
            };
        }
        return options;
    }

    private static SwitchOptions marking(SwitchOptions options, String[] parts) {
        require(parts.length == 3, "mark=FROM:ALL:CHANCE, such as mark=5KB:200KB:0.01");
        return options.marking(bytes(parts[0]), bytes(parts[1]), amount(parts[2], PLAIN, "a chance, such as 0.01"));
    }

    private static double amount(String word, Map<String, Double> units, String form) {
        Matcher found = AMOUNT.matcher(word);
        Double unit = found.matches() ? units.get(found.group(2)) : null;
        if (unit == null) {
            throw new IllegalArgumentException(String.format(Locale.ROOT, "'%s' is not %s", word, form));
        }
        return Double.parseDouble(found.group(1)) * unit;
    }

    private static void require(boolean holds, String form) {
        if (!holds) {
            throw new IllegalArgumentException(form);
        }
    }
}
