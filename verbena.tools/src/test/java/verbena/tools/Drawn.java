package verbena.tools;

import java.util.List;
import java.util.stream.IntStream;

/// The part of a list that a default run tries, as it is drawn (`-Dverbena.draw=N`). The deep run tries all of it.
public final class Drawn {
    private Drawn() {}

    /// Returns one of some equal parts.
    ///
    /// @param shares the number of parts: 2, 3 or 6
    public static <T> List<T> of(int shares, List<T> all) {
        if (Boolean.getBoolean("verbena.deep")) {
            return all;
        }
        int share = Integer.getInteger("verbena.draw", 0) % shares;
        return IntStream.range(0, all.size())
                .filter(i -> i % shares == share)
                .mapToObj(all::get)
                .toList();
    }
}
