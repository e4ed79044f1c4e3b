package verbena.interop;

import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/// A system that knows nothing of Verbena: the work of its server, and the requests and checks of its client. Each
/// end runs in a process of its own, where the class is made by its name.
public interface SystemUnderTest {
    /// Begins to serve at a free port of loopback.
    Serving serve(Job job) throws Exception;

    /// Uses the server, and compares all data that come back with what they have to be.
    ///
    /// @return what was checked, in a few words
    /// @throws Exception when data differ, or the server does not answer
    String use(InetSocketAddress server, Job job) throws Exception;

    /// Uses a server as fast as it can, and returns the figures of that.
    ///
    /// @return figures by name, the unit at the end of it; none when there is nothing to measure
    default SequencedMap<String, Double> measure(InetSocketAddress server, Job job) throws Exception {
        return new LinkedHashMap<>();
    }

    /// A server.
    ///
    /// @param port where it serves
    /// @param end ends it, in an orderly way
    record Serving(int port, AutoCloseable end) {}
}
