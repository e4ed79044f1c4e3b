package verbena.conformance.cases;

import java.util.HashSet;
import java.util.List;
import verbena.conformance.rig.Expect;
import verbena.conformance.rig.Rig;
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

    public static void aDeviceIsFoundByItsName(Rig rig) {
        Device found = Device.named(rig.device().name());
        Expect.equal("name", rig.device().name(), found.name());
        Expect.equal("transport", rig.device().transportType(), found.transportType());
        Expect.equal("GUID", rig.device().nodeGuid(), found.nodeGuid());
    }

    public static void aNameThatNobodyHasIsToldOf(Rig rig) {
        Expect.thrown(
                "a device of another world",
                DeviceException.class,
                () -> Device.named("nosuchdevice7"),
                "nosuchdevice7");
    }

    public static void aContextKnowsItsDevice(Rig rig) {
        Expect.equal("name", rig.device().name(), rig.a().device().name());
        Expect.that("the context is open", !rig.a().isClosed());
    }

    public static void aDeviceOpensAgainAfterItWasClosed(Rig rig) {
        for (int i = 0; i < 3; i++) {
            try (Context context = rig.device().open()) {
                Expect.that("port 1 has an address", !context.gids(1).isEmpty());
            }
        }
    }

    public static void limitsAreThereForAllThatIsDeclared(Rig rig) {
        var its = rig.attributes();
        Expect.atLeast("maxQp", 2, its.maxQp());
        Expect.atLeast("maxQpWr", 16, its.maxQpWr());
        Expect.atLeast("maxSge", 1, its.maxSge());
        Expect.atLeast("maxCq", 2, its.maxCq());
        Expect.atLeast("maxCqe", 16, its.maxCqe());
        Expect.atLeast("maxMr", 2, its.maxMr());
        Expect.atLeast("maxPd", 2, its.maxPd());
        Expect.atLeast("maxMemoryRegionBytes", 1 << 20, its.maxMemoryRegionBytes());
        Expect.atLeast("maxMessageBytes", 1 << 20, its.maxMessageBytes());
        Expect.atLeast("physicalPorts", 1, its.physicalPorts());
        Expect.atLeast("maxSrq", its.has(Capability.SRQ) ? 1 : 0, its.maxSrq());
        Expect.atLeast("maxSrqWr", its.has(Capability.SRQ) ? 1 : 0, its.maxSrqWr());
        Expect.atLeast("maxAh", its.has(Capability.UD) ? 1 : 0, its.maxAh());
        boolean windows = its.has(Capability.MEMORY_WINDOW_TYPE_1) || its.has(Capability.MEMORY_WINDOW_TYPE_2);
        Expect.atLeast("maxMw", windows ? 1 : 0, its.maxMw());
        Expect.atLeast("maxMulticastGroups", its.has(Capability.MULTICAST) ? 1 : 0, its.maxMulticastGroups());
        boolean reads = its.has(Capability.RDMA_READ);
        Expect.atLeast("maxQpReadAtomic", reads ? 1 : 0, its.maxQpReadAtomic());
        Expect.atLeast("maxQpInitiatorReadAtomic", reads ? 1 : 0, its.maxQpInitiatorReadAtomic());
    }

    public static void atomicsAreDeclaredInOneWay(Rig rig) {
        Expect.equal(
                "an atomic capability other than NONE",
                rig.has(Capability.ATOMICS),
                rig.attributes().atomicCapability() != AtomicCapability.NONE);
    }

    public static void attributesDoNotChange(Rig rig) {
        Expect.equal("attributes, asked for again", rig.attributes(), rig.attributes());
        try (Context another = rig.device().open()) {
            Expect.equal(
                    "capabilities of another context",
                    rig.attributes().capabilities(),
                    another.attributes().capabilities());
        } catch (DeviceException e) {
            rig.tell("opens only once: " + e.getMessage());
        }
    }

    public static void portOneIsActive(Rig rig) {
        PortAttributes port = rig.a().port(1);
        Expect.equal("state", PortState.ACTIVE, port.state());
        Expect.that(
                "the active MTU is one that the port can use", port.activeMtu().compareTo(port.maxMtu()) <= 0);
        Expect.atLeast("longest message", 1 << 20, port.maxMessageBytes());
        Expect.atLeast("length of the GID table", rig.a().gids(1).size(), port.gidTableLength());
    }

    public static void aPortThatIsNotThereIsRefused(Rig rig) {
        int beyond = rig.attributes().physicalPorts() + 1;
        for (int port : new int[] {0, -1, beyond}) {
            Expect.thrown(
                    "port " + port,
                    IllegalArgumentException.class,
                    () -> rig.a().port(port),
                    "port");
            Expect.thrown(
                    "gids of port " + port,
                    IllegalArgumentException.class,
                    () -> rig.a().gids(port),
                    "port");
            Expect.thrown(
                    "pkey of port " + port,
                    IllegalArgumentException.class,
                    () -> rig.a().pkey(port, 0),
                    "port");
        }
    }

    public static void theGidTableHasNoHolesAndNothingTwice(Rig rig) {
        List<GidEntry> gids = rig.a().gids(1);
        Expect.that("there is a GID", !gids.isEmpty());
        var seen = new HashSet<String>();
        for (GidEntry entry : gids) {
            Expect.that("index " + entry.index() + " is there once", seen.add("index " + entry.index()));
            Expect.that(
                    entry.gid() + " " + entry.type() + " is there once", seen.add(entry.gid() + " " + entry.type()));
            Expect.that(
                    "the GID at " + entry.index() + " is not zero", !entry.gid().equals(new Gid(0, 0)));
            Expect.equal("entry " + entry.index(), entry, rig.a().gid(1, entry.index()));
        }
    }

    public static void aGidIndexThatIsNotThereIsRefused(Rig rig) {
        int free = rig.a().gids(1).stream().mapToInt(GidEntry::index).max().orElse(0) + 1;
        Expect.thrown(
                "gid " + free, IllegalArgumentException.class, () -> rig.a().gid(1, free), "gid index");
        Expect.thrown("gid -1", IllegalArgumentException.class, () -> rig.a().gid(1, -1), "gid index");
    }

    public static void gidsAreOfTheDevicesKind(Rig rig) {
        boolean iwarp = rig.device().transportType() == TransportType.IWARP;
        for (GidEntry entry : rig.a().gids(1)) {
            Expect.equal(entry + " is of iWARP", iwarp, entry.type() == GidType.IWARP);
        }
    }

    public static void theOwnGidIsTheWayToAPeerOfItsFamily(Rig rig) {
        for (GidEntry entry : rig.a().gids(1)) {
            GidEntry way = rig.a().gidFor(1, entry.gid());
            Expect.equal(
                    "family of the way to " + entry.gid(),
                    entry.gid().isIpv4(),
                    way.gid().isIpv4());
        }
    }

    @verbena.conformance.rig.Needs(Capability.ENDPOINTS)
    public static void theDefaultPartitionIsAtIndexZero(Rig rig) {
        int pkey = rig.a().pkey(1, 0);
        Expect.that("P_Key 0x%04x is of 16 bits and valid".formatted(pkey), pkey >>> 16 == 0 && (pkey & 0x7FFF) != 0);
    }

    public static void aPartitionIndexThatIsNotThereIsRefused(Rig rig) {
        int beyond = rig.a().port(1).pkeyTableLength();
        Expect.thrown(
                "pkey " + beyond, IllegalArgumentException.class, () -> rig.a().pkey(1, beyond));
        Expect.thrown("pkey -1", IllegalArgumentException.class, () -> rig.a().pkey(1, -1));
    }

    public static void countersHaveNamesAndNeverFall(Rig rig) throws InterruptedException {
        var before = rig.a().counters();
        try (var pair = rig.rc()) {
            pair.b().receive(1, 0, 100);
            pair.a().send(2, 0, 100);
            pair.a().ok(2);
            pair.b().received(1, 100);
        }
        var after = rig.a().counters();
        before.forEach(
                (name, value) -> Expect.atLeast("counter " + name, value, after.getOrDefault(name, Long.MIN_VALUE)));
    }
}
