package verbena.nio;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// [BusyThreads] while the tests of a class run, in one draw of four (`-Dverbena.draw=3`).
final class BesideBusyThreads implements BeforeAllCallback, AfterAllCallback {
    private @Nullable BusyThreads busy;

    @Override
    public void beforeAll(ExtensionContext context) {
        if (Integer.getInteger("verbena.draw", 0) % 4 == 3) {
            busy = new BusyThreads();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (busy != null) {
            busy.close();
        }
    }
}
