package verbena.check;

import java.util.Locale;

/// The weight of a finding.
public enum Grade {
    /// A step that the standard leaves undefined, or a card refuses.
    ERROR,
    /// A program that works by chance: of timing, or of this device.
    LUCK,
    /// A program that is right, but slower than it has to be.
    COST;

    /// Returns the word for reports.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
