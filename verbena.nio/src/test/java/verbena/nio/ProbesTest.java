package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import verbena.nio.ProbeWorld.Ends;
import verbena.nio.Probes.Call;
import verbena.nio.Probes.Deliberate;
import verbena.nio.Probes.State;

/// What every call of `SocketChannel`, `ServerSocketChannel`, `Selector` and `SelectionKey`, and of the sockets of
/// channels, does in every state: by the JDK's own channels, and by ours over RDMA, over TCP, and over RDMA after they
/// have begun by TCP. By default a third of the probes is drawn (`-Dverbena.draw=N`); the others, and all, with
/// `-Dverbena.deep=true`.
@ExtendWith(BesideBusyThreads.class)
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class ProbesTest {
    private static final Deliberate BROKEN_PIPE = new Deliberate(
            "peer closed: (write|out.write).*",
            "the peer has said that it reads nothing more, so the first write fails and not the second",
            Ends.BOTH_OURS,
            Ends.MOVED);
    private static final Deliberate WORDS = new Deliberate(
            ".*reset.*: (write|out.write).*",
            "the exception is a SocketException, with more words",
            Ends.BOTH_OURS,
            Ends.MOVED);
    private static final Deliberate URGENT =
            new Deliberate(".*: sendUrgentData", "there is none over RDMA", Ends.BOTH_OURS, Ends.MOVED);
    private static final Deliberate UNCONNECTED = new Deliberate(
            "(empty|not connected): .*",
            "a channel without a connection is not ready; Linux takes it for hung up",
            Ends.BOTH_OURS,
            Ends.MOVED,
            Ends.ONE_OURS);
    private static final Deliberate WHOLE = new Deliberate(
            "(virtual )?thread, .*: write(\\[\\])?",
            "a write that cannot hand over all of it does not return a part, in a virtual thread neither",
            Ends.BOTH_OURS,
            Ends.MOVED,
            Ends.ONE_OURS);
    private static final Deliberate AT_ONCE = new Deliberate(
            ".*, interest grows: .*",
            "it counts at once, not with the next selection",
            Ends.BOTH_OURS,
            Ends.MOVED,
            Ends.ONE_OURS);

    /// The first connection opens a device.
    @BeforeAll
    static void begin() throws IOException {
        try (var pair = Providers.Pair.of(Ends.BOTH_OURS.tried())) {
            assertThat(pair.client().toString()).doesNotContain("TCP");
        }
    }

    @ParameterizedTest
    @EnumSource(value = Ends.class, mode = EnumSource.Mode.EXCLUDE, names = "JDK")
    void socketChannels(Ends ours) throws Exception {
        compare(ours, SocketProbes.states(), SocketProbes.calls(), BROKEN_PIPE, WORDS);
    }

    @ParameterizedTest
    @EnumSource(value = Ends.class, mode = EnumSource.Mode.EXCLUDE, names = "JDK")
    void socketsOfChannels(Ends ours) throws Exception {
        compare(ours, SocketProbes.states(), AdaptorProbes.calls(), BROKEN_PIPE, WORDS, URGENT);
    }

    @ParameterizedTest
    @EnumSource(value = Ends.class, mode = EnumSource.Mode.EXCLUDE, names = "JDK")
    void serverSocketChannels(Ends ours) throws Exception {
        compare(ours, ServerProbes.states(), ServerProbes.calls());
    }

    @ParameterizedTest
    @EnumSource(value = Ends.class, mode = EnumSource.Mode.EXCLUDE, names = "JDK")
    void selectorsAndKeys(Ends ours) throws Exception {
        compare(ours, SelectorProbes.states(), SelectorProbes.calls(), UNCONNECTED);
    }

    @ParameterizedTest
    @EnumSource(value = Ends.class, mode = EnumSource.Mode.EXCLUDE, names = "JDK")
    void callsThatWait(Ends ours) throws Exception {
        var probes = new Probes(ours, List.of(WHOLE, AT_ONCE));
        WaitProbes.tryAll(probes);
        check(probes);
    }

    private static void compare(Ends ours, Map<String, State> states, Map<String, Call> calls, Deliberate... deliberate)
            throws Exception {
        var probes = new Probes(ours, List.of(deliberate));
        probes.tryEach(states, calls);
        check(probes);
    }

    private static void check(Probes probes) {
        assertThat(probes.differences()).isEmpty();
        assertThat(probes.unseen()).as("no difference any more").isEmpty();
    }
}
