package verbena.check.litmus;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.check.litmus.Litmus.Variant;
import verbena.verbs.Device;

/// Litmus programs on the weakest device: it shows no outcome that the model does not have, and with some seeds it
/// shows each that the model has.
@Timeout(180)
class WeakTrialTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final int SEEDS = DEEP ? 40 : 6;
    private static final int RUNS_PER_SEED = 500;

    /// The outcomes that the device never shows, by the values of what is asked. It carries out atomics in order
    /// with the WRITEs behind them. It takes one stretch of a READ anew, and so no word between two that are newer.
    private static final Map<String, Set<List<Integer>>> NOT_SHOWN = Map.of(
            "atomic-then-write: ", Set.of(List.of(4)),
            "seqlock: ", Set.of(List.of(2, 0, 1)),
            "seqlock: Two READs: version and data, then the version again", Set.of(List.of(2, 2, 0, 1)));

    /// The programs with an outcome that needs thousands of runs: only the deep run waits for it.
    private static final Set<String> RARE = Set.of(
            "load-buffering: ",
            "store-buffering: Each waits for its WRITE's completion",
            "seqlock: ",
            "seqlock: Two READs: version and data, then the version again",
            "seqlock: Three READs: version, data, version");

    static Stream<Arguments> programs() {
        List<String> devices = List.of("shm,weak=standard", "rocev2,weak=card");
        var programs = new ArrayList<Arguments>();
        for (Litmus litmus : Litmuses.all()) {
            for (Variant variant : litmus.variants()) {
                String one = devices.get(programs.size() % devices.size());
                // Halves of words are torn by the standard alone.
                one = litmus.name().equals("torn-word") ? devices.getFirst() : one;
                for (String device : DEEP ? devices : List.of(one)) {
                    programs.add(Arguments.of(device, litmus.name() + ": " + variant.title(), variant));
                }
            }
        }
        return programs.stream();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("programs")
    void theWeakestDeviceShowsWhatTheModelHas(String device, String name, Variant variant) throws InterruptedException {
        SortedSet<Ending> allowed = Answer.outcomes(variant, Profile.of(device).freedoms());
        var wanted = new TreeSet<>(allowed);
        NOT_SHOWN.getOrDefault(name, Set.of()).forEach(values -> wanted.remove(new Ending(values)));
        boolean isRare = RARE.contains(name) && !DEEP;
        var seen = new TreeSet<Ending>();
        for (int seed = 1; seed <= (isRare ? 1 : SEEDS) && !seen.containsAll(wanted); seed++) {
            seen.addAll(
                    run(device + ",seed=" + seed, variant, isRare ? RUNS_PER_SEED / 5 : RUNS_PER_SEED, seen, wanted));
        }
        assertThat(allowed).as("what the model has").containsAll(seen);
        if (!isRare) {
            assertThat(seen).as("what the device has shown").containsAll(wanted);
        }
    }

    private static Set<Ending> run(String device, Variant variant, int runs, Set<Ending> before, Set<Ending> wanted)
            throws InterruptedException {
        try (Trial trial = Trial.of(Device.named(device), variant, 1)) {
            return trial.run(
                            runs,
                            now -> Stream.concat(before.stream(), now.stream())
                                    .toList()
                                    .containsAll(wanted))
                    .counts()
                    .keySet();
        }
    }

    /// Otherwise the tests of strong devices could not fail.
    @Test
    void aDeviceThatIsWeakerThanItsProfileIsFound() throws InterruptedException {
        Variant variant = Litmuses.named("write-then-look").variants().getFirst();
        SortedSet<Ending> strong = Answer.outcomes(variant, ModelFreedom.of(Level.STRONG));
        Set<Ending> seen = run(
                "shm,weak=late-visibility,seed=5",
                variant,
                5 * RUNS_PER_SEED,
                Set.of(),
                Answer.outcomes(variant, ModelFreedom.of(Level.CARD)));
        assertThat(strong.containsAll(seen)).isFalse();
    }

    @Test
    void aWeakDeviceIsKnownByItsName() {
        Profile single = Profile.of("rocev2@127.0.0.1,weak=late-visibility,torn,seed=7,mtu=1024");
        assertThat(single.isWeak()).isTrue();
        assertThat(single.text()).isEqualTo("weak: late-visibility, torn");
        var freedoms = new TreeSet<>(ModelFreedom.of(Level.STRONG));
        freedoms.addAll(List.of(ModelFreedom.LATE_VISIBILITY, ModelFreedom.TORN));
        assertThat(single.freedoms()).isEqualTo(freedoms);
        assertThat(Profile.of("shm,weak=card").freedoms()).isEqualTo(ModelFreedom.of(Level.CARD));
        assertThat(Profile.of("shm,weak=standard,seed=3").freedoms())
                .contains(ModelFreedom.TORN_WORDS)
                .doesNotContain(ModelFreedom.UNORDERED_WRITES);
    }
}
