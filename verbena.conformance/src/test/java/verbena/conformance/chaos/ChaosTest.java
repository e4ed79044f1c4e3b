package verbena.conformance.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import verbena.conformance.ProtectedDevice;
import verbena.conformance.fixture.Fixture;
import verbena.verbs.Device;

/// Everything public is promised to any thread: so threads do everything at once, over every device. Some fifteen
/// seconds in all; `-Dverbena.chaos.seconds=N` for longer, `-Dverbena.deep=true` for an hour, `-Dverbena.seed=N` for
/// other actions, and `-Dverbena.chaos.devices=rxe0;siw0` for other devices.
class ChaosTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final int SECONDS = Integer.getInteger("verbena.chaos.seconds", DEEP ? 3_600 : 12);
    private static final long SEED = Long.getLong("verbena.seed", 1);
    private static final String DEVICES = System.getProperty(
            "verbena.chaos.devices",
            "rocev2;iwarp;shm;rocev2,engines=2;rocev2,link=portable;iwarp,link=portable;"
                    + ProtectedDevice.name("offered"));
    /// One storm: long enough for all to be made, short enough for many to end.
    private static final Duration STORM = Duration.ofMillis(DEEP ? 3_000 : 1_500);
    /// So long a run gets round to every action, on a busy machine too.
    private static final int ENOUGH_SECONDS = 600;
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration LOOK = Duration.ofMillis(10);

    @TestFactory
    Stream<DynamicTest> aDeviceStandsWhateverThreadsDo() {
        List<String> devices = List.of(DEVICES.split(";"));
        long storms = Math.max(
                1, 1_000L * SECONDS / (devices.size() * STORM.plusSeconds(1).toMillis()));
        return devices.stream().map(name -> DynamicTest.dynamicTest(name, () -> storms(Device.named(name), storms)));
    }

    private static void storms(Device device, long storms) throws Exception {
        boolean twice = Fixture.opensTwice(device, device);
        Map<String, Long> done = new TreeMap<>();
        // What the process opens once and keeps is open now: the JDK keeps a socket after the first channel, and a
        // device of shared memory keeps the lifeline of this process.
        DatagramChannel.open().close();
        new Storm(Device.named("shm"), true, SEED).calm();
        new Storm(device, twice, SEED).calm();
        List<String> kept = List.of("verbena-lifeline");
        await(() -> kept.containsAll(Storm.deviceThreads()));
        List<String> descriptors = Storm.openDescriptors();
        for (int i = 0; i < storms; i++) {
            new Storm(device, twice, SEED + i)
                    .run(STORM)
                    .forEach((action, times) -> done.merge(action, times, Long::sum));
        }
        // A device that connections share is closed some seconds after all that was on it.
        await(() -> kept.containsAll(Storm.deviceThreads())
                && Storm.openDescriptors().size() <= descriptors.size());
        assertThat(Storm.deviceThreads()).as("threads").isSubsetOf(kept);
        assertThat(Storm.openDescriptors())
                .as("open descriptors, of which there were " + descriptors)
                .hasSizeLessThanOrEqualTo(descriptors.size());
        if (Boolean.getBoolean("verbena.chaos.report")) {
            System.out.println(device.name() + ": " + done);
        }
        if (SECONDS < ENOUGH_SECONDS) {
            return; // a short run need not get round to everything
        }
        assertThat(done.entrySet().stream().filter(each -> each.getValue() == 0))
                .as("actions that have never succeeded")
                .isEmpty();
    }

    /// Waits until something is so, or for as much granted time as it may take.
    private static void await(BooleanSupplier until) throws InterruptedException {
        var never = new CountDownLatch(1);
        var time = new GrantedTime(LOOK);
        while (!until.getAsBoolean() && time.look() < SOON.toNanos()) {
            assertThat(never.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
        }
    }
}
