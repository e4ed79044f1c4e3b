package verbena.conformance.cases;

import java.util.HashSet;
import java.util.List;
import verbena.conformance.fixture.Expect;
import verbena.conformance.fixture.Fixture;
import verbena.verbs.AtomicCapability;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.PortAttributes;
import verbena.verbs.PortState;
import verbena.verbs.TransportType;

/// The device, its port and its tables.
public final class Devices {
    private Devices() {}

    public static void aDeviceIsFoundByItsName(Fixture fixture) {
        Device found = Device.named(fixture.device().name());
        Expect.equal("name", fixture.device().name(), found.name());
        Expect.equal("transport", fixture.device().transportType(), found.transportType());
        Expect.equal("GUID", fixture.device().nodeGuid(), found.nodeGuid());
    }

    public static void aNameThatNobodyHasIsToldOf(Fixture fixture) {
        Expect.thrown(
                "a device of another world",
                DeviceException.class,
                () -> Device.named("nosuchdevice7"),
                "nosuchdevice7");
    }

    public static void aContextKnowsItsDevice(Fixture fixture) {
        Expect.equal("name", fixture.device().name(), fixture.a().device().name());
        Expect.that("the context is open", !fixture.a().isClosed());
    }

    public static void aDeviceOpensAgainAfterItWasClosed(Fixture fixture) {
        for (int i = 0; i < 3; i++) {
            try (Context context = fixture.device().open()) {
                Expect.that("port 1 has an address", !context.gids(1).isEmpty());
            }
        }
    }

    public static void limitsAreThereForAllThatIsDeclared(Fixture fixture) {
        var its = fixture.attributes();
        Expect.atLeast("maxQp", 2, its.queues().maxQp());
        Expect.atLeast("maxQpWr", 16, its.queues().maxQpWr());
        Expect.atLeast("maxSge", 1, its.queues().maxSge());
        Expect.atLeast("maxCq", 2, its.queues().maxCq());
        Expect.atLeast("maxCqe", 16, its.queues().maxCqe());
        Expect.atLeast("maxMr", 2, its.memory().maxMr());
        Expect.atLeast("maxPd", 2, its.memory().maxPd());
        Expect.atLeast("maxMemoryRegionBytes", 1 << 20, its.memory().maxMemoryRegionBytes());
        Expect.atLeast("maxMessageBytes", 1 << 20, its.transport().maxMessageBytes());
        Expect.atLeast("physicalPorts", 1, its.physicalPorts());
        Expect.atLeast("maxSrq", its.has(Capability.SRQ) ? 1 : 0, its.queues().maxSrq());
        Expect.atLeast("maxSrqWr", its.has(Capability.SRQ) ? 1 : 0, its.queues().maxSrqWr());
        Expect.atLeast("maxAh", its.has(Capability.UD) ? 1 : 0, its.datagrams().maxAh());
        boolean windows = its.has(Capability.MEMORY_WINDOW_TYPE_1) || its.has(Capability.MEMORY_WINDOW_TYPE_2);
        Expect.atLeast("maxMw", windows ? 1 : 0, its.memory().maxMw());
        Expect.atLeast(
                "maxMulticastGroups",
                its.has(Capability.MULTICAST) ? 1 : 0,
                its.datagrams().maxMulticastGroups());
        boolean reads = its.has(Capability.RDMA_READ);
        Expect.atLeast("maxQpReadAtomic", reads ? 1 : 0, its.transport().maxQpReadAtomic());
        Expect.atLeast(
                "maxQpInitiatorReadAtomic", reads ? 1 : 0, its.transport().maxQpInitiatorReadAtomic());
    }

    public static void atomicsAreDeclaredInOneWay(Fixture fixture) {
        Expect.equal(
                "an atomic capability other than NONE",
                fixture.has(Capability.ATOMICS),
                fixture.attributes().transport().atomicCapability() != AtomicCapability.NONE);
    }

    public static void attributesDoNotChange(Fixture fixture) {
        Expect.equal("attributes, asked for again", fixture.attributes(), fixture.attributes());
        try (Context another = fixture.device().open()) {
            Expect.equal(
                    "capabilities of another context",
                    fixture.attributes().capabilities(),
                    another.attributes().capabilities());
        } catch (DeviceException e) {
            fixture.tell("opens only once: " + e.getMessage());
        }
    }

