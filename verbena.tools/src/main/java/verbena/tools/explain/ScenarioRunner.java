package verbena.tools.explain;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import verbena.tools.explain.Event.Kind;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// The runner of a scenario: first over and over, until the virtual machine has compiled the code that matters, and
/// then once more, for the recording.
final class ScenarioRunner {
    /// The greatest number of runs of a scenario before it is recorded.
    private static final int WARM_UP_RUNS_MAX = 2_000;

    private final Scenario scenario;
    private final String deviceA;
    private final String deviceB;
    private final int size;

    /// @param size bytes that the scenario moves; its own choice when 0
    ScenarioRunner(Scenario scenario, String deviceA, String deviceB, int size) {
        this.scenario = scenario;
        this.deviceA = inPackets(withOneEngine(deviceA));
        this.deviceB = inPackets(withOneEngine(deviceB));
        this.size = size == 0 ? scenario.size() : size;
    }

    // One engine: so packets leave in one order, and the faults of a seed meet the same ones each time.
    private static String withOneEngine(String device) {
        return hasFrames(device) && !device.contains("engines=") ? device + ",engines=1" : device;
    }

    // What needs no packets has none to show.
    private static String inPackets(String device) {
        return isSharedMemory(device) && !device.contains("direct=") ? device + ",direct=off" : device;
    }

    // The InfiniBand transport in frames of ours, which can be lost on purpose.
    private static boolean hasFrames(String device) {
        return device.startsWith("rocev2") || isSharedMemory(device);
    }

    private static boolean isSharedMemory(String device) {
        return device.startsWith("shm");
    }

    private String withFaults(String device, Place place) {
        String faults = scenario.faults(place);
        return faults == null ? device : device + "," + faults;
    }

    /// @param seconds how long the scenario runs before it is recorded, but once at least; 0 for not at all
    /// @throws CommandFailed when the device cannot do it
    Recording run(double seconds) throws InterruptedException {
        requireAble(deviceA);
        long began = System.nanoTime();
        int warmUpRuns = 0;
        if (seconds > 0) {
            try (var ends =
                    new Ends(deviceA, deviceB, size)) { // without faults: the code gets warm, and nothing is lost
                do {
                    scenario.steps().run(ends);
                    ends.reset();
                    warmUpRuns++;
                } while (warmUpRuns < WARM_UP_RUNS_MAX && System.nanoTime() - began < seconds * 1e9);
            }
        }
        double warmUp = (System.nanoTime() - began) / 1e9;
        try (var ends = new Ends(withFaults(deviceA, Place.DEVICE_A), withFaults(deviceB, Place.DEVICE_B), size)) {
            scenario.steps().run(ends);
            ends.settle();
            return recorded(ends, warmUpRuns, warmUp);
        }
    }

    private void requireAble(String device) {
        if (scenario.faults(Place.DEVICE_A) != null || scenario.faults(Place.DEVICE_B) != null) {
            if (!hasFrames(device)) {
                throw new CommandFailed(
                        scenario.title() + ": only a device rocev2 or shm can lose packets on purpose, not " + device);
            }
        }
        try (Context context = Device.named(device).open()) {
            for (Capability need : scenario.needs()) {
                if (!context.attributes().capabilities().contains(need)) {
                    throw new CommandFailed(scenario.title() + ": device " + device + " does not have " + need
                            + (device.startsWith("iwarp")
                                    ? "; over iWARP that is TCP's business, or does not exist"
                                    : ""));
                }
            }
        }
    }

