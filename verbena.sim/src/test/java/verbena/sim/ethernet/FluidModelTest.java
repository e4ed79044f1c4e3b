package verbena.sim.ethernet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.transport.congestion.Dcqcn;
import verbena.transport.congestion.DcqcnOptions;

/// The fluid model of DCQCN (Zhu et al., SIGCOMM 2015, section 5.1, equations 5 to 9) is written here from the paper
/// alone. It and the code that sends packets have to come to the same steady state.
class FluidModelTest {
    private static final double LINE = 40e9;
    private static final int PACKET_BYTES = 1_082;
    private static final double MARK_FROM = 5_000;
    private static final double MARK_ALL = 200_000;
    private static final double MARK_CHANCE = 0.01;

    @ParameterizedTest(name = "{0} flows")
    @ValueSource(ints = {2, 4, 8})
    void codeAndModelAgreeInSteadyState(int flows) {
        double[] model = model(flows);
        double[] code = code(flows);
        System.out.printf(
                "DCQCN, %d flows: rate %.2f Gbit/s by the model, %.2f by the code; queue %.1f and %.1f KB%n",
                flows, model[0] / 1e9, code[0] / 1e9, model[1] / 1e3, code[1] / 1e3);
        assertThat(code[0]).isCloseTo(model[0], within(0.05 * model[0]));
        assertThat(code[1]).isCloseTo(model[1], within(0.35 * model[1]));
    }

    /// The mean rate of a flow, and the mean queue in bytes, of the last part of a run of packets.
    private static double[] code(int flows) {
        var network = new EthernetNetwork(3);
        SwitchOptions options = SwitchOptions.LOSSLESS.marking((long) MARK_FROM, (long) MARK_ALL, MARK_CHANCE);
        new Topologies(LINE, 500, options).star(network, flows + 1);
        TransferOptions rule = TransferOptions.window(1 << 20)
                .control(DcqcnOptions.PAPER.cnpNanos(), line -> new Dcqcn(DcqcnOptions.PAPER, line, 1 << 20));
        Host receiver = network.hosts().getFirst();
        for (int i = 1; i <= flows; i++) {
            network.transfer(network.hosts().get(i), receiver, 1L << 40, 0, rule);
        }
        Switch middle = network.switches().getFirst();
        double[] queue = new double[2];
        network.every(5_000, now -> {
            if (now > 100_000_000) {
                queue[0] += network.queued(middle, receiver);
                queue[1]++;
            }
        });
        network.run(100_000_000);
        long before = receiver.receivedBytes();
        network.run(300_000_000);
        return new double[] {(receiver.receivedBytes() - before) * 8 / 0.2 / flows, queue[0] / queue[1]};
    }

    /// The same by integration of the model. Rates are packets per second; the delay of the loop is the CNP
    /// interval.
    private static double[] model(int flows) {
        DcqcnOptions o = DcqcnOptions.PAPER;
        double capacity = LINE / 8 / PACKET_BYTES;
        double tau = o.cnpNanos() / 1e9;
        double tauAlpha = o.alphaNanos() / 1e9;
        double timer = o.timeResetNanos() / 1e9;
        double counter = (double) o.byteReset() / PACKET_BYTES;
        double step = o.aiRate() / 8 / PACKET_BYTES;
        double g = o.gd();
        int f = o.threshold();
        double dt = 1e-6;
        int delay = (int) Math.round(tau / dt);
        double[] marks = new double[delay];
        double[] rates = new double[delay];
        double queue = 0;
        double current = capacity / flows;
        double target = current;
        double alpha = 0.1;
        java.util.Arrays.fill(rates, current);
        double rateSum = 0;
        double queueSum = 0;
        int summed = 0;
        int steps = 600_000;
        for (int i = 0; i < steps; i++) {
            double bytes = queue * PACKET_BYTES;
            double mark = bytes <= MARK_FROM
                    ? 0
                    : bytes >= MARK_ALL ? 1 : MARK_CHANCE * (bytes - MARK_FROM) / (MARK_ALL - MARK_FROM);
            int slot = i % delay;
            double p = Math.max(1e-9, marks[slot]);
            double rate = rates[slot];
            marks[slot] = mark;
            rates[slot] = current;
            double notified = 1 - Math.pow(1 - p, tau * rate);
            double byBytes = rate * p / (Math.pow(1 - p, -counter) - 1);
            double byTime = rate * p / (Math.pow(1 - p, -timer * rate) - 1);
            double dAlpha = g / tauAlpha * (1 - Math.pow(1 - p, tauAlpha * rate) - alpha);
            double dTarget = -(target - current) / tau * notified
                    + step * byBytes * Math.pow(1 - p, f * counter)
                    + step * byTime * Math.pow(1 - p, f * timer * rate);
            double dCurrent = -current * alpha / (2 * tau) * notified
                    + (target - current) / 2 * byBytes
                    + (target - current) / 2 * byTime;
            queue = Math.max(0, queue + (flows * current - capacity) * dt);
            alpha += dAlpha * dt;
            target = Math.min(capacity, target + dTarget * dt);
            current = Math.min(capacity, current + dCurrent * dt);
            if (i > steps / 2) {
                rateSum += current;
                queueSum += queue;
                summed++;
            }
        }
        return new double[] {rateSum / summed * PACKET_BYTES * 8, queueSum / summed * PACKET_BYTES};
    }
}
