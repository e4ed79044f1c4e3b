package verbena.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import verbena.verbs.Device;

/// The suite over the devices of this build: all of it over system calls and shared memory, and over the JDK's
/// channels, where cards are weak, and with encrypted packets, the topics that send anything.
class SuiteTest {
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
        List<Case> all = Suite.cases(System.getProperty("verbena.conform", ""));
        List<Case> loud = all.stream()
                .filter(each -> !QUIET_TOPICS.contains(each.topic()))
                .toList();
        return Stream.of(
                tests("rocev2", all),
                tests("iwarp", all),
                tests("shm", all),
                tests("rocev2,link=portable", loud),
                tests(ProtectedDevice.name("on"), loud),
                tests("iwarp,link=portable", loud),
                tests("rocev2,weak=standard,seed=7", loud));
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