    private Recording recorded(Ends ends, int warmUpRuns, double seconds) {
        List<Event> events = ends.recorder.events();
        var setting = new ArrayList<String>();
        setting.add("A is " + ends.a.context.device().name() + " at " + address(ends.a) + ", B is "
                + ends.b.context.device().name() + " at " + address(ends.b)
                + ". Both are in this process, and everything happened just now.");
        setting.add(
                warmUpRuns == 0
                        ? "Not warmed up: the times are those of a virtual machine that has just started."
                        : String.format(
                                Locale.ROOT,
                                "Warmed up by %,d runs in %.1f s, so that the times are not those of a virtual machine"
                                        + " that has just started. Watching adds a few microseconds to some of them.",
                                warmUpRuns,
                                seconds));
        if (isSharedMemory(deviceA)) {
            setting.add(
                    "Packets go through memory that both devices share, without addresses and an ICRC; they are shown"
                            + " with those that they would have on a wire. Without direct=off, one-sided requests"
                            + " would soon need none.");
        }
        if (!ends.recorder.seesPackets()) {
            setting.add(
                    "The packets are not in the recording: these devices are not Verbena's own, and do not show them.");
        }
        return new Recording(Cast.ENDS, scenario.title(), scenario.line(), setting, events, closing(ends, events));
    }

    private static String address(End end) {
        return end.context.gids(1).getFirst().gid().toString();
    }

    // ---- what it came to

    private List<String> closing(Ends ends, List<Event> events) {
        var closing = new ArrayList<String>();
        if (ends.recorder.seesPackets()) {
            closing.add("Packets: " + count(events, Place.DEVICE_A) + " from A, " + count(events, Place.DEVICE_B)
                    + " from B.");
        }
        if (ends.isSoftware()) {
            closing.addAll(isSharedMemory(deviceA) ? throughMemory() : throughTheSystem(ends));
        }
        closing.addAll(idle(events));
        closing.addAll(ends.counters());
        return closing;
    }

    private static String count(List<Event> events, Place device) {
        long sent = events.stream()
                .filter(event -> event.isPacket() && event.from() == device)
                .count();
        long lost = events.stream()
                .filter(event -> event.kind() == Kind.LOST && event.from() == device)
                .count();
        return sent + (lost == 0 ? "" : " (" + lost + " lost)");
    }

    private static String moves(Ends ends, Place device) {
        return ends.recorder.moves(device, true) + " system calls to send and " + ends.recorder.moves(device, false)
                + " to receive";
    }

    // In which parts application B had no part.
    private static List<String> idle(List<Event> events) {
        var idle = new ArrayList<String>();
        String part = "";
        boolean moved = false;
        boolean took = false;
        for (int i = 0; i <= events.size(); i++) {
            Event event = i < events.size() ? events.get(i) : null;
            if (event == null || event.kind() == Kind.PHASE) {
                if (moved && !took) {
                    idle.add(part);
                }
                part = event == null ? "" : event.label();
                moved = false;
                took = false;
            } else {
                moved |= event.isPacket();
                took |= (event.kind() == Kind.CALL && event.from() == Place.APPLICATION_B)
                        || (event.kind() == Kind.TOLD && event.to() == Place.APPLICATION_B);
            }
        }
        return idle.isEmpty()
                ? List.of()
                : List.of("Application B called nothing and was told nothing in \"" + String.join("\", \"", idle)
                        + "\": its device did it all.");
    }

    private List<String> throughTheSystem(Ends ends) {
        return List.of(
                copies(ends),
                "Mode switches: these software devices go through the operating system, with at least "
                        + moves(ends, Place.DEVICE_A) + " at A and " + moves(ends, Place.DEVICE_B)
                        + " at B in everything above, not counting empty polls and sleeps. With a card, posting, polling and moving"
                        + " data need none.");
    }

    private static List<String> throughMemory() {
        return List.of(
                "Copies of the payload: the sender's device copies it from memory into a packet, and the packet into memory"
                        + " that both processes share; the receiver's device copies the packet out of there, and the"
                        + " payload to its place.",
                "Mode switches: none moves data. A device asks the operating system to wake the other one when that sleeps,"
                        + " and for memory and sockets when two devices meet.");
    }

    private static String copies(Ends ends) {
        String kernel = "and the operating system copies once into and once out of its socket buffers.";
        return "Copies of the payload: in software "
                + (ends.isIwarp()
                        ? "the sender's device copies it from memory into its stream and the receiver's out of it (with CRC;"
                                + " without one large payloads stay where they are), "
                        : "the sender's device copies it from memory into a packet and the receiver's from the packet into"
                                + " memory, ")
                + kernel + " A card does both on its own: no processor copies anything.";
    }
}
