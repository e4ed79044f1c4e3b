package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.cm.CmConnection.State;
import verbena.verbs.Gid;
import verbena.wire.cm.PrivateData;

/// Whatever the wire does to messages, both ends come to an end, are told of it once, and nothing is left.
class AnyWireTest {
    private static final List<String> ENDS = List.of("Rejected", "Unreachable", "Disconnected");
    /// What can become of a message: it arrives, is lost, is doubled, comes 300 ms late (after what was sent
    /// later), comes 1 s late (after it has been sent again).
    private static final int FATES = 5;
    private static final int MESSAGES = 6;

    private static void assertEnded(TwoManagers world, String what) {
        assertThat(world.a.size() + world.b.size())
                .as("%s: %s", what, world.said)
                .isZero();
        assertThat(world.a.deadlineNanos())
                .as("%s: nothing is waited for", what)
                .isEqualTo(Long.MAX_VALUE);
        assertThat(world.b.deadlineNanos()).isEqualTo(Long.MAX_VALUE);
        for (String end : List.of("a", "b")) {
            List<String> told = world.told(end);
            String as = "%s, %s was told %s by %s".formatted(what, end, told, world.said);
            assertThat(told.stream().filter("Established"::equals)).as(as).hasSizeLessThanOrEqualTo(1);
            int begun = 0;
            for (String event : told) {
                if (event.equals("Requested")) {
                    begun++;
                } else if (ENDS.contains(event)) {
                    begun--;
                }
                assertThat(begun).as(as).isBetween(end.equals("a") ? -1 : 0, 3);
            }
        }
    }

    /// Every fate of each of the first six messages, with the connection ended by either side or both, or refused.
    @Test
    void everyCombinationOfFatesOfTheFirstMessages() {
        int cases = 0;
        int connected = 0;
        int patterns = (int) Math.pow(FATES, MESSAGES);
        for (String story : List.of("active", "passive", "both", "reject", "refuse")) {
            for (int pattern = 0; pattern < patterns; pattern += story.equals("active") ? 1 : 3) {
                var world = new TwoManagers(pattern);
                world.call = new CmCall(TwoManagers.SERVICE, 0, 3, 19, 7, 0, 64, 0, 17, 15);
                int[] left = {pattern};
                int[] index = {0};
                world.fate = _ -> {
                    if (index[0]++ >= MESSAGES) {
                        return 0;
                    }
                    int fate = left[0] % FATES;
                    left[0] /= FATES;
                    return fate;
                };
                var passive = new CmConnection[1];
                world.serve(story.equals("reject"), passive);
                CmConnection a = world.connect(story.equals("refuse"));
                world.run(2_500 * TwoManagers.MILLIS);
                connected += a.state() == State.ESTABLISHED ? 1 : 0;
                if (!story.equals("passive")) {
                    a.disconnect(PrivateData.NONE, world.now);
                }
                if (!story.equals("active") && passive[0] != null) {
                    passive[0].disconnect(PrivateData.NONE, world.now);
                }
                world.run(200_000 * TwoManagers.MILLIS);
                if (story.equals("passive")) {
                    a.disconnect(PrivateData.NONE, world.now);
                    world.run(200_000 * TwoManagers.MILLIS);
                }
                assertEnded(world, story + " " + Integer.toString(pattern, FATES));
                cases++;
            }
        }
        System.out.println("connection manager: " + cases + " combinations of fates, " + connected + " connected");
        assertThat(connected).isGreaterThan(cases / 4);
    }

    @Test
    void connectionsSurviveAnyWire() {
        int seeds = Boolean.getBoolean("verbena.deep") ? 200_000 : 3_000;
        int established = 0;
        for (int seed = 0; seed < seeds; seed++) {
            var world = new TwoManagers(seed);
            world.loss = world.random.nextDouble() * 0.4;
            world.duplicate = world.random.nextDouble() * 0.5;
            world.call = new CmCall(TwoManagers.SERVICE, 0, 3, 19, 7, 0, 64, 0, 17, 15);
            world.delayMax = 1 + world.random.nextInt(1_500) * TwoManagers.MILLIS;
            world.serve(false, new CmConnection[1]);
            CmConnection a = world.connect(false);
            world.run(world.random.nextInt(20_000) * TwoManagers.MILLIS);
            if (a.state() == State.ESTABLISHED) {
                established++;
            }
            a.disconnect(PrivateData.NONE, world.now);
            world.run(1_000_000 * TwoManagers.MILLIS);
            assertEnded(world, "seed " + seed);
        }
        System.out.println("connection manager: " + seeds + " worlds of two, " + established + " connections made");
        assertThat(established).isGreaterThan(seeds / 2);
    }

    /// Many managers that all connect to each other, disconnect, refuse and forget, at 20 % loss.
    @Test
    void manyManagersConnectToEachOther() {
        int worlds = Boolean.getBoolean("verbena.deep") ? 1_000 : 12;
        long made = 0;
        for (int seed = 0; seed < worlds; seed++) {
            var world = new ManyManagers(12, seed);
            for (int i = 0; i < 2_000; i++) {
                world.something();
            }
            world.heal();
            world.assertNothingIsLeft();
            made += world.established;
        }
        System.out.println("connection manager: " + worlds + " worlds of 12, " + made + " connections made");
        assertThat(made).isGreaterThan(worlds * 200L);
    }

    @Test
    void numbersStayInTheirSlot() {
        var manager = new CommunicationManager(1, 0xA5, new Random(5), CmLimits.DEFAULT);
        var route = new CmRoute(Gid.parse("10.0.0.1"), Gid.parse("10.0.0.2"));
        for (int i = 0; i < 1_000; i++) {
            CmConnection connection = manager.connect(route, TwoManagers.CALL, TwoManagers.END_A, (_, _) -> {}, 0);
            assertThat(connection).isNotNull();
            assertThat(connection.localCommId() >>> 24).isEqualTo(0xA5);
        }
    }
}
