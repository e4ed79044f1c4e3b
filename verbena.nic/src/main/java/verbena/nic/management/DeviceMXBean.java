package verbena.nic.management;

import java.util.List;
import java.util.Map;

/// An opened device, for management by JMX, as `verbena:type=Device,name=NAME,id=N`. It is registered until the
/// device is closed: the first of a process five seconds after it was opened, and later ones at once.
///
/// Any thread may call it. Reading takes no lock of the device and never waits, so it also works for a device that
/// has stopped. Values that belong together may be a moment apart.
///
/// @since 0.1
public interface DeviceMXBean {
    /// The first part of the [javax.management.ObjectName] of each device.
    String DOMAIN = "verbena";

    /// Returns the name, as [verbena.verbs.Device#name()] does.
    String getName();

    /// Returns the process identifier.
    long getPid();

    /// Returns the time when the device was opened, in milliseconds since 1970.
    long getOpenedMillis();

    /// Returns `INFINIBAND` or `IWARP`.
    String getTransport();

    /// Returns the node GUID as 16 hexadecimal digits.
    String getNodeGuid();

    /// Returns the state of port 1, `ACTIVE` or `DOWN`, or the reason why the device has stopped.
    String getState();

    /// Returns the active MTU in bytes.
    int getActiveMtu();

    /// Returns the GID table of port 1.
    List<String> getGids();

    /// Returns the counters, as [verbena.verbs.Context#counters()] does.
    Map<String, Long> getCounters();

    /// Returns the queue pairs in the order of their numbers.
    List<QueuePairStatus> getQueuePairs();

    /// Returns the peers of a device that encrypts packets, with their keys; none for another device.
    List<PeerStatus> getPeers();

    /// Begins to capture the device's traffic; returns the capture's number. The client fetches the capture in
    /// pieces. The capture ends when the client has fetched nothing for more than ten seconds.
    ///
    /// @param bufferBytes the most bytes that wait to be fetched, 64 KiB to 1 GiB; packets without room are lost
    ///     and counted
    /// @param packetBytesMax the most bytes kept of a RoCE packet, from its BTH on: at least 64
    /// @throws IllegalArgumentException when a number is out of range
    long startCapture(int bufferBytes, int packetBytesMax);

    /// Fetches captured blocks.
    ///
    /// @param enough bytes to return, about
    /// @throws IllegalArgumentException when there is no such capture
    CaptureChunk readCapture(long id, int enough);

    /// Ends a capture and releases its memory. Does nothing when there is no such capture.
    void stopCapture(long id);

    /// Returns the clock for computing rates, in nanoseconds.
    long getNanoTime();
}
