package verbena.verbs.cm;

import java.util.Optional;
import java.util.function.Function;
import verbena.verbs.Context;
import verbena.verbs.Gid;

/// The devices that an event channel names for its connections.
///
/// @param only      the device of all connections; empty when their addresses decide
/// @param at        names the device for an own address; empty for whatever device has it
/// @param isNearest whether connections within this host use a device of the host
/// @param within    names the device for connections within this host at an own address; empty for the one that the
///     process shares
record ChannelDevices(
        Optional<Context> only,
        Function<Gid, Optional<Context>> at,
        boolean isNearest,
        Function<Gid, Optional<Context>> within) {}
