package verbena.tools.doctor;

import java.util.List;

/// The Java that runs this, and the link by which its devices therefore send.
final class JavaRuntime implements Check {
    @Override
    public List<Finding> look(Surroundings at) {
        String seen = "%s (%s) on %s %s"
                .formatted(
                        at.property("java.runtime.version"),
                        at.property("java.vendor"),
                        at.property("os.name"),
                        at.property("os.arch"));
        Finding link = at.whyPortable()
                .map(why -> Finding.warn(
                        "link",
                        "the JDK's channels: " + why,
                        why.contains("--enable-native-access")
                                ? "use it: Linux system calls send in batches, and without them IPv6 packets of"
                                        + " soft-RoCE and hardware (UDP checksum 0) never arrive"
                                : "expect less speed; IPv6 packets of soft-RoCE and hardware (UDP checksum 0) may"
                                        + " not arrive"))
                .orElse(Finding.ok("link", "Linux system calls; native access is granted"));
        return List.of(Finding.ok("java", seen), link);
    }
}
