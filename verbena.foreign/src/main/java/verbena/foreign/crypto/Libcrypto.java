package verbena.foreign.crypto;

import verbena.foreign.NativeLibrary;
import verbena.foreign.SystemFunction;

/// OpenSSL's libcrypto, which is loaded once for the process.
final class Libcrypto {
    private static final NativeLibrary LIBRARY =
            NativeLibrary.load("libcrypto.so.3", "install OpenSSL 3 (on Debian: libssl3)");

    private Libcrypto() {}

    static SystemFunction function(String name) {
        return LIBRARY.systemFunction(name);
    }

    /// Checks the result of a step that cannot fail with right arguments.
    static void check(boolean isDone, String what) {
        if (!isDone) {
            throw new IllegalStateException("libcrypto refuses " + what);
        }
    }
}
