package verbena.nic;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;
import verbena.nic.link.tap.Tap;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.QueuePair;

/// An opened software device: the methods that it has beyond other contexts, for simulators, tests and tools.
public interface SoftContext extends Context {
    /// Returns a generator of numbers that no peer can guess, cheap enough for every key.
    static RandomGenerator secureRandom() {
        return new SecureNumbers();
    }

    /// Shows `tap` all traffic of this device from now on: packets, or an iWARP device's streams. Any thread, at
    /// any time; a device without a tap runs unchanged. With [faults][verbena.nic.link.FaultyLink], the tap sees
    /// departures before the faults, and arrivals after them.
    void tap(Tap tap);

    /// Detaches `tap`: when this has returned, it is not called again. Does nothing when it is not attached.
    void untap(Tap tap);

    /// Begins to write this device's traffic into a pcapng file. Closing the result ends the capture, and so does
    /// closing the device.
    ///
    /// @throws IOException when the file cannot be written
    AutoCloseable capture(Path file) throws IOException;

    /// Returns the engine's clock.
    long nanoTime();

    /// Does a bounded piece of the engine's work on the calling thread. Returns false when there was nothing to
    /// do, or another thread works already. A device without a thread of its own works only in these calls, and in
    /// verbs that wait.
    boolean drive();

    /// Returns when the engine has to be driven next even if nothing arrives, in the clock's time. [Long#MAX_VALUE]
    /// means that nothing is waited for, a time in the past that there is work now. For the thread that drives.
    long deadlineNanos();

    /// Returns how many PSNs this device's reliable connections to the address `peer` may send now, in the engine
    /// with the least room. Zero or less means that their outstanding packets fill the window that they share, and
    /// further requests wait. Any thread.
    int roomTo(Gid peer);

    /// Sets the keep-alive of a reliable connection: the peer is asked whether it is alive when nothing has come
    /// from it for `silence`; zero for never. It is for queue pairs that were connected without the connection
    /// manager; others have [an option][verbena.verbs.cm.ConnectionParameters#keepAlive()]. RESET ends it. Any
    /// thread.
    ///
    /// @throws IllegalArgumentException when the queue pair is not one of this device, or `silence` is negative
    void keepAlive(QueuePair queuePair, Duration silence);

    /// Returns the first internal error that ended only one queue pair, stream or command; empty when there was
    /// none. A test that drives the device checks it, because nothing is thrown. Any thread.
    Optional<Throwable> containedFailure();

    /// Registers the agent for management datagrams of a class, which queue pair 1 takes from now on. Datagrams of
    /// a class without an agent are dropped.
    ///
    /// @param managementClass 0x01 to 0xFF; the communication manager's is 0x07
    /// @throws IllegalArgumentException when there is no such class, or it is that of subnet management, which has
    ///     a queue pair of its own (IBTA 13.4.4)
    /// @throws verbena.verbs.InvalidStateException when the class has an agent already; its own class has the
    ///     communication manager once that has been used
    /// @throws verbena.verbs.UnsupportedException when this kind of device has no management datagrams
    ManagementPort manage(int managementClass, ManagementAgent agent);
}
