package verbena.nic;

import java.util.Arrays;

/// Finds threads that sleep in a system call of the link, which Java reports as running.
final class InTheLink {
    private InTheLink() {}

    static boolean sleeps(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("poll")
                        && frame.getClassName().endsWith("LinuxSockets"));
    }
}
