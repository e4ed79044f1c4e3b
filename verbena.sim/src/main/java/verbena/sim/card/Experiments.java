package verbena.sim.card;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import verbena.sim.scenario.Scenario;

/// The experiments on cards. A published number is one that was looked up; the source of each experiment says where,
/// and what is from memory.
public final class Experiments {
    private static final String SWARM =
            "Kalia et al., FaSST, OSDI 2016: github.com/efficient/rdma_bench a038ec5e," + " rc-swarm/sweep/osdi";
    private static final String CABLE = "host a\nhost b\nlink a b 100G 30ns";
    private static final double[] LENGTHS = {8, 40, 72, 104, 136, 168, 200, 232, 264, 296, 328, 360, 392};

    private Experiments() {}

    /// Lists them in the order in which one reads them.
    public static List<Scenario> all() {
        return List.of(
                new Experiment(
                        "doorbells",
                        "One core posts more requests with one doorbell for many",
                        "Kalia et al., Design Guidelines, ATC 2016; github.com/efficient/rdma_bench a038ec5e,"
                                + " ws-sequencer/README.md",
                        Experiments::doorbells),
                new Experiment(
                        "inline",
                        "Data within the request save the card a read over PCIe",
                        "Kalia et al., Design Guidelines, ATC 2016 (from memory, unverified)",
                        Experiments::inline),
                new Experiment(
                        "signals",
                        "Fewer completions: a core posts more",
                        "Kalia et al., 2016: github.com/efficient/fasst 580abef0, app/one-sided-sharing/README.md",
                        Experiments::signals),
                new Experiment("lengths", "READs become slower where PCIe is full", SWARM, Experiments::lengths),
                new Experiment(
                        "connections",
                        "Many queue pairs do not fit into the card",
                        SWARM + "; Kalia et al., eRPC, NSDI 2019 (from memory, unverified)",
                        Experiments::connections),
                new Experiment(
                        "regions",
                        "Many regions do not fit into the card",
                        "Tsai et al., LITE, SOSP 2017 (from memory, unverified)",
                        Experiments::regions),
                new Experiment(
                        "pages",
                        "Small pages of much memory do not fit into the card",
                        "Dragojevic et al., FaRM, NSDI 2014 (from memory, unverified)",
                        Experiments::pages),
                new Experiment(
                        "read-and-write",
                        "A READ costs a card more than a WRITE",
                        "a public benchmark's note on two ConnectX-6, 2020 or later, its repository unknown",
                        Experiments::readAndWrite),
                new Experiment(
                        "directions",
                        "What a card takes in, and what it sends",
                        "Kalia et al., 2016: github.com/efficient/fasst 580abef0, other/dct-bench/README.md;"
                                + " rdma_bench a038ec5e, rc-swarm/README.md",
                        Experiments::directions),
                new Experiment(
                        "atomics",
                        "Atomics on one word wait for each other",
                        "Kalia et al., ATC 2016: rdma_bench a038ec5e, atomics-sequencer/main.h; the note on two"
                                + " ConnectX-6 of read-and-write",
                        Experiments::atomics),
                new Experiment(
                        "pcie",
                        "What PCIe has left for short pieces",
                        "Neugebauer et al., SIGCOMM 2018: github.com/pcie-bench/pcie-model 40703cfe",
                        Experiments::pcie),
                new Experiment(
                        "on-demand",
                        "The first access to a page that is not there",
                        "Shen et al., NP-RDMA, arXiv 2310.11062, 2023, abstract",
                        Experiments::onDemand),
                new Experiment(
                        "switch",
                        "Two cards by a cable and by a switch of the simulated network, and two that send to a third",
                        "github.com/IBM/tulips, docs/topics/Test-and-Performance.md, looked up in 2026",
                        Experiments::twoCards));
    }

    private static void doorbells(Beside beside) {
        Card card = Cards.of("connect-ib");
        Map<String, Beside.Point> points = new TreeMap<>();
        points.put("one core", x -> beside.run(card, batch(1, x)).rate());
        points.put("14 cores", x -> beside.run(card, batch(14, x)).rate());
        beside.shape(
                "WRITEs of 28 bytes, inline", "requests for a doorbell", "M/s", new double[] {1, 2, 4, 8, 16}, points);
        double gain = beside.run(card, batch(1, 16)).rate()
                / beside.run(card, batch(1, 1)).rate();
        // Published: a sequencer on one core, 6.80 M/s and 17.6 M/s with batches. It also receives, in batches too.
        beside.figure("gain of batches in a whole program, published", 17.6 / 6.80, "times");
        beside.atLeast("one core: 16 for a doorbell over one by one", gain, 2);
        beside.atMost(
                "14 cores: 16 for a doorbell over one by one, where the card is the bound",
                beside.run(card, batch(14, 16)).rate()
                        / beside.run(card, batch(14, 1)).rate(),
                1.2);
    }

