package verbena.messages.protocol;

import java.util.ArrayDeque;

/// Messages of a kind whose offers the other end counts. Those that would be one offer too many wait here, and those of
/// the same kind behind them. Others pass by: what ends an offer is never among those that wait.
final class Lane {
    final ArrayDeque<Outgoing> heldBack = new ArrayDeque<>();
    /// Made here, and not taken yet.
    int offered;
    /// Made by the other end, and not read yet.
    int waiting;
}
