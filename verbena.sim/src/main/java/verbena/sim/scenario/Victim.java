package verbena.sim.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.Transfer;
import verbena.sim.ethernet.TransferOptions;

/// A flow that shares no congested link slows down, because pauses spread from switch to switch. Senders far away
/// make it slower. With DCQCN they do not.
final class Victim implements Scenario {
    private static final long WARM_NANOS = 40_000_000;
    private static final long NANOS = 20_000_000;
    private static final int FARTHER_MOST = 2;

    private final int runs;

    /// @param runs each maps the flows to ways anew
    Victim(int runs) {
        this.runs = runs;
    }

    @Override
    public String name() {
        return "pfc-victim";
    }

    @Override
    public String title() {
        return "Pauses spread to a flow that meets no congestion; with DCQCN they do not";
    }

    @Override
    public String source() {
        return "Zhu et al., SIGCOMM 2015, figures 4 and 9";
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        var outcome = new Outcome.Builder();
        double[] alone = new double[FARTHER_MOST + 1];
        double[] ruled = new double[FARTHER_MOST + 1];
        for (int farther = 0; farther <= FARTHER_MOST; farther++) {
            progress.accept(farther + " senders in another rack");
            alone[farther] = median(seed, farther, false);
            ruled[farther] = median(seed, farther, true);
            outcome.figure("pauses alone, " + farther + " farther senders, median", alone[farther], "Gbit/s");
            outcome.figure("DCQCN, " + farther + " farther senders, median", ruled[farther], "Gbit/s");
        }
        return outcome.atMost(
                        "pauses alone: the victim with two farther senders over that with none",
                        alone[FARTHER_MOST] / alone[0],
                        0.9)
                .atLeast("DCQCN: the same", ruled[FARTHER_MOST] / ruled[0], 0.9)
                .atLeast(
                        "the victim with two farther senders: DCQCN over pauses alone",
                        ruled[FARTHER_MOST] / alone[FARTHER_MOST],
                        2)
                .done();
    }

    private double median(long seed, int farther, boolean dcqcn) {
        double[] rates = new double[runs];
        TransferOptions rule = dcqcn ? Rules.dcqcn() : Rules.none();
        for (int run = 0; run < runs; run++) {
            var clos = new Clos(
                    seed * runs + run,
                    dcqcn ? Rules.marking(SwitchOptions.LOSSLESS, Clos.RATE) : SwitchOptions.LOSSLESS);
            Host receiver = clos.host("R", 4);
            List<Host> senders = new ArrayList<>();
            for (int i = 1; i <= 4; i++) {
                senders.add(clos.host("H1" + i, 1));
            }
            for (int i = 1; i <= farther; i++) {
                senders.add(clos.host("H3" + i, 3));
            }
            Host from = clos.host("VS", 1);
            Host to = clos.host("VR", 2);
            clos.network.begin();
            // In this order a run has the same ways however many farther senders there are.
            Transfer victim = clos.network.transfer(from, to, 1L << 40, 0, rule);
            senders.forEach(sender -> clos.network.transfer(sender, receiver, 1L << 40, 0, rule));
            clos.network.run(WARM_NANOS);
            long before = victim.arrivedBytes();
            clos.network.run(WARM_NANOS + NANOS);
            rates[run] = (victim.arrivedBytes() - before) * 8.0 / NANOS;
        }
        return Samples.percentile(rates, 0.5);
    }
}
