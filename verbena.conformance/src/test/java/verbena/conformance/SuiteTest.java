package verbena.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import verbena.verbs.Device;

/// The suite over the devices of this build: all of it over system calls and shared memory, and over the JDK's
/// channels, where cards are weak, and with encrypted packets, the topics that send anything. By default each case
/// runs over one device of the first three, and one or two of the others, as they are drawn (`-Dverbena.draw=N`). With
/// `-Dverbena.deep=true` each runs over all, and so do the cases that `-Dverbena.conform=PATTERN` names.
class SuiteTest {
    private static final int SHARES = 3;

    private static final Set<String> QUIET_TOPICS = Set.of(
            "devices",
            "capabilities",
            "domains",
            "regions",
            "windows",
            "queuePairs",
            "stateChanges",
            "posting",
            "limits");

    @TestFactory
    Stream<DynamicContainer> whatTheVerbsPromiseIsKept() {
        String pattern = System.getProperty("verbena.conform", "");
        List<Case> all = Suite.cases(pattern);
        boolean isWhole = Boolean.getBoolean("verbena.deep") || !pattern.isEmpty();
        List<Case> loud = all.stream()
                .filter(each -> !QUIET_TOPICS.contains(each.topic()))
                .toList();
        return Stream.of(
                tests("rocev2", isWhole ? all : share(all, 0)),
                tests("iwarp", isWhole ? all : share(all, 1)),
                tests("shm", isWhole ? all : share(all, 2)),
                tests("rocev2,link=portable", isWhole ? loud : share(loud, 0)),
                tests(ProtectedDevice.name("on"), isWhole ? loud : share(loud, 1)),
                tests("iwarp,link=portable", isWhole ? loud : share(loud, 1)),
                tests("rocev2,weak=standard,seed=7", isWhole ? loud : share(loud, 2)));
    }

    /// Returns a third of the cases: the shares of three devices are all of them.
    private static List<Case> share(List<Case> cases, int device) {
        int first = (Integer.getInteger("verbena.draw", 0) + device) % SHARES;
        return IntStream.iterate(first, i -> i < cases.size(), i -> i + SHARES)
                .mapToObj(cases::get)
                .toList();
    }

    private static DynamicContainer tests(String name, List<Case> cases) {
        var suite = new Suite(Device.named(name), Suite.kindOf(name));
        return DynamicContainer.dynamicContainer(
                name, cases.stream().map(each -> DynamicTest.dynamicTest(each.name(), () -> isKept(suite.run(each)))));
    }

    private static void isKept(Result result) {
        switch (result.outcome()) {
            case Outcome.Kept kept ->
                assertThat(kept.unexpectedly()).as("is declared not to be so").isFalse();
            case Outcome.Broken broken ->
                throw new AssertionError(broken.what() + "\n" + String.join("\n", broken.log()));
            case Outcome.NotSupported _, Outcome.Deviates _ -> {} // declared
        }
    }
}
