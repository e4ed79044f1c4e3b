package verbena.nic;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;
import verbena.nic.link.Tap;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.QueuePair;

/// An opened software device: what it has beyond other contexts, for simulators, tests and tools.
public interface SoftContext extends Context {
    /// Numbers that no peer can guess, cheap enough for every key.
    static RandomGenerator secureRandom() {
        return new SecureNumbers();
    }

    /// Shows `tap` everything that this device sends and receives from now on: packets, or an iWARP device's
    /// streams. Any thread, at any time; of a device that nobody taps nothing is different. Where
    /// [FaultyLink][verbena.nic.link.FaultyLink] has its hand in, the tap sees what the engine sends before and
    /// receives behind it.
    void tap(Tap tap);

    /// Shows it nothing any more: when this has returned, it is not called again. Not attached: does nothing.
    void untap(Tap tap);

    /// Begins to write what this device sends and receives into a pcapng file; closing what this gives ends that,
    /// and so does closing the device.
    ///
    /// @throws IOException when the file cannot be written
    AutoCloseable capture(Path file) throws IOException;

    /// The engine's clock.
    long nanoTime();

    /// Does a bounded piece of the engine's work on the calling thread; false when there was nothing to do, or
    /// somebody else is at it. Without a thread of its own the device does nothing else but what a call of this
    /// does, except that a verb that waits drives it too.
    boolean drive();

    /// When the engine has to be driven next though nothing arrives, in the clock's time: [Long#MAX_VALUE] when
    /// nothing is waited for, the past when something is to be done now. For whoever drives.
    long deadlineNanos();

    /// How many PSNs the reliable connections of this device to the address `peer` may send now, in the engine
    /// where that is the least. Zero or less: what they have under way fills the window that they share, and
    /// whoever has something to send waits. Any thread.
    int roomTo(Gid peer);

    /// From now on the peer of a reliable connection is asked whether it lives when nothing has come from it for
    /// `silence`; zero: never. For a queue pair that was connected without the connection manager, what
    /// [its option][verbena.verbs.cm.ConnectionParameters#keepAlive()] does for others. RESET ends it. Any thread.
    ///
    /// @throws IllegalArgumentException when the queue pair is not one of this device, or `silence` is negative
    void keepAlive(QueuePair queuePair, Duration silence);

    /// The first mistake of our own that ended one queue pair, stream or command, and not the device; empty when all
    /// is well. A test that drives the device looks at this, because nothing is thrown. Any thread.
    Optional<Throwable> containedFailure();

    /// Becomes the agent for management datagrams of a class: from now on queue pair 1 takes them. Until somebody
    /// does they are dropped.
    ///
    /// @param managementClass 0x01 to 0xFF; the communication manager's is 0x07
    /// @throws IllegalArgumentException when there is no such class, or it is that of subnet management, which has
    ///     a queue pair of its own (IBTA 13.4.4)
    /// @throws InvalidStateException when there is an agent for it already: the communication manager is, once it
    ///     has been used
    /// @throws UnsupportedException when this kind of device has no management datagrams
    ManagementPort manage(int managementClass, ManagementAgent agent);
}
