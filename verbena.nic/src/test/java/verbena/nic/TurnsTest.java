package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineListener;
import verbena.nic.engine.EngineTask;
import verbena.transport.EngineCounters;
import verbena.transport.PacketFate;
import verbena.transport.Scheduled;
import verbena.transport.memory.KeyTable;
import verbena.wire.Frame;

/// Queue pairs that do their work without packets take turns with others, and a piece of work stays bounded.
class TurnsTest implements EngineListener {
    private final Wire.Clock clock = new Wire.Clock();
    private final KeyTable<EngineTask> tasks = new KeyTable<>(new Random(1), 2, 10, () -> 0);
    private final Engine engine = new Engine(new Wire("10.0.0.1", clock), () -> clock.nanos, tasks, this);
    private final List<String> turns = new ArrayList<>();

    /// Has work for some turns and sends nothing.
    private final class Worker implements Scheduled {
        final String name;
        final EngineTask task = new EngineTask(this, new EngineCounters(), _ -> {});
        int left;

        Worker(String name, int turns) {
            this.name = name;
            this.left = turns;
            engine.later(() -> engine.makeReady(task));
        }

        @Override
        public boolean poll(Frame frame, long nowNanos) {
            if (left > 0) {
                turns.add(name);
                left--;
                engine.makeReady(task);
            }
            return false;
        }

        @Override
        public long deadlineNanos() {
            return NEVER;
        }

        @Override
        public void onDeadline(long nowNanos) {}
    }

    @Test
    void aQueuePairThatAsksForAnotherTurnHasItInTheNextPieceOfWork() {
        var worker = new Worker("a", 3);
        assertThat(engine.step()).isPositive();
        assertThat(worker.left).isEqualTo(2);
        assertThat(engine.deadlineNanos()).isEqualTo(Long.MIN_VALUE);
        assertThat(engine.step()).isPositive();
        assertThat(engine.step()).isPositive();
        assertThat(engine.step()).as("the turn in which it finds nothing to do").isZero();
        assertThat(turns).containsExactly("a", "a", "a");
        assertThat(engine.deadlineNanos()).isEqualTo(Scheduled.NEVER);
    }

    @Test
    void allHaveATurnBeforeTheFirstHasAnother() {
        var _ = new Worker("a", 2);
        var _ = new Worker("b", 1);
        var _ = new Worker("c", 2);
        assertThat(engine.step()).isPositive();
        assertThat(turns).containsExactly("a", "b", "c");
        assertThat(engine.step()).isPositive();
        assertThat(turns).containsExactly("a", "b", "c", "a", "c");
        assertThat(engine.step()).isZero();
    }

    @Test
    void whatWasRemovedHasNoMoreTurns() {
        var worker = new Worker("a", 9);
        assertThat(engine.step()).isPositive();
        engine.later(() -> engine.remove(2, worker.task));
        assertThat(engine.step()).isPositive();
        assertThat(turns).as("one more before the command").hasSize(2);
        assertThat(engine.step()).isZero();
        assertThat(turns).hasSize(2);
    }

    @Override
    public void onFailure(Throwable cause) {
        throw new AssertionError(cause);
    }

    @Override
    public void onContained(Throwable cause) {
        throw new AssertionError(cause);
    }

    @Override
    public void onSearch(PacketFate last, long sourceHigh, long sourceLow) {}
}
