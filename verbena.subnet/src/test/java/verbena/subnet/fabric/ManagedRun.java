package verbena.subnet.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.BooleanSupplier;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.manager.SubnetManager;
import verbena.subnet.topology.TopologyText;

/// A fabric in virtual time, for tests: a millisecond passes when nothing moves.
final class ManagedRun {
    private static final long MILLISECOND = 1_000_000;

    final Fabric fabric;
    long now = 1_000_000;
    private long transactions;

    ManagedRun(String topology) {
        fabric = new Fabric(TopologyText.parse(topology), now);
    }

    /// Lets packets move until none does.
    void settle() {
        int steps = 0;
        boolean isBusy;
        do {
            isBusy = fabric.deadlineNanos() <= now;
            fabric.onDeadline(now);
            isBusy |= fabric.step(now);
            assertThat(++steps).as("steps until nothing moves").isLessThan(1_000_000);
        } while (isBusy);
    }

    /// Lets time pass.
    void run(long nanos) {
        long end = now + nanos;
        while (now < end) {
            settle();
            now = Math.min(end, Math.max(now + 1, fabric.deadlineNanos()));
        }
        settle();
    }

    /// Lets time pass until something is so, at most a minute.
    void until(BooleanSupplier isSo) {
        long end = now + 60_000 * MILLISECOND;
        settle();
        while (!isSo.getAsBoolean()) {
            assertThat(now).as("time until it is so").isLessThan(end);
            run(MILLISECOND);
        }
    }

    /// Puts a manager at a node.
    SubnetManager manage(String at, ManagerOptions options) {
        transactions += 1L << 40;
        return fabric.manage(fabric.node(at), options, transactions);
    }

    /// Puts a manager at a node, and waits until the subnet is up.
    SubnetManager comeUp(String at) {
        SubnetManager manager = manage(at, ManagerOptions.DEFAULT);
        until(manager::isUp);
        run(2_000 * MILLISECOND); // what the first sweep itself has changed
        until(manager::isUp);
        return manager;
    }
}
