package verbena.check.races;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// The send requests of a queue pair, from one connection of it to the next. It has two components of clocks: the
/// number up to which requests have taken effect at the peer, and that up to which they have what they read.
public final class Chain {
    final int placed;
    /// Requests whose end the program has not seen, oldest first.
    final ArrayDeque<RaceStep> underWay = new ArrayDeque<>();
    /// Messages that the peer has not been seen to receive, oldest first.
    final ArrayDeque<RaceStep> messages = new ArrayDeque<>();
    /// The READs since the last other request, which the reader may still prove harmless by a look at a version.
    final List<RaceStep> unproven = new ArrayList<>(0);
    /// The knowledge of all who post here.
    final Clock posting = new Clock();

    /// The number of the last request of an earlier queue pair with the same components.
    final long before;
    /// The number of the last request.
    long last;
    /// The number up to which a fence has made later requests wait.
    long fenced;

    /// The number of the last message that the peer has received: the processor sees all requests up to it.
    long shown;

    Chain(int placed, long before) {
        this.placed = placed;
        this.before = before;
        this.last = before;
    }
}
