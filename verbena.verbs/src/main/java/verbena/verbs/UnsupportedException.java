package verbena.verbs;

/// Thrown when a device does not have an ability that a verb needs. [DeviceAttributes#capabilities()] lists the
/// abilities beforehand.
///
/// @since 0.1
public final class UnsupportedException extends VerbsException {
    private static final long serialVersionUID = 1L;

    private final Capability capability;

    /// @param verb what was asked for
    /// @param device name of the device
    public UnsupportedException(String verb, Capability capability, String device) {
        super(verb + ": device " + device + " does not support " + capability, null);
        this.capability = capability;
    }

    /// Returns the capability that is missing.
    public Capability capability() {
        return capability;
    }
}
