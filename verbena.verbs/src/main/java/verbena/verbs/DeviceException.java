package verbena.verbs;

/// Thrown when a device does not exist, cannot be opened, or has failed. The message names the device and says what
/// may help.
///
/// @since 0.1
public final class DeviceException extends VerbsException {
    private static final long serialVersionUID = 1L;

    /// @param message what failed, with the device's name, and what may help
    public DeviceException(String message, Throwable cause) {
        super(message, cause);
    }

    /// @param message what the device could not do, and why
    public DeviceException(String message) {
        super(message, null);
    }
}