    public static void portOneIsActive(Fixture fixture) {
        PortAttributes port = fixture.a().port(1);
        Expect.equal("state", PortState.ACTIVE, port.state());
        Expect.that(
                "the active MTU is one that the port can use", port.activeMtu().compareTo(port.maxMtu()) <= 0);
        Expect.atLeast("longest message", 1 << 20, port.maxMessageBytes());
        Expect.atLeast("length of the GID table", fixture.a().gids(1).size(), port.gidTableLength());
    }

    public static void aPortThatIsNotThereIsRefused(Fixture fixture) {
        int beyond = fixture.attributes().physicalPorts() + 1;
        for (int port : new int[] {0, -1, beyond}) {
            Expect.thrown(
                    "port " + port,
                    IllegalArgumentException.class,
                    () -> fixture.a().port(port),
                    "port");
            Expect.thrown(
                    "gids of port " + port,
                    IllegalArgumentException.class,
                    () -> fixture.a().gids(port),
                    "port");
            Expect.thrown(
                    "pkey of port " + port,
                    IllegalArgumentException.class,
                    () -> fixture.a().pkey(port, 0),
                    "port");
        }
    }

    public static void theGidTableHasNoHolesAndNothingTwice(Fixture fixture) {
        List<GidEntry> gids = fixture.a().gids(1);
        Expect.that("there is a GID", !gids.isEmpty());
        var seen = new HashSet<String>();
        for (GidEntry entry : gids) {
            Expect.that("index " + entry.index() + " is there once", seen.add("index " + entry.index()));
            Expect.that(
                    entry.gid() + " " + entry.type() + " is there once", seen.add(entry.gid() + " " + entry.type()));
            Expect.that(
                    "the GID at " + entry.index() + " is not zero", !entry.gid().equals(new Gid(0, 0)));
            Expect.equal("entry " + entry.index(), entry, fixture.a().gid(1, entry.index()));
        }
    }

    public static void aGidIndexThatIsNotThereIsRefused(Fixture fixture) {
        int free = fixture.a().gids(1).stream().mapToInt(GidEntry::index).max().orElse(0) + 1;
        Expect.thrown(
                "gid " + free, IllegalArgumentException.class, () -> fixture.a().gid(1, free), "gid index");
        Expect.thrown(
                "gid -1", IllegalArgumentException.class, () -> fixture.a().gid(1, -1), "gid index");
    }

    public static void gidsAreOfTheDevicesKind(Fixture fixture) {
        boolean iwarp = fixture.device().transportType() == TransportType.IWARP;
        for (GidEntry entry : fixture.a().gids(1)) {
            Expect.equal(entry + " is of iWARP", iwarp, entry.type() == GidType.IWARP);
        }
    }

    public static void theOwnGidIsTheWayToAPeerOfItsFamily(Fixture fixture) {
        for (GidEntry entry : fixture.a().gids(1)) {
            GidEntry way = fixture.a().gidFor(1, entry.gid());
            Expect.equal(
                    "family of the way to " + entry.gid(),
                    entry.gid().isIpv4(),
                    way.gid().isIpv4());
        }
    }

    @verbena.conformance.fixture.Needs(Capability.ENDPOINTS)
    public static void theDefaultPartitionIsAtIndexZero(Fixture fixture) {
        int pkey = fixture.a().pkey(1, 0);
        Expect.that("P_Key 0x%04x is of 16 bits and valid".formatted(pkey), pkey >>> 16 == 0 && (pkey & 0x7FFF) != 0);
    }

    public static void aPartitionIndexThatIsNotThereIsRefused(Fixture fixture) {
        int beyond = fixture.a().port(1).pkeyTableLength();
        Expect.thrown(
                "pkey " + beyond,
                IllegalArgumentException.class,
                () -> fixture.a().pkey(1, beyond));
        Expect.thrown(
                "pkey -1", IllegalArgumentException.class, () -> fixture.a().pkey(1, -1));
    }

    public static void countersHaveNamesAndNeverFall(Fixture fixture) throws InterruptedException {
        var before = fixture.a().counters();
        try (var pair = fixture.rc()) {
            pair.b().receive(1, 0, 100);
            pair.a().send(2, 0, 100);
            pair.a().ok(2);
            pair.b().received(1, 100);
        }
        var after = fixture.a().counters();
        before.forEach((name, value) -> {
            long least = name.endsWith(".now") ? 0 : value; // those tell what is there at the moment
            Expect.atLeast("counter " + name, least, after.getOrDefault(name, Long.MIN_VALUE));
        });
    }
}
