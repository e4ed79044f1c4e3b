package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Random programs of sends and receives of a few workers, in random interleavings, against rules: what matches,
/// order of each sender, exactly once, nothing stuck.
class WorldTest {
    private static final int WORLDS = 300;

    private static long mask(SplittableRandom random) {
        return switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> 1;
            default -> -1;
        };
    }

    /// One worker sends or receives, or something that is under way goes on.
    private static void act(World world, SplittableRandom random) {
        switch (random.nextInt(5)) {
            case 0 -> world.send(random.nextInt(3), random.nextInt(3), random.nextInt(4), random.nextInt(16, 200));
            case 1 ->
                world.receive(
                        random.nextInt(3),
                        random.nextInt(4),
                        mask(random),
                        random.nextBoolean() ? null : Integer.valueOf(random.nextInt(3)),
                        random.nextInt(16, 200));
            case 2 -> world.postActive(random.nextInt(3), random.nextInt(3), random.nextInt(29), random.nextInt(200));
            default -> world.step();
        }
    }

    /// Until nothing is left to do.
    private static void settle(World world) {
        boolean isBusy = true;
        while (isBusy) {
            isBusy = world.step();
        }
        world.checkQuiet();
    }

    /// Windows of two are the tightest: one frame, and the reserve.
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 8})
    void messagesMatchOnceAndInOrder(int window) {
        for (int seed = 0; seed < WORLDS; seed++) {
            var random = new SplittableRandom(seed);
            var world = new World(random, 3, window);
            for (int i = 0; i < 150; i++) {
                act(world, random);
            }
            settle(world);
            // Receives for all that is left take all that is left.
            for (int at = 0; at < 3; at++) {
                for (int left = world.unexpected(at); left > 0; left--) {
                    world.receive(at, 0, 0, null, 300);
                }
            }
            settle(world);
            assertThat(world.sent).as("seed %d", seed).allMatch(each -> each.done == 1);
        }
    }

    /// Workers that take two offers, and ask for them at once. What they keep has a limit, and all arrives in
    /// the end.
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 8})
    void messagesThatNoReceiveWaitsForHaveALimit(int window) {
        for (int seed = 0; seed < WORLDS; seed++) {
            var random = new SplittableRandom(seed);
            var world = new World(random, 3, new PeerLimits(World.FRAME_BYTES, window, 500, 2, 2, 1));
            for (int i = 0; i < 150; i++) {
                act(world, random);
                assertThat(world.keptMost())
                        .isLessThan(500 + (2L * window + 1) * (World.FRAME_BYTES + PeerLimits.KEPT_COST));
            }
            settle(world);
            int before = -1;
            while (before != world.posted.size()) { // receives bring offers that were held back
                before = world.posted.size();
                for (int at = 0; at < 3; at++) {
                    for (int left = world.unexpected(at); left > 0; left--) {
                        world.receive(at, 0, 0, null, 300);
                    }
                }
                settle(world);
            }
            assertThat(world.sent).as("seed %d", seed).allMatch(each -> each.done == 1);
        }
    }

    @Test
    void aLostWorkerFailsWhatIsUnderWayWithItOnceAndOthersGoOn() {
        for (int seed = 0; seed < WORLDS; seed++) {
            var random = new SplittableRandom(seed);
            var world = new World(random, 3, 2 + random.nextInt(4));
            int killed = random.nextInt(120);
            for (int i = 0; i < 150; i++) {
                if (i == killed) {
                    world.kill(2);
                }
                act(world, random);
            }
            settle(world);
        }
    }
}
