package verbena.sim.card;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CardRunTest {
    private static final String MIX = "read 64 threads=4 qps=64 window=16 regions=10 memory=64M page=4K peers=2";

    private static Measured run(String card, String load) {
        return CardRun.of(Cards.of(card), Load.of(load), 7, 20_000);
    }

    /// A program with an end, each of whose requests has to end too.
    private static final class Finite implements CardProgram {
        private final List<Operation> operations;
        private final boolean acknowledged;
        private final boolean sleeps;
        private int left;
        private int posts;

        Finite(List<Operation> operations, int count, boolean acknowledged, boolean sleeps) {
            this.operations = operations;
            this.acknowledged = acknowledged;
            this.sleeps = sleeps;
            left = count;
        }

        @Override
        public int threads() {
            return 1;
        }

        @Override
        public int queuePairs() {
            return 3;
        }

        @Override
        public boolean next(int thread, Post post) {
            if (thread != 0 || left == 0) {
                return false;
            }
            post.completions = Math.max(0, posts - 4);
            post.thinkPicos = posts % 3 * 1000L;
            for (int i = 0; i < 5 && left > 0; i++, left--) {
                Operation operation = operations.get(left % operations.size());
                int index = post.add(operation, 8 + left % 5000, left % 4 == 0, i == 4 || left == 1);
                post.queuePairs[index] = left % 3;
                post.pages[index] = left % 40;
            }
            posts++;
            return true;
        }

        @Override
        public int target(int machine, int queuePair) {
            return 1;
        }

        @Override
        public boolean isAcknowledged() {
            return acknowledged;
        }

        @Override
        public boolean sleeps() {
            return sleeps;
        }

        @Override
        public long memory() {
            return 1 << 20;
        }

        @Override
        public boolean isPinned() {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cheap", "cx3", "connect-ib", "cx4", "cx5", "cx6", "cloud", "cx5 reads=1 qp-cache=1"})
    void eachRequestEndsOnce(String name) {
        for (boolean acknowledged : new boolean[] {true, false}) {
            for (boolean sleeps : new boolean[] {true, false}) {
                var all = new Finite(List.of(Operation.values()), 1_003, acknowledged, sleeps);
                assertThat(CardRun.of(Cards.of(name), all).requests()).isEqualTo(1_003);
            }
        }
    }

    @Test
    void theSameSeedHasTheSameFigures() {
        assertThat(run("cx5", MIX)).isEqualTo(run("cx5", MIX));
    }

    @Test
    void anotherSeedHasOtherFiguresThatAreNear() {
        Measured one = CardRun.of(Cards.of("cx3"), Load.of(MIX), 1, 20_000);
        Measured two = CardRun.of(Cards.of("cx3"), Load.of(MIX), 2, 20_000);
        assertThat(one.nanos()).isNotEqualTo(two.nanos());
        assertThat(one.rate()).isBetween(two.rate() * 0.9, two.rate() * 1.1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "FULL units=4, 6, 16",
                "FULL request=200ns, 80ns, 20ns",
                "FULL qp-cache=4, 32, 128",
                "FULL qp-miss=400ns, 100ns, 0ns",
                "FULL tlp=40ns, 10ns, 1ns",
                "FULL lanes=1, 4, 16",
                "FULL rate=10G, 40G, 100G",
                "IDLE pcie-read=2us, 1us, 500ns",
                "IDLE wire=5us, 1us, 100ns",
                "IDLE reads=1, 4, 16",
                "INBOUND mtt-cache=64, 1024, 32768",
                "INBOUND table-miss=900ns, 100ns, 0ns",
                "INBOUND respond=900ns, 100ns, 10ns"
            })
    void aBetterCardIsNotSlower(String steps) {
        String[] parts = steps.split("[ =]", 3);
        String load = switch (parts[0]) {
            case "FULL" -> "read 64 threads=4 qps=64 window=64";
            case "IDLE" -> "read 64 threads=4 qps=8 window=16";
            default -> "read 64 threads=4 qps=4 window=64 memory=64M page=4K inbound peers=3";
        };
        var rates = new ArrayList<Double>();
        for (String value : parts[2].split(", ", -1)) {
            rates.add(run("cx5 qp-cache=16 units=6 " + parts[1] + "=" + value, load)
                    .rate());
        }
        for (int i = 1; i < rates.size(); i++) {
            assertThat(rates.get(i)).as(steps + ": " + rates).isGreaterThan(rates.get(i - 1) * 0.99);
        }
        assertThat(rates.getLast()).as(steps + ": " + rates).isGreaterThan(rates.getFirst() * 1.05);
    }

    @ParameterizedTest
    @ValueSource(strings = {"window=1, 2, 8, 32", "threads=1, 2, 8"})
    void moreUnderWayIsNotSlower(String steps) {
        String[] parts = steps.split("=", 2);
        double before = 0;
        for (String value : parts[1].split(", ", -1)) {
            double rate = run("cx5", "read 64 qps=8 " + parts[0] + "=" + value).rate();
            assertThat(rate).as(steps).isGreaterThan(before);
            before = rate;
        }
    }

    @Test
    void noPartIsBusierThanAlways() {
        for (Card card : Cards.known()) {
            Measured measured = CardRun.of(card, Load.of(MIX), 3, 20_000);
            // What was begun in the start-up may end in the measurement, so a part may be a little above.
            assertThat(measured.busy())
                    .allSatisfy((part, share) ->
                            assertThat(share).as(card.name() + " " + part).isBetween(0.0, 1.02));
        }
    }

    @Test
    void whatGoesOverPcieIsCounted() {
        // Read by the doorbell, and the data; a completion at the sender, and the data at the receiver.
        Measured fetched = run("cx5 blueflame=0", "write 64");
        assertThat(fetched.pcieReads()).isBetween(1.99, 2.01);
        assertThat(fetched.pcieWrites()).isBetween(1.99, 2.01);
        Measured given = run("cx5", "write 28 inline signal=16");
        assertThat(given.pcieReads()).isLessThan(0.01);
        assertThat(given.pcieWrites()).isBetween(1.05, 1.08);
        assertThat(run("cx5 blueflame=0", "write 28 inline batch=4 window=16").pcieReads())
                .isBetween(0.24, 0.26);
    }

    @Test
    void writesToMoreMemoryThanTheCacheTakesGoToMemory() {
        String narrow = "cx5 ddio=2M write-credits=4";
        Measured held = run(narrow, "write 64 threads=8 qps=8 memory=2M");
        Measured past = run(narrow, "write 64 threads=8 qps=8 memory=4M");
        assertThat(past.rate()).isLessThan(held.rate() * 0.95);
        assertThat(run("cx5 ddio=4M write-credits=4", "write 64 threads=8 qps=8 memory=4M")
                        .rate())
                .isBetween(held.rate() * 0.99, held.rate() * 1.01);
        assertThat(run("cx5 ddio=0 write-credits=4", "write 64 threads=8 qps=8 memory=1M")
                        .rate())
                .isLessThan(held.rate() * 0.95);
    }

    @Test
    void aWindowOfOneTakesItsLatency() {
        Measured one = run("cx6", "read 8 window=1");
        assertThat(1e3 / one.rate()).isBetween(one.median() * 0.9, one.median() * 1.2);
        assertThat(one.bound()).isEqualTo("latency");
    }

    @Test
    void aSleepingThreadIsLater() {
        double polls = run("cx5", "read 8 window=1").median();
        double sleeps = run("cx5", "read 8 window=1 interrupts").rate();
        assertThat(1e3 / sleeps).isGreaterThan(polls + 4_900);
    }

    @Test
    void moderatedInterruptsAreFewerAndLater() {
        assertThat(1e3
                        / run("cx5 moderation=20us", "read 8 window=1 interrupts")
                                .rate())
                .isBetween(20_000.0, 20_100.0);
        Measured often = run("cx5", "read 8 window=8 interrupts");
        Measured seldom = run("cx5 moderation=20us", "read 8 window=8 interrupts");
        assertThat(seldom.rate()).isLessThan(often.rate());
        assertThat(run("cx5 moderation=20us", MIX)).isEqualTo(run("cx5", MIX)); // who polls is not interrupted
    }

    private static CardRun.Networked over(String network, String load) {
        return CardRun.over(
                Cards.of("cx5"), Load.of(load), 7, 20_000, network.lines().toList());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "read 64 threads=8 qps=64 window=16",
                "write 28 inline threads=4 qps=4 window=32 signal=8",
                "send 4K inbound peers=2 threads=2 qps=2",
                "atomic 8 words=16",
                "write 256 unacknowledged symmetric threads=4 qps=4"
            })
    void aNetworkOfOneCableIsAWire(String load) {
        Measured wire = CardRun.of(Cards.of("cx5 wire=30ns"), Load.of(load), 7, 20_000);
        if (load.contains("peers")) {
            wire = CardRun.of(Cards.of("cx5 wire=300ns"), Load.of(load), 7, 20_000);
        }
        Measured network = over(
                        load.contains("peers") ? "star 3 100G 150ns" : "host a\nhost b\nlink a b 100G 30ns", load)
                .cards();
        assertThat(network.rate()).isCloseTo(wire.rate(), within(0.03));
        assertThat(network.median()).isCloseTo(wire.median(), within(0.05));
        assertThat(network.busy().get("port, in")).isCloseTo(wire.busy().get("port, in"), within(0.03));
    }

    private static Percentage within(double share) {
        return Percentage.withPercentage(share * 100);
    }

    @Test
    void aLinkIsPassedTwiceByEachRequestAndItsAnswer() {
        String one = "write 32 inline window=1";
        double near = over("star 2 100G 150ns", one).cards().rate();
        double far = over("star 2 100G 1150ns", one).cards().rate();
        assertThat(1e3 / far - 1e3 / near).isCloseTo(4_000, Percentage.withPercentage(0.1));
    }

    @Test
    void theSameSeedHasTheSameFiguresOverANetwork() {
        String text = "leaf-spine 2 2 2 100G 500ns watchdog=1ms";
        assertThat(over(text, MIX)).isEqualTo(over(text, MIX));
    }

    @Test
    void aSwitchWithoutRoomPausesTheCards() {
        String incast = "write 16K inbound peers=4 window=32";
        assertThat(over("star 5 100G 150ns", "write 16K inbound peers=4 window=1")
                        .pauses())
                .isZero();
        CardRun.Networked full = over("star 5 100G 150ns buffer=1MB", incast);
        assertThat(full.pauses()).isPositive();
        assertThat(full.mostUsed()).isLessThan(1_000_000);
        assertThat(full.cards().bound()).isEqualTo("port, in");
    }

    @Test
    void aNetworkThatLosesOrIsTooSmallIsRefused() {
        assertThatThrownBy(() -> over("star 5 100G 150ns buffer=50KB drop", "write 16K inbound peers=4"))
                .hasMessageContaining("lost a packet");
        assertThatThrownBy(() -> over("star 2 100G 150ns", "write 16K inbound peers=4"))
                .hasMessageContaining("2 hosts for 5 machines");
    }
}
