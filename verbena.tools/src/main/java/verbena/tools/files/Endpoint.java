package verbena.tools.files;

import java.io.IOException;

/// An end of a comparison's copy that is connected and ready.
interface Endpoint extends AutoCloseable {
    /// Moves the file; returns when this end is done with it.
    void run() throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
