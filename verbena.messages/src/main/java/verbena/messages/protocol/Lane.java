package verbena.messages.protocol;

import java.util.ArrayDeque;

/// Messages of a kind whose offers the other end counts. Those that would be one offer too many wait here, and those
/// of the same kind behind them. Others pass by: what ends an offer is never among those that wait.
final class Lane {
    final ArrayDeque<Outgoing> heldBack = new ArrayDeque<>();
    /// The offers that were made here, and are not taken yet.
    int offered;
    /// The offers of the other end that are not read yet.
    int waiting;
}
