package verbena.check;

/// An object of the program, as the rules see it: what it is, and where it was made.
public class TrackedObject {
    private final String label;
    private final CallPlace made;

    /// @param label how reports call it
    /// @param made where the program has made it
    public TrackedObject(String label, CallPlace made) {
        this.label = label;
        this.made = made;
    }

    public final CallPlace made() {
        return made;
    }

    @Override
    public final String toString() {
        return label;
    }
}
