package verbena.nio;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Opens a channel of the JDK's own.
@FunctionalInterface
interface Opener<C> {
    C open() throws IOException;

    /// Closes what is to be closed after a failure that the program is told already.
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
