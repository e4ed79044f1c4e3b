package verbena.sim.card;

import java.util.LinkedHashMap;
import java.util.Map;

/// The accounts of the machines from one moment to another.
final class Account {
    private final CardHost[] machines;
    private final int threads;
    private final Map<String, Long>[] busyBefore;
    private long began;
    private long readsBefore;
    private long writesBefore;
    private long looksBefore;
    private long missesBefore;
    private long pageLooksBefore;
    private long pageMissesBefore;

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of maps
    Account(CardHost[] machines, int threads) {
        this.machines = machines;
        this.threads = threads;
        busyBefore = new Map[machines.length];
        begin(0);
    }

    /// Begins at a moment.
    void begin(long now) {
        began = now;
        readsBefore = sum(machine -> machine.pcie.counts.reads);
        writesBefore = sum(machine -> machine.pcie.counts.writes);
        looksBefore = sum(machine -> machine.contexts.looks());
        missesBefore = sum(machine -> machine.contexts.misses());
        pageLooksBefore = sum(machine -> machine.pages.looks());
        pageMissesBefore = sum(machine -> machine.pages.misses());
        for (int i = 0; i < machines.length; i++) {
            busyBefore[i] = machines[i].busy(threads);
        }
    }

    private interface Gauge {
        long of(CardHost machine);
    }

    private long sum(Gauge gauge) {
        long sum = 0;
        for (CardHost machine : machines) {
            sum += gauge.of(machine);
        }
        return sum;
    }

    long began() {
        return began;
    }

    /// Returns the share of the time in which each part was busy, of the machine where that is the most.
    Map<String, Double> busy(long now) {
        Map<String, Double> most = new LinkedHashMap<>();
        for (int i = 0; i < machines.length; i++) {
            Map<String, Long> before = busyBefore[i];
            machines[i]
                    .busy(threads)
                    .forEach((part, picos) -> most.merge(
                            part,
                            (picos - before.getOrDefault(part, 0L)) / (double) Math.max(1, now - began),
                            Math::max));
        }
        return most;
    }

    long reads() {
        return sum(machine -> machine.pcie.counts.reads) - readsBefore;
    }

    long writes() {
        return sum(machine -> machine.pcie.counts.writes) - writesBefore;
    }

    double contextMisses() {
        return share(
                sum(machine -> machine.contexts.misses()) - missesBefore,
                sum(machine -> machine.contexts.looks()) - looksBefore);
    }

    double pageMisses() {
        return share(
                sum(machine -> machine.pages.misses()) - pageMissesBefore,
                sum(machine -> machine.pages.looks()) - pageLooksBefore);
    }

    private static double share(long part, long whole) {
        return whole == 0 ? 0 : part / (double) whole;
    }
}
