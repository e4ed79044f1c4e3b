package verbena.tools.explain;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import verbena.tools.CommandFailed;
import verbena.tools.explain.Event.Kind;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// Has a tale acted: over and over first, until the virtual machine has compiled what matters, and then once for
/// the story.
final class Theatre {
    /// Rehearsals, and how long they take, at most.
    private static final int REHEARSALS_MAX = 2_000;

    private final Tale tale;
    private final String deviceA;
    private final String deviceB;
    private final int size;

    /// @param size bytes that the tale moves; what it likes best when 0
    Theatre(Tale tale, String deviceA, String deviceB, int size) {
        this.tale = tale;
        this.deviceA = withOneEngine(deviceA);
        this.deviceB = withOneEngine(deviceB);
        this.size = size == 0 ? tale.size() : size;
    }

    // One engine: so packets leave in one order, and the faults of a seed meet the same ones each time.
    private static String withOneEngine(String device) {
        return device.startsWith("rocev2") && !device.contains("engines=") ? device + ",engines=1" : device;
    }

    private String withFaults(String device, Place place) {
        String faults = tale.faults(place);
        return faults == null ? device : device + "," + faults;
    }

    /// @param seconds to rehearse for, but once at least; 0 for not at all
    /// @throws CommandFailed when the device cannot do it
    Story perform(double seconds) throws InterruptedException {
        requireAble(deviceA);
        long began = System.nanoTime();
        int rehearsals = 0;
        if (seconds > 0) {
            try (var stage = new Stage(deviceA, deviceB, size)) { // without faults: nothing is lost in a rehearsal
                do {
                    tale.act().act(stage);
                    stage.strike();
                    rehearsals++;
                } while (rehearsals < REHEARSALS_MAX && System.nanoTime() - began < seconds * 1e9);
            }
        }
        double rehearsed = (System.nanoTime() - began) / 1e9;
        try (var stage = new Stage(withFaults(deviceA, Place.DEVICE_A), withFaults(deviceB, Place.DEVICE_B), size)) {
            tale.act().act(stage);
            stage.settle();
            return story(stage, rehearsals, rehearsed);
        }
    }

    private void requireAble(String device) {
        if (tale.faults(Place.DEVICE_A) != null || tale.faults(Place.DEVICE_B) != null) {
            if (!device.startsWith("rocev2")) {
                throw new CommandFailed(
                        tale.title() + ": only a rocev2 device can lose packets on purpose, not " + device);
            }
        }
        try (Context context = Device.named(device).open()) {
            for (Capability need : tale.needs()) {
                if (!context.attributes().capabilities().contains(need)) {
                    throw new CommandFailed(tale.title() + ": device " + device + " does not have " + need
                            + (device.startsWith("iwarp")
                                    ? "; over iWARP that is TCP's business, or does not exist"
                                    : ""));
                }
            }
        }
    }

    private Story story(Stage stage, int rehearsals, double seconds) {
        List<Event> events = stage.recorder.events();
        var setting = new ArrayList<String>();
        setting.add("A is " + stage.a.context.device().name() + " at " + address(stage.a) + ", B is "
                + stage.b.context.device().name() + " at " + address(stage.b)
                + ". Both are in this process, and everything happened just now.");
        setting.add(
                rehearsals == 0
                        ? "Not rehearsed: the times are those of a virtual machine that has just started."
                        : String.format(
                                Locale.ROOT,
                                "Rehearsed %,d times in %.1f s before, so that the times are not those of a virtual machine"
                                        + " that has just started. To be watched costs some of them a few microseconds.",
                                rehearsals,
                                seconds));
        if (!stage.recorder.seesPackets()) {
            setting.add("The packets are not in the story: these devices are not Verbena's own, and do not show them.");
        }
        return new Story(tale.title(), tale.line(), setting, events, closing(stage, events));
    }

    private static String address(End end) {
        return end.context.gids(1).getFirst().gid().toString();
    }

    // ---- what it came to

    private List<String> closing(Stage stage, List<Event> events) {
        var closing = new ArrayList<String>();
        if (stage.recorder.seesPackets()) {
            closing.add("Packets: " + count(events, Place.DEVICE_A) + " from A, " + count(events, Place.DEVICE_B)
                    + " from B.");
        }
        if (stage.isSoftware()) {
            closing.add(copies(stage));
            closing.add("Mode switches: these software devices go through the operating system, with at least "
                    + moves(stage, Place.DEVICE_A) + " at A and " + moves(stage, Place.DEVICE_B)
                    + " at B in all that is told above, besides looking in vain and sleeping. With a card posting, polling and moving"
                    + " data need none.");
        }
        closing.addAll(idle(events));
        closing.addAll(stage.counters());
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

    private static String moves(Stage stage, Place device) {
        return stage.recorder.moves(device, true) + " system calls to send and " + stage.recorder.moves(device, false)
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

    private static String copies(Stage stage) {
        String kernel = "and the operating system copies once into and once out of its socket buffers.";
        return "Copies of the payload: in software "
                + (stage.isIwarp()
                        ? "the sender's device copies it from memory into its stream and the receiver's out of it (with CRC;"
                                + " without one large payloads stay where they are), "
                        : "the sender's device copies it from memory into a packet and the receiver's from the packet into"
                                + " memory, ")
                + kernel + " A card does both by itself: no processor copies anything.";
    }
}
