package verbena.interop.nettysuitenative;

import java.net.InetSocketAddress;
import java.util.Comparator;
import java.util.List;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;
import verbena.interop.nettysuite.Silence;
import verbena.interop.nettysuite.Suite;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.DeviceChoice;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// The suite over Verbena's transport. Both ends of each test are in the client's process.
public final class NativeSuite implements SystemUnderTest {
    /// Made by its name.
    public NativeSuite() {}

    @Override
    public Serving serve(Job job) {
        return new Serving(0, () -> {});
    }

    /// A new version of Netty may bring tests that nobody has named in [NativeTests].
    private static void expectAll(List<Class<?>> ours) {
        List<String> taken = ours.stream()
                .map(each -> each.getSuperclass().getSimpleName().replaceFirst("^Abstract", ""))
                .toList();
        List<String> missing = Suite.ofStreams().stream()
                .map(Class::getSimpleName)
                .filter(each -> !taken.contains(each))
                .toList();
        if (!missing.isEmpty()) {
            throw new AssertionError("not tried over our channels: " + missing);
        }
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        List<Class<?>> ours = List.of(NativeTests.class.getDeclaredClasses());
        expectAll(ours);
        // By name, so that those of the event loop, which have 1.5 s, are not the first and load no classes of Netty.
        var tests = ours.stream()
                .sorted(Comparator.comparing(Class::getSimpleName))
                .map(DiscoverySelectors::selectClass)
                .toList();
        try (var silence = new Silence();
                EventChannel events = EventChannel.open(DeviceChoice.nearest());
                ConnectionId silent = events.createId(PortSpace.TCP)) {
            silent.bind(silence.at());
            silent.listen(1); // and nobody takes its events
            StreamSocket.replaceAll(NativeChannels.ALL.way.options());
            return new Suite(tests).run(job);
        } finally {
            NativeChannels.ALL.way.end();
        }
    }
}
