package verbena.tools.explain;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import verbena.sim.card.Card;
import verbena.sim.card.CardStory;
import verbena.sim.card.CardStory.Moment;
import verbena.sim.card.CardStory.Work;
import verbena.sim.card.Operation;
import verbena.sim.card.Quantity;
import verbena.tools.explain.Event.Kind;

/// The recording of one WRITE within the model of a card: each transaction on PCIe, look-up and packet.
final class CardRecording {
    /// The longest data that go within the request: with them it takes one line of 64 bytes.
    private static final int INLINE_BYTES = 28;

    private final Card card;
    private final int bytes;
    private final boolean isInline;
    private final List<Moment> moments;
    private final List<Event> events = new ArrayList<>();

    private CardRecording(Card card, int bytes) {
        this.card = card;
        this.bytes = bytes;
        isInline = bytes <= INLINE_BYTES && card.value(Quantity.INLINE) >= bytes;
        moments = CardStory.of(card, Operation.WRITE, bytes, isInline);
    }

    static Recording of(Card card, int bytes) {
        var recording = new CardRecording(card, bytes);
        recording.tell();
        return recording.done();
    }

    private void tell() {
        events.add(Event.phase(
                0,
                "From the store to the peer's memory",
                "Core A has stored the data, and they lie in its cache. Nobody copies them from here on."));
        for (Moment moment : moments) {
            long at = Math.round(moment.nanos());
            switch (moment.stage()) {
                case BUILD ->
                    step(
                            at,
                            Place.APPLICATION_A,
                            "builds the request",
                            "Opcode, address, key and length: "
                                    + text(Quantity.WQE) + " bytes in the send queue"
                                    + (isInline ? ", with the data." : "."));
                case RING -> ring(at, moment.near());
                case FETCH -> read(at, moment.near(), "the request", "The doorbell has only said that there is one.");
                case BEGIN -> begin(at, moment.near());
                case SEND ->
                    packet(
                            at,
                            Place.DEVICE_A,
                            Place.DEVICE_B,
                            "WRITE, " + packets(),
                            "The data and "
                                    + text(Quantity.HEADERS) + " bytes of headers for each packet, at "
                                    + text(Quantity.RATE).replace("G", " Gbit/s."));
                case ARRIVE -> arrive(at, moment.far());
                case ANSWER -> {
                    events.add(Event.phase(
                            at,
                            "And back",
                            "The data have left card B. It acknowledges them before a core of B could see them."));
                    packet(at, Place.DEVICE_B, Place.DEVICE_A, "ACK", "No data, headers only.");
                }
                case FINISH -> finish(at, moment.near());
                case SEEN ->
                    step(
                            at,
                            Place.APPLICATION_A,
                            "polls the completion",
                            "The core reads its cache, where the completion" + " has come by PCIe, after "
                                    + text(Quantity.POLL) + ".");
            }
        }
    }

    private void ring(long at, Work work) {
        boolean isStored =
                work.stores() > 0 && moments.stream().noneMatch(each -> each.stage() == CardStory.Stage.FETCH);
        event(
                at,
                Kind.CALL,
                Place.APPLICATION_A,
                Place.DEVICE_A,
                isStored ? "MWr: doorbell with the request" : "MWr: doorbell",
                "A store to the card, of " + (isStored ? 64 * work.stores() : 8)
                        + " bytes through a write-combining buffer; "
                        + text(Quantity.PCIE_WRITE) + " on PCIe.");
    }

    private void begin(long at, Work work) {
        step(at, Place.DEVICE_A, "looks up the queue pair", looks(work));
        if (work.readBytes() > 0) {
            read(at, work, "the data", "From the cache of host A. The page's address comes from a table on the card.");
        }
    }

    private void arrive(long at, Work work) {
        step(at, Place.DEVICE_B, "looks up queue pair, region, page", looks(work));
        event(
                at,
                Kind.TOLD,
                Place.DEVICE_B,
                Place.APPLICATION_B,
                "MWr: the data, " + work.writes() + (work.writes() == 1 ? " TLP" : " TLPs"),
                String.format(
                        Locale.ROOT,
                        "%,d bytes in packets of at most %s, each with 24 bytes of headers, %s.",
                        bytes,
                        text(Quantity.MPS),
                        card.value(Quantity.DDIO) > 0 ? "into the cache of host B (DDIO)" : "into memory"));
    }

    private void finish(long at, Work work) {
        step(at, Place.DEVICE_A, "looks up the queue pair", looks(work));
        event(
                at,
                Kind.TOLD,
                Place.DEVICE_A,
                Place.APPLICATION_A,
                "MWr: the completion",
                text(Quantity.CQE) + " bytes into the completion queue.");
    }

    private void read(long at, Work work, String what, String why) {
        event(
                at,
                Kind.TOLD,
                Place.DEVICE_A,
                Place.APPLICATION_A,
                "MRd: " + what + ", " + work.reads() + (work.reads() == 1 ? " request" : " requests"),
                why + " A request is 24 bytes, for at most " + text(Quantity.MRRS) + " bytes.");
        long last = moments.stream()
                .filter(moment -> moment.nanos() > at + 0.5)
                .findFirst()
                .map(moment -> Math.round(moment.nanos()))
                .orElse(at);
        event(
                last,
                Kind.CALL,
                Place.APPLICATION_A,
                Place.DEVICE_A,
                String.format(Locale.ROOT, "CplD: %s, %,d bytes", what, work.readBytes()),
                "Completions with data, of at most " + text(Quantity.MPS) + " bytes and 20 bytes of headers each.");
    }

    private static String looks(Work work) {
        return "Look-ups: " + work.looks() + ", of which " + work.misses()
                + " missed. A miss would read the table in memory, over PCIe.";
    }

    private String packets() {
        long count = Math.max(1, (bytes + (long) card.value(Quantity.MTU) - 1) / (long) card.value(Quantity.MTU));
        return count + (count == 1 ? " packet" : " packets");
    }

    private String text(Quantity quantity) {
        return quantity.text(card.value(quantity));
    }

    private void step(long at, Place place, String label, String text) {
        event(at, Kind.STEP, place, place, label, text);
    }

    private void packet(long at, Place from, Place to, String label, String text) {
        event(at, Kind.PACKET, from, to, label, text);
    }

    private void event(long at, Kind kind, Place from, Place to, String label, String text) {
        events.add(Event.of(at, kind, from, to, label, text));
    }

    private Recording done() {
        var setting = List.of(
                "A model, and no run of a device: card " + card.name() + ", " + card.title() + ".",
                "verbena card list " + card.name()
                        + " has each number and where it is from; the same seed gives the same"
                        + " times. The card has carried out requests before, so it holds what it needs.");
        var closing = new ArrayList<String>();
        Moment last = moments.getLast();
        closing.add(String.format(
                Locale.ROOT,
                "This WRITE of %,d bytes: no system call, no copy, no interrupt; %,.0f ns until the completion was seen,"
                        + " of which the core worked %s and %s.",
                bytes,
                last.nanos(),
                text(Quantity.BUILD),
                text(Quantity.DOORBELL)));
        closing.add("The same bytes of a file through the kernel and TCP, with assumed costs of cores:");
        closing.addAll(new KernelWays(bytes).lines());
        closing.add("Another card: verbena explain card --as cx3. Rates: verbena card try " + card.name() + " 'write "
                + bytes + " threads=8 qps=8'.");
        return new Recording(Cast.CARD, Scenario.CARD.title(), Scenario.CARD.line(), setting, events, closing);
    }
}
