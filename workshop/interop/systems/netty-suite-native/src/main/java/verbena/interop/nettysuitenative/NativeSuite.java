package verbena.interop.nettysuitenative;

import java.net.InetSocketAddress;
import java.util.Arrays;
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

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        var tests = Arrays.stream(NativeTests.class.getDeclaredClasses())
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
