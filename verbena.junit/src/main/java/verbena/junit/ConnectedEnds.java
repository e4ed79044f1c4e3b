package verbena.junit;

import verbena.verbs.Preview;
import verbena.verbs.cm.Connection;

/// A pair of connected ends in one process, each at a device of its own. What one sends, the other receives.
/// Immutable; the connections may be used by any thread, and are closed after the test.
///
/// @param client the end that has connected
/// @param server the end that has accepted
///
/// @since 0.1
@Preview
public record ConnectedEnds(Connection client, Connection server) {}
