package verbena.transport.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import org.junit.jupiter.api.Test;
import verbena.wire.Frame;

class SpareFramesTest {
    @Test
    void thereAreNoMoreThanTheLimitAndEachHasOneOwner() {
        var frames = new SpareFrames(40);
        var taken = new ArrayList<Frame>();
        for (Frame frame = frames.take(); frame != null; frame = frames.take()) {
            taken.add(frame);
        }
        assertThat(taken).hasSize(40);
        assertThat(new HashSet<>(taken)).hasSize(40);
        assertThat(frames.inUse()).isEqualTo(40);
    }

    @Test
    void whatIsGivenBackIsTakenAgain() {
        var frames = new SpareFrames(1);
        Frame frame = frames.take();
        assertThat(frames.take()).isNull();
        if (frame != null) {
            frames.giveBack(frame);
        }
        assertThat(frames.inUse()).isZero();
        assertThat(frames.take()).isSameAs(frame);
    }
}