    private static String batch(int threads, double count) {
        return "write 28 inline signal=16 window=64 threads=" + threads + " qps=" + threads + " batch=" + (int) count;
    }

    private static void inline(Beside beside) {
        for (String name : List.of("cx3", "cx5")) {
            Card card = Cards.of(name);
            double fetched = beside.run(card, "write 32 window=1", 2_000).median();
            double inline = beside.run(card, "write 32 inline window=1", 2_000).median();
            beside.figure(name + ": a WRITE of 32 bytes, data fetched", fetched, "ns");
            beside.figure(name + ": a WRITE of 32 bytes, inline", inline, "ns");
            beside.atLeast(
                    name + ": what inline saves, over a read on PCIe",
                    (fetched - inline) / card.value(Quantity.PCIE_READ),
                    0.7);
        }
        Card old = Cards.of("cx3");
        double fetched = beside.run(old, "write 28 threads=8 qps=8 signal=8 unacknowledged")
                .rate();
        double inline = beside.run(old, "write 28 inline threads=8 qps=8 signal=8 unacknowledged")
                .rate();
        beside.figure("cx3: unacknowledged WRITEs, data fetched", fetched, "M/s");
        beside.figure("cx3: unacknowledged WRITEs, inline", inline, "M/s");
        beside.atLeast("cx3: rate of unacknowledged WRITEs, inline over fetched", inline / fetched, 1.5);
        Card late = Cards.of("cx5");
        double longer = beside.run(late, "write 156 inline signal=8").rate();
        double shorter = beside.run(late, "write 28 inline signal=8").rate();
        beside.atMost("cx5: rate of one core, 156 bytes inline over 28", longer / shorter, 0.7);
    }

    private static void signals(Beside beside) {
        Card card = Cards.of("connect-ib");
        beside.number(
                "one core, READs, each signaled",
                "M/s",
                7.8,
                beside.run(card, "read 32 qps=6 window=32 peers=5").rate());
        beside.number(
                "one core, READs, one of 16 signaled",
                "M/s",
                10.7,
                beside.run(card, "read 32 qps=6 window=32 signal=16 peers=5").rate());
    }

    private static void lengths(Beside beside) {
        double[] wide = {51.32, 49.46, 47.06, 43.84, 39.44, 37.65, 34.63, 32.27, 29.21, 27.84, 26.13, 24.45, 22.96};
        beside.curve(
                "connect-ib",
                "bytes",
                "M/s",
                LENGTHS,
                wide,
                x -> beside.run(Cards.of("connect-ib"), "read " + (int) x + " threads=14 qps=84 window=24 symmetric")
                        .rate());
        double[] narrow = {11.11, 11.02, 10.93, 10.84, 10.68, 10.53, 10.29, 10.03, 7.09, 6.93, 6.78, 6.67, 6.54};
        beside.curve(
                "cx3",
                "bytes",
                "M/s",
                LENGTHS,
                narrow,
                x -> beside.run(Cards.of("cx3"), "read " + (int) x + " threads=8 qps=48 window=24 symmetric")
                        .rate());
    }

    private static void connections(Beside beside) {
        beside.curve(
                "connect-ib",
                "queue pairs",
                "M/s",
                new double[] {84, 252, 420, 588, 756, 924, 1092, 1260},
                new double[] {50.25, 43.51, 38.57, 36.03, 34.44, 33.67, 32.78, 31.83},
                x -> beside.run(Cards.of("connect-ib"), swarm(14, x)).rate());
        beside.curve(
                "cx3",
                "queue pairs",
                "M/s",
                new double[] {48, 144, 240, 336, 432, 528, 624, 720},
                new double[] {11.02, 2.97, 1.99, 1.74, 1.54, 1.33, 1.24, 1.18},
                x -> beside.run(Cards.of("cx3"), swarm(8, x)).rate());
        Card late = Cards.of("cx5");
        double few =
                beside.run(late, "read 16 threads=16 qps=112 window=16 peers=4").rate();
        double many = beside.run(late, "read 16 threads=16 qps=5008 window=16 peers=4")
                .rate();
        beside.figure("cx5, 112 queue pairs", few, "M/s");
        beside.figure("cx5, 5,008 queue pairs", many, "M/s");
        beside.atMost("cx5: 5,008 queue pairs over 112; published, from memory, unverified: 0.5", many / few, 0.6);
    }

