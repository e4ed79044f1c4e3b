package verbena.tools.kit;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.DeviceChoice;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// An event channel as the tools use it: on a device of choice, or on the device that has the address. No wait for a
/// peer that has gone lasts for ever. For one thread.
public final class CmChannel implements AutoCloseable {

    private final @Nullable Context device;
    private final boolean isNearest;
    private final boolean ownsDevice;
    private final Duration timeout;
    private final Consumer<ConnectionEvent> witness;
    private EventChannel channel;

    /// Opens a channel whose connections to one address all have one device.
    ///
    /// @param device its name; null for the device that has the address
    /// @param timeout how long to wait for an event of a connection that is being made or ended
    /// @param witness is shown every event
    public CmChannel(@Nullable String device, Duration timeout, Consumer<ConnectionEvent> witness) {
        this(device == null ? null : Device.named(device).open(), false, true, timeout, witness);
    }

    /// Opens such a channel. Without a device name, connections within this host go through its memory where both
    /// ends can.
    public static CmChannel nearest(@Nullable String device, Duration timeout, Consumer<ConnectionEvent> witness) {
        return new CmChannel(device == null ? null : Device.named(device).open(), true, true, timeout, witness);
    }

    private CmChannel(
            @Nullable Context device,
            boolean isNearest,
            boolean ownsDevice,
            Duration timeout,
            Consumer<ConnectionEvent> witness) {
        this.device = device;
        this.isNearest = isNearest;
        this.ownsDevice = ownsDevice;
        this.timeout = timeout;
        this.witness = witness;
        channel = newChannel();
    }

    private EventChannel newChannel() {
        if (device != null) {
            return EventChannel.open(device);
        }
        return isNearest ? EventChannel.open(DeviceChoice.nearest()) : EventChannel.open();
    }

    /// Returns the address of the device of choice; empty for the device that has the address.
    public Optional<InetAddress> address() {
        return Optional.ofNullable(device)
                .flatMap(chosen -> chosen.gids(1).stream()
                        .map(GidEntry::gid)
                        .filter(gid -> !gid.isLinkLocal())
                        .map(Gid::address)
                        .findFirst());
    }

    /// Returns another channel on the same device, for another thread.
    public CmChannel another() {
        return new CmChannel(device, isNearest, false, timeout, witness);
    }

    public ConnectionId newId(PortSpace space) {
        return channel.createId(space);
    }

    /// Takes an identifier over from another channel.
    public void adopt(ConnectionId id) {
        id.migrate(channel);
    }

    /// Moves to a new event channel, with these identifiers, which have to be all.
    public void renew(List<ConnectionId> ids) {
        EventChannel before = channel;
        channel = newChannel();
        ids.forEach(this::adopt);
        before.close();
    }

    /// Waits for the next event, however long it takes, and returns it.
    public ConnectionEvent awaitAny() throws InterruptedException {
        ConnectionEvent event = channel.await();
        witness.accept(event);
        return event;
    }

    /// Returns the next event.
    ///
    /// @param what is waited for, for the message
    /// @throws CommandFailed when none comes in time
    public ConnectionEvent await(String what) throws InterruptedException {
        return seen(channel.await(timeout))
                .orElseThrow(() -> new CommandFailed(what + ": nothing heard for " + timeout.toSeconds() + " s"));
    }

    /// Waits for the next event, which has to be of this kind.
    ///
    /// @throws CommandFailed when it is another, or none comes in time
    public <T extends ConnectionEvent> T await(Class<T> wanted, String what) throws InterruptedException {
        ConnectionEvent event = await(what);
        while (event instanceof ConnectionEvent.TimewaitExit) {
            event = await(what); // of a connection that has ended before
        }
        if (!wanted.isInstance(event)) {
            throw new CommandFailed(CmEvents.line(event));
        }
        return wanted.cast(event);
    }

    /// Returns the next event; empty when none comes in time.
    public Optional<ConnectionEvent> await(Duration atMost) throws InterruptedException {
        return seen(channel.await(atMost));
    }

    private Optional<ConnectionEvent> seen(Optional<ConnectionEvent> event) {
        event.ifPresent(witness);
        return event;
    }

    /// Closes the channel, whose identifiers have to be closed before.
    @Override
    public void close() {
        channel.close();
        if (device != null && ownsDevice) {
            device.close();
        }
    }
}
