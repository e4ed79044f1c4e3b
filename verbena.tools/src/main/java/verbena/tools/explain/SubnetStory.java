package verbena.tools.explain;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import verbena.nic.link.ib.IbLink;
import verbena.subnet.agent.AgentMad;
import verbena.subnet.agent.AgentSpec;
import verbena.subnet.agent.MadClient;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.fabric.FabricNode;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.topology.TopologyText;
import verbena.tools.explain.Event.Kind;
import verbena.tools.kit.CommandFailed;
import verbena.wire.mad.Mad;
import verbena.wire.mad.PathRecord;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.Sa;

/// The scenario of a fabric of a switch and two adapters, with the manager at the first, and a record of all packets
/// on its cables.
final class SubnetStory {
    private static final String TOPOLOGY = """
            switch s 2
            hca a
            hca b
            link a s:1
            link b s:2
            """;
    /// The time that a part may take before the story has failed.
    private static final long PART_NANOS = 5_000_000_000L;

    private final Fabric fabric = new Fabric(TopologyText.parse(TOPOLOGY), System.nanoTime());
    private final FabricNode a = fabric.node("a");
    private final FabricNode b = fabric.node("b");
    private final FabricNode s = fabric.node("s");
    private final List<Event> events = new ArrayList<>();
    private final Map<String, Integer> states = new HashMap<>();
    private boolean isConfiguring;
    private boolean isActivating;

    private SubnetStory() {}

    /// Runs it over and over for so many seconds, and once more for the recording.
    static Recording record(double seconds) {
        long began = System.nanoTime();
        int runs = 0;
        while (System.nanoTime() - began < seconds * 1e9) {
            new SubnetStory().run();
            runs++;
        }
        var story = new SubnetStory();
        story.run();
        return story.recording(runs);
    }

    private void run() {
        phase(
                "Links come up",
                "Both cables are plugged in, and the ports have trained their links. In INIT a port carries subnet"
                        + " management only, on lane 15: nobody has a LID, and no switch knows a way.");
        fabric.watch(this::onPacket);
        look();
        phase(
                "Discovery",
                "The subnet manager starts at adapter a. It asks whatever is at the end of each way what it is, and for"
                        + " each port of a switch it goes one hop further. (Its own node it asks without a cable.)");
        act(
                Kind.CALL,
                Place.APPLICATION_A,
                Place.DEVICE_A,
                "starts",
                "The manager sweeps the subnet. Its packets leave by queue pair 0 of adapter a.");
        fabric.manage(a, ManagerOptions.DEFAULT, 1);
        until("all ports are ACTIVE", () -> state(a) + state(b) == 2 * PortInfo.ACTIVE && isQuiet());
        askForPath();
        phase(
                "A cable is pulled",
                "Adapter b loses its link. The switch notices and tells the manager by a trap, which goes by LID. The"
                        + " manager sweeps again, and takes the LIDs that are gone out of the forwarding table.");
        act(Kind.STEP, Place.APPLICATION_B, Place.APPLICATION_B, "cable pulled", "Somebody trips over it.");
        int lid = b.lid();
        fabric.plug(b, 1, false, System.nanoTime());
        until("the switch forgets adapter b", () -> s.node().tables().port(lid) < 0 && isQuiet());
    }

    private void askForPath() {
        phase(
                "A device looks for a peer",
                "A program at adapter b wants to connect to adapter a, whose GID it knows. Its device asks the subnet"
                        + " administration, a part of the manager, for a path record.");
        MadClient client = b.agents().open();
        client.register(
                0, new AgentSpec(Mad.CLASS_SUBNET_ADMINISTRATION, Mad.SUBNET_ADMINISTRATION_VERSION, 0, false, 0, 0));
        MemorySegment mad = Mad.allocate();
        Sa.write(mad, Mad.METHOD_GET, 1, PathRecord.ATTRIBUTE, PathRecord.HAS_DGID | PathRecord.HAS_SGID);
        MemorySegment record = Sa.data(mad);
        PathRecord.DGID_HIGH.put(record, IbLink.PREFIX_DEFAULT);
        PathRecord.DGID_LOW.put(record, a.node().port(1).guid());
        PathRecord.SGID_HIGH.put(record, IbLink.PREFIX_DEFAULT);
        PathRecord.SGID_LOW.put(record, b.node().port(1).guid());
        client.send(new AgentMad(0, 0, 1_000, 0, a.lid(), Mad.QPN, 0, 0, 0, mad), System.nanoTime());
        b.onPrograms(System.nanoTime());
        until("there is an answer", () -> client.peek() != null);
        client.close();
    }

