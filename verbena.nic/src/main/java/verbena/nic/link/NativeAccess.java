package verbena.nic.link;

import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;

/// Whether this process may make system calls of Linux by itself.
public final class NativeAccess {
    private NativeAccess() {}

    /// Returns why [LinkKind#AUTO] chooses the portable link in this JVM; null when it chooses the Linux one.
    public static @Nullable String whyPortable() {
        String wrongPlatform = wrongPlatform();
        if (wrongPlatform != null) {
            return wrongPlatform;
        }
        return isGranted() ? null : hint();
    }

    /// Whether the JVM lets this project call native code.
    // Checked here and not in LinuxSockets. That class cannot be loaded where the answer is no, and by loading it
    // the JVM would grant native access, with a warning.
    public static boolean isGranted() {
        return LinuxAbi.class.getModule().isNativeAccessEnabled();
    }

    /// Returns why the system calls of Linux cannot be made on this platform; null when they can.
    public static @Nullable String wrongPlatform() {
        String os = System.getProperty("os.name", "");
        String architecture = System.getProperty("os.arch", "");
        if (!os.equals("Linux")) {
            return "this is " + os + ", not Linux";
        }
        if (!architecture.equals("amd64") && !architecture.equals("aarch64")) {
            return "the layouts are those of x86-64 and aarch64, this is " + architecture;
        }
        return null;
    }

    /// Returns the advice on how to grant native access.
    public static String hint() {
        Module module = LinuxAbi.class.getModule();
        return "native access is not granted: start java with --enable-native-access="
                + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
    }
}
