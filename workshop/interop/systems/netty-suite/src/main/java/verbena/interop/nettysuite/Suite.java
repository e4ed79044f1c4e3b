package verbena.interop.nettysuite;

import io.netty.testsuite.transport.AbstractComboTestsuiteTest;
import io.netty.testsuite.transport.AbstractTestsuiteTest;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import verbena.interop.Job;

/// A run of the tests: each passes.
public record Suite(List<? extends DiscoverySelector> tests) {
    /// Tests of what has no streams.
    private static final String OTHERS = ".*(Datagram|UDT|Sctp|DefaultEventLoop).*";
    /// Tests of handlers above any transport, which take two thirds of the time.
    private static final String LONG = ".*(SslEcho|SslLargeCertificate|StartTls|TrafficShaping).*";
    /// For tests that do not say how long they may take.
    private static final String PATIENCE = "60 s";

    /// Returns Netty's classes of tests of streams, for any transport that gives them its channels.
    public static List<Class<?>> ofStreams() {
        return ReflectionSupport.findAllClassesInPackage(
                "io.netty.testsuite.transport.socket",
                each -> !Modifier.isAbstract(each.getModifiers())
                        && (AbstractTestsuiteTest.class.isAssignableFrom(each)
                                || AbstractComboTestsuiteTest.class.isAssignableFrom(each)),
                name -> name.endsWith("Test") && !name.matches(OTHERS));
    }

    /// Runs them, and says how many there were.
    ///
    /// @throws AssertionError when one fails
    public String run(Job job) throws IOException {
        var found = new Found(job);
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
        if (!found.wrong.isEmpty()) {
            throw new AssertionError(String.join("; ", found.wrong));
        }
        return found.passed + " tests, " + found.skipped + " skipped";
    }

    /// What has become of the tests.
    private static final class Found implements TestExecutionListener {
        private final Job job;
        private final List<String> wrong = new ArrayList<>();
        private int passed;
        private int skipped;

        private Found(Job job) {
            this.job = job;
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            skipped++;
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (test.isTest()) {
                job.done(name(test));
            }
            if (result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
                passed += test.isTest() ? 1 : 0;
            } else if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
                skipped++;
            } else {
                wrong.add(name(test) + ": "
                        + result.getThrowable().map(Found::why).orElse("failed"));
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
