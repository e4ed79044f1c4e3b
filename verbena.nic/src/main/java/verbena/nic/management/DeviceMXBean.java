package verbena.nic.management;

import java.util.List;
import java.util.Map;

/// An opened device, as `verbena:type=Device,name=NAME,id=N`. Registered a second after the first device of a
/// process was opened, later ones at once; gone when the device is closed.
///
/// Reading takes no lock of the device and waits for nobody, so it answers for a device that stands still as well.
/// What belongs together may be a moment apart.
public interface DeviceMXBean {
    /// The first part of every [javax.management.ObjectName] of these.
    String DOMAIN = "verbena";

    /// As [verbena.verbs.Device#name()].
    String getName();

    /// The process.
    long getPid();

    /// When it was opened, milliseconds since 1970.
    long getOpenedMillis();

    /// `INFINIBAND` or `IWARP`.
    String getTransport();

    /// 16 hexadecimal digits.
    String getNodeGuid();

    /// `ACTIVE` or `DOWN` of port 1, or why the device stands still.
    String getState();

    /// Bytes.
    int getActiveMtu();

    /// The GID table of port 1.
    List<String> getGids();

    /// As [verbena.verbs.Context#counters()].
    Map<String, Long> getCounters();

    /// In the order of their numbers.
    List<QueuePairStatus> getQueuePairs();

    /// Begins to capture what the device sends and receives; returns the capture's number. Whoever has begun it
    /// takes it in pieces, and does not stay away for longer than ten seconds: it ends then.
    ///
    /// @param bufferBytes that wait to be taken at most, 64 KiB to 1 GiB; what has no room is lost, and counted
    /// @param packetBytesMax that are kept of a packet of RoCE, from its BTH on: 64 and more
    long startCapture(int bufferBytes, int packetBytesMax);

    /// Takes what has been captured; some `enough` bytes of it.
    ///
    /// @throws IllegalArgumentException when there is no such capture
    CaptureChunk readCapture(long id, int enough);

    /// Ends a capture and gives back all it has. No such capture: does nothing.
    void stopCapture(long id);

    /// The clock that rates are counted by, in nanoseconds.
    long getNanoTime();
}
