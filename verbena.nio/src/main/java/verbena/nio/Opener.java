package verbena.nio;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Opens a channel of the JDK's own.
@FunctionalInterface
interface Opener<C> {
    C open() throws IOException;

    /// Closes a resource without an exception, after a failure of which the program already learns.
    static void quietly(@Nullable Closeable what) {
        if (what != null) {
            try {
                what.close();
            } catch (IOException e) {
                // the descriptor is closed all the same: close(2)
            }
        }
    }
}
