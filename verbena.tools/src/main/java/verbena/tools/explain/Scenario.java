package verbena.tools.explain;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Capability;

/// A scenario that can be explained.
enum Scenario {
    CONNECT("how two queue pairs find each other, and part again", 0, Messages::connect),
    REFUSED("a connection to a port where no program listens", 0, Messages::refused),
    WRITE("A puts bytes into B's memory; application B does nothing", 10_000, OneSided::write, Capability.RDMA_WRITE),
    READ("A gets bytes out of B's memory; application B does nothing", 10_000, OneSided::read, Capability.RDMA_READ),
    WRITE_IMM(
            "a WRITE that tells application B when it is done",
            10_000,
            OneSided::writeWithImmediate,
            Capability.IMMEDIATE_DATA),
    ATOMIC("FETCH_ADD and CMP_SWAP on a number in B's memory", 0, OneSided::atomic, Capability.ATOMICS),
    WINDOW(
            "a key for a part of B's memory, which is withdrawn again",
            0,
            OneSided::window,
            Capability.MEMORY_WINDOW_TYPE_2,
            Capability.SEND_WITH_INVALIDATE),
    SEND("a message: A sends, B has posted a receive", 1_000, Messages::send),
    SRQ("two connections share B's receives", 100, Messages::sharedReceives, Capability.SRQ),
    UD("a datagram, without a connection", 1_000, Messages::datagram, Capability.UD),
    MULTICAST("a datagram to a group", 100, Messages::multicast, Capability.UD, Capability.MULTICAST),
    RNR("a message that comes before its receive is posted", 100, Troubles::receiverNotReady, Capability.ENDPOINTS),
    LOST_PACKET(
            "a packet of a WRITE is lost, noticed and sent again",
            10_000,
            Troubles::lostPacket,
            Capability.RDMA_WRITE,
            Capability.ENDPOINTS),
    DUPLICATE(
            "an acknowledgement is lost: the WRITE comes twice and counts once",
            64,
            Troubles::duplicate,
            Capability.RDMA_WRITE,
            Capability.ENDPOINTS),
    BAD_KEY("a WRITE with a wrong key: refused, and the connection ends", 64, Troubles::badKey, Capability.RDMA_WRITE),
    OUT_OF_BOUNDS(
            "a WRITE that reaches beyond B's memory: refused, the connection ends",
            64,
            Troubles::outOfBounds,
            Capability.RDMA_WRITE),
    TOO_LONG("a message that is longer than its receive", 100, Troubles::tooLong),
    BAD_LKEY("a request that names memory that A does not have", 64, Troubles::badLocalKey),
    /// A scenario without ends: [SubnetStory] runs it.
    SUBNET("how a subnet of InfiniBand comes up, and what its manager does when a cable is pulled", 0, _ -> {}),
    /// A scenario without ends: [CardRecording] tells of the model of a card.
    CARD("a WRITE within a card: doorbell, PCIe, tables, packets; and by the kernel", 64, _ -> {});

    /// The steps of a scenario.
    @FunctionalInterface
    interface Steps {
        void run(Ends ends) throws InterruptedException;
    }

    private final String line;
    private final int size;

    @SuppressWarnings("ImmutableEnumChecker") // a method
    private final Steps steps;

    @SuppressWarnings("ImmutableEnumChecker") // unmodifiable
    private final Set<Capability> needs;

    Scenario(String line, int size, Steps steps, Capability... needs) {
        this.line = line;
        this.size = size;
        this.steps = steps;
        this.needs = Set.of(needs);
    }

    /// Returns the scenario of this name, as the command line has it.
    static Optional<Scenario> of(String name) {
        return Arrays.stream(values())
                .filter(scenario -> scenario.title().equals(name))
                .findFirst();
    }

    static List<String> names() {
        return Arrays.stream(values()).map(Scenario::title).toList();
    }

    /// Returns a name such as `lost-packet`.
    String title() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// Returns its subject.
    String line() {
        return line;
    }

    /// Returns the number of bytes that it moves by default; 0 when it has no choice.
    int size() {
        return size;
    }

    Set<Capability> needs() {
        return needs;
    }

    Steps steps() {
        return steps;
    }

    /// Returns the faults for the packets that a device sends, as an option of its name; null for none.
    @Nullable
    String faults(Place device) {
        return switch (this) {
            case LOST_PACKET -> device == Place.DEVICE_A ? Troubles.LOSES_FOURTH : null;
            case DUPLICATE -> device == Place.DEVICE_B ? Troubles.LOSES_SECOND : null;
            default -> null;
        };
    }
}
