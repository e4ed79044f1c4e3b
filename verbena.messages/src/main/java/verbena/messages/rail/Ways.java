package verbena.messages.rail;

import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;

/// The connections of a peer, one over each rail that was joined. Under the lock of the worker.
public final class Ways {
    private final Rails rails;
    private final @Nullable Way[] ways;

    Ways(Rails rails) {
        this.rails = rails;
        this.ways = new Way[rails.count()];
    }

    Rails rails() {
        return rails;
    }

    /// Adds a connection; false when there is one already.
    boolean add(Way way) {
        int rail = way.rail.index;
        if (rail >= ways.length || ways[rail] != null) {
            return false;
        }
        ways[rail] = way;
        rails.join(rail);
        return true;
    }

    /// Returns the connection over a rail that was joined.
    public Way way(int rail) {
        Way way = ways[rail];
        if (way == null) {
            throw new IllegalStateException("rail " + rail + " is not there");
        }
        return way;
    }

    /// Returns the connection over the first rail; null while it is not made.
    @Nullable
    Way first() {
        return ways[0];
    }

    /// Returns the connections that the peer has or had.
    public Stream<Way> all() {
        return Arrays.stream(ways).flatMap(Stream::ofNullable);
    }

    /// Lets the requests of all of them leave.
    void submit() {
        for (int i = 0; i < ways.length; i++) {
            Way way = ways[i];
            if (way != null) {
                way.submit();
            }
        }
    }
}
