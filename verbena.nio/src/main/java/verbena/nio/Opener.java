package verbena.nio;

import java.io.IOException;

/// Opens a channel of the JDK's own.
@FunctionalInterface
interface Opener<C> {
    C open() throws IOException;
}
