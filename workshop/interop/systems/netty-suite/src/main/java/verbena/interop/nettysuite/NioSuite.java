package verbena.interop.nettysuite;

import java.net.InetSocketAddress;
import java.util.List;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;

/// The suite over Netty's transport for `java.nio`, to which the agent gives other channels. Both ends of each test
/// are in the client's process.
public final class NioSuite implements SystemUnderTest {
    /// Made by its name.
    public NioSuite() {}

    @Override
    public Serving serve(Job job) {
        return new Serving(0, () -> {});
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        var tests = List.of(DiscoverySelectors.selectPackage("io.netty.testsuite.transport"));
        try (var _ = new Silence()) {
            return new Suite(tests).run(job);
        }
    }
}
