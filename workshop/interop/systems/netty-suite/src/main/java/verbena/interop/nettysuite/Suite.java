package verbena.interop.nettysuite;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import verbena.interop.Job;

/// A run of the tests: each passes, or is an exception whose reason is known. An exception that passes is a failure
/// too, so that the list stays true.
///
/// @param exceptions the reason why it cannot pass, by class and method of the suite
public record Suite(List<? extends DiscoverySelector> tests, Map<String, String> exceptions) {
    /// One of its cases is with the native library, whether that is there or not.
    public static final String NEEDS_OPENSSL = "SocketSslSessionReuseTest#testSslSessionTrustManagerResumption";
    /// Tests of what has no streams.
    private static final String OTHERS = ".*(Datagram|UDT|Sctp|DefaultEventLoop).*";
    /// Tests of handlers above any transport, which take half of the time.
    private static final String LONG = ".*(SslEcho|StartTls|TrafficShaping).*";
    /// For tests that do not say how long they may take.
    private static final String PATIENCE = "60 s";

    /// Runs them, and says how many there were.
    ///
    /// @throws AssertionError when one fails that has to pass, or the other way round
    public String run(Job job) throws IOException {
        var found = new Found(exceptions);
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(tests)
                                .filters(ClassNameFilter.excludeClassNamePatterns(
                                        job.isSmall() ? new String[] {OTHERS, LONG} : new String[] {OTHERS}))
                                .configurationParameter("junit.jupiter.execution.timeout.default", PATIENCE)
                                .build(),
                        found);
        job.halfway();
        var wrong = new ArrayList<>(found.wrong);
        exceptions.keySet().stream()
                .filter(name -> !found.excepted.contains(name))
                .forEach(name -> wrong.add(name + " passes, or is not there: it is no exception any more"));
        if (!wrong.isEmpty()) {
            throw new AssertionError(String.join("; ", wrong));
        }
        return found.passed + " tests, " + found.skipped + " that the suite skips, " + exceptions.size()
                + " exceptions";
    }

    /// What has become of the tests.
    private static final class Found implements TestExecutionListener {
        private final Map<String, String> exceptions;
        private final List<String> wrong = new ArrayList<>();
        private final Set<String> excepted = new HashSet<>();
        private int passed;
        private int skipped;

        Found(Map<String, String> exceptions) {
            this.exceptions = exceptions;
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            skipped++;
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            String name = name(test);
            if (result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
                passed += test.isTest() ? 1 : 0;
            } else if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
                skipped++;
            } else if (exceptions.containsKey(name)) {
                excepted.add(name);
            } else {
                wrong.add(name + ": " + result.getThrowable().map(Found::why).orElse("failed"));
            }
        }

        private static String why(Throwable thrown) {
            return thrown.getCause() == null ? thrown.toString() : thrown + ": " + thrown.getCause();
        }

        private static String name(TestIdentifier test) {
            if (test.getSource().orElse(null) instanceof MethodSource at) {
                return at.getJavaMethod().getDeclaringClass().getSimpleName() + "#" + at.getMethodName();
            }
            return test.getDisplayName();
        }
    }
}
