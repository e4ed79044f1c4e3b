package verbena.check.litmus;

import java.util.Locale;

/// Devices by how much freedom they take. A level has the freedoms of those before it.
public enum Level {
    /// Software devices: they place bytes in address order and before they acknowledge them.
    STRONG,
    /// Cards of today in hosts with x86 and PCIe.
    CARD,
    /// Whatever the standards of InfiniBand, RoCE and iWARP allow.
    STANDARD;

    /// Returns the name by which a user chooses it.
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
