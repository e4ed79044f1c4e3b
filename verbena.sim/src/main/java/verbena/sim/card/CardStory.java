package verbena.sim.card;

import java.util.ArrayList;
import java.util.List;

/// The story of one request: each stage with its time, and what it did on PCIe and with the tables.
public final class CardStory {
    private static final int REQUESTS_BEFORE = 3;

    /// The stages of a request, in their order.
    public enum Stage {
        BUILD,
        RING,
        FETCH,
        BEGIN,
        SEND,
        ARRIVE,
        ANSWER,
        FINISH,
        SEEN
    }

    /// The work of one end in a stage.
    ///
    /// @param stores    stores of a core to the card, of 64 bytes or less
    /// @param reads     read requests of the card
    /// @param readBytes bytes that it reads
    /// @param writes    packets that it writes
    /// @param looks     look-ups in its tables
    /// @param misses    look-ups of what the card did not hold
    public record Work(long stores, long reads, long readBytes, long writes, long looks, long misses) {
        static Work of(CardHost host) {
            PcieCounts counts = host.pcie.counts;
            return new Work(
                    counts.stores,
                    counts.reads,
                    counts.readBytes,
                    counts.writes,
                    host.contexts.looks() + host.pages.looks() + host.regions.looks(),
                    host.contexts.misses() + host.pages.misses() + host.regions.misses());
        }

        Work less(Work before) {
            return new Work(
                    stores - before.stores,
                    reads - before.reads,
                    readBytes - before.readBytes,
                    writes - before.writes,
                    looks - before.looks,
                    misses - before.misses);
        }
    }

    /// A stage of the request.
    ///
    /// @param nanos when it began, from the beginning of the story
    /// @param near  the work of the end that asks
    /// @param far   the work of the other end
    public record Moment(Stage stage, double nanos, Work near, Work far) {}

    private final CardRun run;
    private final List<Moment> moments = new ArrayList<>();

    private CardStory(CardRun run) {
        this.run = run;
    }

    /// Tells of a request on a card that has carried out others before, so that it holds what it needs.
    public static List<Moment> of(Card card, Operation operation, int bytes, boolean isInline) {
        String load = operation.word() + " " + bytes + " window=1" + (isInline ? " inline" : "");
        var story = new CardStory(new CardRun(card, Load.of(load).program(1), 2, 0));
        story.tell();
        return List.copyOf(story.moments);
    }

    private void tell() {
        run.start();
        int seen = 0;
        while (seen < REQUESTS_BEFORE) {
            if (run.step() == CardRun.SEEN) {
                seen++;
            }
        }
        long began = run.now();
        boolean hasBuilt = false;
        Stage last = Stage.BUILD;
        while (last != Stage.SEEN) {
            Work near = Work.of(run.host(0));
            Work far = Work.of(run.host(1));
            int step = run.step();
            if (step == CardRun.THREAD) {
                last = hasBuilt ? Stage.RING : Stage.BUILD;
                hasBuilt = true;
            } else {
                last = Stage.values()[step + 1];
            }
            moments.add(new Moment(
                    last,
                    (run.now() - began) / 1000.0,
                    Work.of(run.host(0)).less(near),
                    Work.of(run.host(1)).less(far)));
        }
    }
}
