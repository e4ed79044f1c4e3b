package verbena.interop.nettysuitenative;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Map;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;
import verbena.interop.nettysuite.Silence;
import verbena.interop.nettysuite.Suite;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// The suite over Verbena's transport. Both ends of each test are in the client's process.
public final class NativeSuite implements SystemUnderTest {
    private static final String PEER_OF_TCP = "its other end is a socket of the JDK, and there is no way by TCP";
    /// `TransportTest` of `verbena.netty` has the same with both ends over RDMA.
    private static final Map<String, String> EXCEPTIONS = Map.of(
            Suite.NEEDS_OPENSSL,
            "OpenSSL is not there",
            "SocketChannelNotYetConnectedTest#readMustBePendingUntilChannelIsActive",
            PEER_OF_TCP,
            "SocketShutdownOutputBySelfTest#testShutdownOutput",
            PEER_OF_TCP,
            "SocketShutdownOutputBySelfTest#testShutdownOutputAfterClosed",
            PEER_OF_TCP,
            "SocketShutdownOutputBySelfTest#testShutdownOutputSoLingerNoAssertError",
            PEER_OF_TCP,
            "SocketShutdownOutputBySelfTest#testShutdownSoLingerNoAssertError",
            PEER_OF_TCP);

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
                EventChannel events = EventChannel.openNearest();
                ConnectionId silent = events.createId(PortSpace.TCP)) {
            silent.bind(silence.at());
            silent.listen(1); // and nobody takes its events
            return new Suite(tests, EXCEPTIONS).run(job);
        } finally {
            NativeChannels.ALL.way.end();
        }
    }
}
