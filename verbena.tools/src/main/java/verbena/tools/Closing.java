package verbena.tools;

import java.util.List;

/// Giving back what was opened.
public final class Closing {
    private Closing() {}

    /// Closes all, the last first, and empties the list.
    public static void all(List<AutoCloseable> opened) {
        for (AutoCloseable object : opened.reversed()) {
            try {
                object.close();
            } catch (Exception e) {
                throw new IllegalStateException("could not be closed: " + object, e);
            }
        }
        opened.clear();
    }
}
