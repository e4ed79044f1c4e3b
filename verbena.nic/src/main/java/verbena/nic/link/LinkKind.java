package verbena.nic.link;

/// The implementations of a link over sockets: by system calls of Linux, or by the channels of the JDK.
public enum LinkKind {
    /// The Linux one where it works, else the portable one.
    AUTO,
    /// The Linux one, or an error. Without granted native access, the JVM warns or refuses, as its options say.
    LINUX,
    /// The portable link.
    PORTABLE;

    /// Returns the kind named `auto`, `linux` or `portable`, as in the setting `link=`.
    public static LinkKind parse(String text) {
        return switch (text) {
            case "auto" -> AUTO;
            case "linux" -> LINUX;
            case "portable" -> PORTABLE;
            default -> throw new IllegalArgumentException("link: auto, linux or portable, got \"" + text + "\"");
        };
    }
}
