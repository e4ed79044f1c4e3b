package verbena.verbs;

/// An object that a verb makes and that [#close()] returns to the device. An object that others were made from closes
/// only after them. Closing is idempotent, and safe while requests are outstanding.
///
/// Any thread may close it, and several at once. Each call returns when the object is closed, whichever thread does
/// the work. The memory that the object held may then be reused. Verbs of a closed object throw
/// [InvalidStateException].
///
/// @since 0.1
public interface VerbsObject extends AutoCloseable {
    /// Returns the object to the device.
    ///
    /// @throws InUseException when objects made from it are still open; nothing was closed
    /// @throws DeviceException when the system's driver refuses; the object stays open
    @Override
    void close();

    /// Returns whether [#close()] is complete. It is false while a thread closes the object, though verbs already
    /// throw.
    boolean isClosed();
}
