package verbena.tools.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import verbena.tools.house.House.Room;
import verbena.tools.house.House.Source;

/// How the house is built: which room may require which, how the packages of a room lie, and how long a class
/// may be ([decision 45](../../../../../../../docs/decisions/45-the-house.md)). Whatever breaks a
/// rule today stands in a list by name. A list may only become shorter: a name in it that breaks no rule any
/// more is a failure.
class HouseTest {
    /// The packages of a room, from the ground up: the code of a package may name those before it.
    private static final Map<String, List<String>> FLOORS = Map.ofEntries(
            floors("verbena.verbs", "counting", "waiting", "", "access", "spi", "internal", "cm"),
            floors("verbena.wire", "", "ib", "iwarp", "mad", "cm", "roce", "psp", "pcap", "notation"),
            floors(
                    "verbena.transport",
                    "psp",
                    "memory",
                    "queue",
                    "congestion",
                    "",
                    "rc",
                    "near",
                    "unreliable",
                    "iwarp",
                    "weak"),
            floors("verbena.cm", "", "mpa", "noise"),
            floors("verbena.subnet", "", "topology", "node", "rmpp", "agent", "routing", "manager", "link", "fabric"),
            floors("verbena.foreign", "", "linux", "rdma", "crypto"),
            floors("verbena.provider", ""),
            floors(
                    "verbena.nic",
                    "link",
                    "link.psp",
                    "link.tap",
                    "link.sharing",
                    "link.udp",
                    "link.shm",
                    "link.ethernet",
                    "link.tcp",
                    "fabric",
                    "link.ib",
                    "engine",
                    "management",
                    "capture",
                    "",
                    "observe",
                    "kind",
                    "raw",
                    "device",
                    "iwarp",
                    "roce",
                    "shm",
                    "ib"),
            floors("verbena.ibverbs", "lib", "objects", "cm", ""),
            floors("verbena.stream", "protocol", "waiting", ""),
            floors("verbena.nio", ""),
            floors("verbena.netty", ""),
            floors("verbena.junit", ""),
            floors("verbena.micrometer", ""),
            floors("verbena.opentelemetry", ""),
            floors("verbena.abi", "", "verbs", "cm", "rsocket", "entry"),
            floors("verbena.messages", "protocol", "rail", ""),
            floors("verbena.sim", "", "traffic", "ethernet", "scenario", "card"),
            floors("verbena.check", "litmus", "", "races", "rules", "device"),
            floors("verbena.conformance", "fixture", "cases", ""),
            floors(
                    "verbena.tools",
                    "kit",
                    "report",
                    "perf",
                    "files",
                    "explain",
                    "decode",
                    "doctor",
                    "observe",
                    "pingpong",
                    "rdmacm",
                    "check",
                    "demo",
                    "device",
                    "fabric",
                    "network",
                    "card",
                    ""));

    /// Where an API meets those that implement it, as `java.nio.file` meets its `spi`: the arrows that run up
    /// because the public API is so, each with its reason. They belong to the order; a new one is a decision.
    private static final Map<String, String> SEAMS = Map.of(
            "verbena.verbs.Device -> verbena.verbs.spi", "Device#list asks each Provider for its devices",
            "verbena.verbs.Device -> verbena.verbs.internal", "Device#list finds the providers there",
            "verbena.verbs.WorkCompletion -> verbena.verbs.access", "providers set the fields that programs read",
            "verbena.verbs.spi.ConnectionService -> verbena.verbs.cm",
                    "it carries what applications say to each other");

    /// One table: ARCHITECTURE's. A new room gets its row there, and its line in [#FLOORS].
    @Test
    void aRoomRequiresWhatTheTableOfRoomsSays() {
        var said = new TreeMap<String, Set<String>>();
        var required = new TreeMap<String, Set<String>>();
        for (Room room : House.rooms()) {
            said.put(room.name(), room.requires());
            required.put(room.name(), room.required());
        }
        assertThat(required).isEqualTo(said);
    }