    private static String swarm(int threads, double queuePairs) {
        return "read 32 threads=" + threads + " qps=" + (int) queuePairs + " window=24 symmetric";
    }

    private static void regions(Beside beside) {
        Card card = Cards.of("cx3");
        Map<String, Beside.Point> points = new TreeMap<>();
        points.put("WRITEs of 64 bytes", x -> beside.run(card, regions((int) x)).rate());
        beside.shape("cx3", "regions", "M/s", new double[] {1, 10, 50, 100, 200, 1000, 10_000}, points);
        double one = beside.run(card, regions(1)).rate();
        beside.atLeast("50 regions over one", beside.run(card, regions(50)).rate() / one, 0.8);
        beside.atMost("1,000 regions over one", beside.run(card, regions(1000)).rate() / one, 0.5);
    }

    private static String regions(int count) {
        return "write 64 threads=8 qps=8 inline signal=8 regions=" + count;
    }

    private static void pages(Beside beside) {
        Card card = Cards.of("cx3");
        Map<String, Beside.Point> points = new TreeMap<>();
        points.put("pages of 4 KiB", x -> beside.run(card, pages(x, "4K")).rate());
        points.put("pages of 2 MiB", x -> beside.run(card, pages(x, "2M")).rate());
        points.put("pages of 2 GiB", x -> beside.run(card, pages(x, "2G")).rate());
        beside.shape(
                "cx3, READs of 64 bytes", "MiB of memory", "M/s", new double[] {1, 4, 16, 64, 1024, 16_384}, points);
        double small = beside.run(card, pages(16_384, "4K")).rate();
        double big = beside.run(card, pages(16_384, "2G")).rate();
        beside.atLeast("16 GiB: pages of 2 GiB over 4 KiB; published, from memory, unverified: some 4", big / small, 3);
        beside.atLeast(
                "1 GiB: pages of 2 MiB over 4 KiB",
                beside.run(card, pages(1024, "2M")).rate()
                        / beside.run(card, pages(1024, "4K")).rate(),
                3);
    }

    private static String pages(double mebibytes, String page) {
        return "read 64 inbound peers=4 threads=4 qps=4 memory=" + (int) mebibytes + "M page=" + page;
    }

    private static void readAndWrite(Beside beside) {
        Card card = Cards.of("cx6");
        beside.number(
                "cx6, WRITEs of 64 bytes",
                "M/s",
                106.3,
                beside.run(card, "write 64 threads=12 qps=12 window=32").rate());
        beside.number(
                "cx6, READs of 64 bytes",
                "M/s",
                65.0,
                beside.run(card, "read 64 threads=12 qps=12 window=32").rate());
        double read = beside.run(card, "read 64 window=1", 2_000).median();
        double write = beside.run(card, "write 64 inline window=1", 2_000).median();
        beside.figure("cx6: a READ of 64 bytes", read, "ns");
        beside.figure("cx6: a WRITE of 64 bytes, inline", write, "ns");
        beside.atLeast("cx6: time of a READ over that of a WRITE", read / write, 1.2);
    }

    private static void directions(Beside beside) {
        Card card = Cards.of("connect-ib");
        beside.number(
                "connect-ib, READs in, from 10 machines",
                "M/s",
                94.6,
                beside.run(card, "read 32 inbound peers=10 threads=14 qps=14 window=4")
                        .rate());
        beside.number(
                "connect-ib, READs out, to 5 machines",
                "M/s",
                94,
                beside.run(card, "read 32 peers=5 threads=14 qps=84 window=24 signal=8")
                        .rate());
        double both = beside.run(card, swarm(14, 84)).rate();
        beside.figure("connect-ib, READs out and in at once", both, "M/s each");
        beside.atMost("READs at once over READs in alone", both / 94.6, 0.7);
    }