    // ---- what happens

    private void until(String what, BooleanSupplier isDone) {
        long began = System.nanoTime();
        while (!isDone.getAsBoolean()) {
            long now = System.nanoTime();
            boolean isBusy = fabric.step(now);
            look();
            if (!isBusy) {
                fabric.onDeadline(now);
                Thread.onSpinWait();
            }
            if (now - began > PART_NANOS) {
                throw new CommandFailed("subnet: it has taken 5 s until " + what + ", which is too long");
            }
        }
    }

    /// Lets the fabric work, and returns whether nothing is under way.
    private boolean isQuiet() {
        boolean isBusy = fabric.step(System.nanoTime());
        look();
        return !isBusy;
    }

    private static int state(FabricNode adapter) {
        return adapter.node().port(1).state();
    }

    private void onPacket(FabricNode sender, int port, MemorySegment memory, long at, int bytes) {
        FabricNode receiver = fabric.peer(sender, port);
        if (receiver == null || !ManagementText.isManagement(bytes)) {
            return;
        }
        var packet = new ManagementText(memory.asSlice(at, bytes).toArray(ValueLayout.JAVA_BYTE));
        if (packet.isSet() && !isConfiguring) {
            isConfiguring = true;
            phase(
                    "Configuration",
                    "The manager knows the subnet now. It gives each port its LID, and writes partitions, lanes and the"
                            + " forwarding table of the switch.");
        }
        if (packet.isActivation() && !isActivating) {
            isActivating = true;
            phase(
                    "Activation",
                    "Both ends of each link go to ARMED first, and then to ACTIVE: from ARMED on a port takes data, so"
                            + " none meets a port that is not ready.");
        }
        events.add(new Event(
                System.nanoTime(),
                -1,
                Kind.PACKET,
                place(sender),
                place(receiver),
                packet.label(),
                packet.text(),
                packet.contents()));
    }

    private Place place(FabricNode node) {
        return node == a ? Place.DEVICE_A : node == s ? Place.DEVICE_B : Place.APPLICATION_B;
    }

    /// Records each port that has another state than before.
    private void look() {
        for (FabricNode node : fabric.nodes()) {
            for (int port = 1; port <= node.ports(); port++) {
                int state = node.node().port(port).state();
                Integer before = states.put(node.name() + port, state);
                if (before == null || before != state) {
                    Place at = place(node);
                    act(Kind.STEP, at, at, "port " + port + " is in " + PortInfo.stateName(state), meaning(state));
                }
            }
        }
    }

    private static String meaning(int state) {
        return switch (state) {
            case PortInfo.DOWN -> "There is no link.";
            case PortInfo.INIT -> "The link is there; only subnet management may use it.";
            case PortInfo.ARMED -> "The port is configured and takes data. It does not send any.";
            default -> "The port takes and sends data: programs can work.";
        };
    }

    private void phase(String title, String text) {
        events.add(Event.phase(System.nanoTime(), title, text));
    }

    private void act(Kind kind, Place from, Place to, String label, String text) {
        events.add(Event.of(System.nanoTime(), kind, from, to, label, text));
    }

    // ---- what it came to

    private Recording recording(int runs) {
        var setting = List.of(
                "A fabric of one switch and two adapters, in this process. Its packets are real, LRH through VCRC, and"
                        + " everything happened just now. A packet from a to b is shown on both cables.",
                String.format(
                        Locale.ROOT,
                        "Run %,d times before, so that the times are not those of a virtual machine that has just"
                                + " started. The fabric has no cables: times are those of its one thread.",
                        runs));
        long packets = events.stream().filter(Event::isPacket).count();
        var closing = List.of(
                "Packets: " + packets
                        + " on the two cables. A real switch answers as these do: the manager does not know the"
                        + " difference.",
                "Adapter a got LID " + a.lid() + ", the switch LID " + s.lid() + ".",
                "See it for yourself: verbena fabric up, with verbena fabric show --routes; --capture for Wireshark.");
        return new Recording(Cast.SUBNET, Scenario.SUBNET.title(), Scenario.SUBNET.line(), setting, events, closing);
    }
}
