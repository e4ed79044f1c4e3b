package verbena.conformance;

import java.util.List;
import java.util.Set;
import verbena.verbs.Capability;

/// The result of a case over a device.
public sealed interface Outcome {
    /// The promise is kept.
    ///
    /// @param unexpectedly whether [Deviation] says that it is not: what stands there can go
    record Kept(boolean unexpectedly) implements Outcome {}

    /// The device does not declare what the case needs, so there is nothing to keep.
    record NotSupported(Set<Capability> missing) implements Outcome {}

    /// The promise is not kept, and it is known why.
    record Deviates(String reason, String what) implements Outcome {}

    /// The promise is not kept.
    ///
    /// @param what was expected, and what happened
    /// @param log what had been done
    record Broken(String what, List<String> log) implements Outcome {}
}