    private static void atomics(Beside beside) {
        Card old = Cards.of("cx3");
        beside.number(
                "cx3, many words, in the cache",
                "M/s",
                2.7,
                beside.run(old, "atomic 8 threads=8 qps=32 words=262144 memory=2M")
                        .rate());
        beside.number(
                "cx3, many words, beyond the cache",
                "M/s",
                1.8,
                beside.run(old, "atomic 8 threads=8 qps=32 words=16384 memory=1G")
                        .rate());
        Card late = Cards.of("cx6");
        double one = beside.run(late, "atomic 8 threads=12 qps=12 words=1").rate();
        double many = beside.run(late, "atomic 8 threads=12 qps=12 words=4096").rate();
        beside.number("cx6, one word", "M/s", 2.17, one);
        beside.figure("cx6, 4,096 words", many, "M/s");
        beside.atLeast("cx6: many words over one", many / one, 5);
    }

    private static void pcie(Beside beside) {
        double[] sizes = {64, 128, 192, 256, 512, 1024, 2048, 4096};
        double[] published = new double[sizes.length];
        for (int i = 0; i < sizes.length; i++) {
            // The paper's formula: 128/130 coding, 9.8 % for acknowledgements and credits, 24 bytes for each packet.
            double gigabits = 8 * 16 * 128 / 130.0 * (1 - 0.098);
            published[i] = gigabits * sizes[i] / (sizes[i] + 24 * Math.ceil(sizes[i] / 256));
        }
        Card card =
                Cards.of("cx6 generation=3 tlp=0ns rate=1600G units=64 write-credits=4096 arrive=40ns request=20ns");
        beside.curve("what a card can write to memory", "bytes", "Gbit/s", sizes, published, x -> {
            String load = "write " + (int) x + " inbound unacknowledged peers=8 threads=16 qps=16 signal=16 window=256"
                    + " batch=16";
            return beside.run(card, load).rate() * x * 8 / 1000;
        });
    }

    private static void onDemand(Beside beside) {
        Card card = Cards.of("cx5");
        double warm =
                beside.run(card, "read 64 window=1 memory=16M page=4K", 2_000).median();
        double cold = beside.run(card, "read 64 window=1 memory=16G page=4K on-demand", 1_000)
                .median();
        beside.figure("a page that is there", warm, "ns");
        beside.figure("a page that is not", cold, "ns");
        // Published: 3.5 to 5.7 us, 500 times faster than cards do it.
        beside.number("a fault, in the middle of 500 times 3.5 to 5.7 us", "us", 2300, (cold - warm) / 1000);
        beside.atLeast("a fault over an access", cold / warm, 500);
    }

    private static void twoCards(Beside beside) {
        Card card = Cards.of("cx5");
        String one = "write 32 inline window=1";
        double shorter = beside.over(CABLE, card, one, 2_000).cards().median();
        double longer = beside.over(star(2), card, one, 2_000).cards().median();
        beside.figure("there and back by a cable", shorter, "ns");
        beside.figure("there and back by a switch", longer, "ns");
        beside.number("what a switch adds, there and back", "ns", 2170 - 1632, longer - shorter);
        String load = "write 64K inbound window=16 signal=4 peers=";
        Measured alone = beside.over(star(3), card, load + 1, 4_000).cards();
        CardRun.Networked both = beside.over(star(3), card, load + 2, 4_000);
        CardRun.Networked small = beside.over(star(3) + " buffer=1MB", card, load + 2, 4_000);
        beside.figure("one card sends to another", gigabits(alone), "Gbit/s");
        beside.figure("two cards send to a third", gigabits(both.cards()), "Gbit/s");
        beside.figure("the most that waits in the switch", both.mostUsed() / 1e3, "KB");
        beside.figure("pauses of a switch with a buffer of 1 MB", (double) small.pauses(), "");
        beside.atMost("two that send over one: they share the port", gigabits(both.cards()) / gigabits(alone), 1.05);
        beside.atLeast(
                "latency of two that send over one: they queue in the switch",
                both.cards().median() / alone.median(),
                1.8);
        beside.atMost("pauses of a switch with room for both", (double) both.pauses(), 0);
        beside.atLeast(
                "a switch with less room pauses them, and the port stays full",
                gigabits(small.cards()) / gigabits(both.cards()) * Math.min(1, small.pauses()),
                0.95);
    }

    private static String star(int cards) {
        return "star " + cards + " 100G 150ns";
    }

    private static double gigabits(Measured measured) {
        return measured.rate() * 65_536 * 8 / 1000;
    }
}
