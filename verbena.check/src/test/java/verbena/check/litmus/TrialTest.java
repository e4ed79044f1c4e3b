package verbena.check.litmus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.check.litmus.Litmus.Variant;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.UnsupportedException;

/// Litmus programs on devices: no outcome is seen that the model does not have.
@Timeout(120)
class TrialTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final int RUNS = DEEP ? 2_000 : 12;

    /// Each program on one strong device, and in the deep run on all. iWARP has no FLUSH.
    static Stream<Arguments> programs() {
        List<String> devices = List.of("rocev2", "shm", "iwarp");
        var programs = new ArrayList<Arguments>();
        for (Litmus litmus : Litmuses.all()) {
            for (Variant variant : litmus.variants()) {
                List<String> able = devices.subList(0, flushes(variant) ? 2 : 3);
                String one = able.get(programs.size() % able.size());
                for (String device : DEEP ? able : List.of(one)) {
                    programs.add(Arguments.of(device, litmus.name(), variant));
                }
            }
        }
        return programs.stream();
    }

    private static boolean flushes(Variant variant) {
        return variant.program().threads().stream()
                .flatMap(thread -> thread.steps().stream())
                .anyMatch(step -> step instanceof Step.Post post && post.verb() == Step.Verb.FLUSH);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("programs")
    void aStrongDeviceShowsNothingElseThanTheModel(String device, String name, Variant variant)
            throws InterruptedException {
        Set<Ending> allowed = Answer.outcomes(variant, Profile.of(device).freedoms());
        try (Trial trial = Trial.of(Device.named(device), variant, 1)) {
            Trial.Seen seen = trial.run(RUNS, _ -> false);
            assertThat(seen.runs() + seen.without()).isEqualTo(RUNS);
            assertThat(allowed).as(name).containsAll(seen.counts().keySet());
            assertThat(seen.counts().values().stream()
                            .mapToInt(Integer::intValue)
                            .sum())
                    .isEqualTo(seen.runs());
        }
    }

    /// What was made before is closed, and that does not hide the reason.
    @Test
    void aDeviceWithoutFlushSaysSo() {
        Variant variant = Litmuses.all().stream()
                .flatMap(litmus -> litmus.variants().stream())
                .filter(TrialTest::flushes)
                .findFirst()
                .orElseThrow();
        assertThatThrownBy(() -> Trial.of(Device.named("iwarp"), variant, 1).close())
                .isInstanceOf(UnsupportedException.class)
                .hasNoSuppressedExceptions();
    }

    /// A program that needs what a device has not fails before it runs, and not in one of its threads.
    @ParameterizedTest
    @CsvSource({"message-passing, IMMEDIATE_DATA", "ticket-lock, ATOMICS"})
    void aDeviceWithoutAVerbSaysSo(String name, Capability missing) {
        Variant variant = Litmuses.named(name).variants().getLast();
        assertThatThrownBy(() -> Trial.of(without(missing), variant, 1).close())
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining(missing.name())
                .hasNoSuppressedExceptions();
    }

    private static Device without(Capability missing) {
        Device shm = Device.named("shm");
        return (Device) instead(Device.class, shm, "open", () -> {
            Context context = shm.open();
            DeviceAttributes attributes = context.attributes();
            Set<Capability> others = EnumSet.copyOf(attributes.capabilities());
            others.remove(missing);
            Object less = instead(
                    Context.class,
                    context,
                    "attributes",
                    () -> new DeviceAttributes(
                            attributes.identity(),
                            attributes.queues(),
                            attributes.memory(),
                            attributes.transport(),
                            attributes.datagrams(),
                            attributes.clock(),
                            attributes.physicalPorts(),
                            attributes.maxPkeys(),
                            others));
            return instead(Context.class, less, "allocateProtectionDomain", () -> {
                throw new AssertionError("nothing is made on a device that cannot run the program");
            });
        });
    }

    private static Object instead(Class<?> type, Object of, String method, Supplier<Object> result) {
        return Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (_, called, arguments) ->
                        called.getName().equals(method) ? result.get() : called.invoke(of, arguments));
    }

    @Test
    void runsEndWhenEnoughHasBeenSeen() throws InterruptedException {
        Variant variant = Litmuses.named("buffer-reuse").variants().getLast();
        try (Trial trial = Trial.of(Device.named("shm"), variant, 1)) {
            Trial.Seen seen = trial.run(1_000, outcomes -> !outcomes.isEmpty());
            assertThat(seen.runs()).isEqualTo(1);
            assertThat(seen.counts()).containsExactly(Map.entry(new Ending(List.of(1)), 1));
        }
    }

    @Test
    void bothHalvesOfAWordGoThereAndBack() {
        for (int value : new int[] {0, 1, 15, 16, 0x11, 0xf0, 255}) {
            assertThat(TrialNode.decoded(TrialNode.encoded(value))).isEqualTo(value);
        }
        assertThat(TrialNode.encoded(0x21)).isEqualTo(0x2_0000_0001L);
    }

    @Test
    void aDeviceIsKnownByItsName() {
        assertThat(Profile.of("rocev2@127.0.0.1,mtu=1024").freedoms()).isEqualTo(ModelFreedom.of(Level.STRONG));
        assertThat(Profile.of("shm").text()).isEqualTo("strong");
        assertThat(Profile.of("iwarp").freedoms())
                .contains(ModelFreedom.LATE_VISIBILITY)
                .hasSize(ModelFreedom.of(Level.STRONG).size() + 1);
        assertThat(Profile.of("rxe0").text()).isEqualTo("strong, but split-atomics");
        assertThat(Profile.of("siw0")).isEqualTo(Profile.of("iwarp"));
        assertThat(Profile.of("mlx5_0").freedoms()).isEqualTo(ModelFreedom.of(Level.CARD));
    }
}