    @Test
    void everyModuleOfTheBuildIsARoomOfTheTable() {
        var built = new ArrayList<String>();
        // Without the profiles: the one of interop builds systems of others (decision 44).
        String modules = House.read(House.ROOT.resolve("pom.xml")).replaceAll("(?s)<profiles>.*", "");
        Matcher each = Pattern.compile("<module>(.*?)</module>").matcher(modules);
        while (each.find()) {
            built.add(each.group(1));
        }
        assertThat(House.rooms().stream().map(Room::name)).containsAll(built);
        assertThat(FLOORS.keySet())
                .as("rooms with floors")
                .isEqualTo(House.modules().stream().map(Room::name).collect(Collectors.toSet()));
    }

    @Test
    void aRoomRequiresRoomsAboveItOnly() {
        var above = new TreeSet<String>();
        for (Room room : House.rooms()) {
            Set<String> ours = new TreeSet<>(room.requires());
            ours.removeIf(name -> name.contains(".")); // libraries
            assertThat(above).as("rooms above %s", room.name()).containsAll(ours);
            above.add(room.name().replaceFirst("^verbena\\.|^workshop/", ""));
        }
    }

    /// Therefore there is no circle of packages either.
    @Test
    void aPackageNamesNoPackageAboveIt() {
        var upwards = new TreeSet<String>();
        for (Room room : House.modules()) {
            List<String> floors = FLOORS.getOrDefault(room.name(), List.of());
            for (Source source : room.sources()) {
                assertThat(floors)
                        .as("the floors of %s, where %s lies", room.name(), source.name())
                        .contains(source.packageName());
                for (String named : source.packages()) {
                    if (floors.indexOf(named) > floors.indexOf(source.packageName())) {
                        upwards.add(source.name() + " -> " + named);
                    }
                }
            }
        }
        assertThat(upwards)
                .as("seams between an API and those that implement it")
                .containsAll(SEAMS.keySet());
        upwards.removeAll(SEAMS.keySet());
        assertThat(upwards).as("name a package above their own").isEmpty();
    }

    /// What is particular to a kind of device stands behind `DeviceKind`. The order of packages hides the kinds
    /// themselves; this finds those who ask a link or a driver which one it is.
    @Test
    void theDeviceObjectsDoNotAskForTheKindOfDevice() {
        var asks = Pattern.compile(
                "\\binstanceof\\s+\\w*(?:Link|Carrier|Kind|Driver|Protocol)\\b" + "|\\b(?:Roce|Iwarp|Shm|Tcp|Udp)\\w*");
        Set<String> objects = Set.of(
                "verbena.nic", "verbena.nic.engine", "verbena.nic.device", "verbena.nic.observe", "verbena.provider");
        var found = new TreeSet<String>();
        for (Source source : allSources()) {
            Matcher asking = asks.matcher(source.code());
            if (objects.contains(source.packageName()) && asking.find()) {
                found.add(source.name() + ": " + asking.group());
            }
        }
        assertThat(found).as("ask for the kind of device").isEmpty();
    }

    @Test
    void noNameIsThatOfClassesInThreePackages() {
        Map<String, Set<String>> packages = new HashMap<>();
        var sources = new ArrayList<>(allSources());
        House.rooms().forEach(room -> sources.addAll(room.tests()));
        for (Source source : sources) {
            packages.computeIfAbsent(source.simpleName(), name -> new TreeSet<>())
                    .add(source.packageName());
        }
        var found = new TreeSet<String>();
        packages.forEach((name, in) -> {
            if (in.size() >= 3) {
                found.add(name);
            }
        });
        assertThat(found).as("in three packages or more").isEmpty();
    }

    private static List<Source> allSources() {
        List<Source> sources =
                House.rooms().stream().flatMap(room -> room.sources().stream()).toList();
        assertThat(sources).hasSizeGreaterThan(700);
        return sources;
    }

    private static Map.Entry<String, List<String>> floors(String room, String... packages) {
        return Map.entry(
                room,
                List.of(packages).stream()
                        .map(name -> name.isEmpty() ? room : room + "." + name)
                        .toList());
    }
}
