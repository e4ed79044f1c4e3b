package verbena.transport.memory;

/// What a key can name.
public abstract sealed class Keyed permits Region, Window {
    /// All 32 bits: 24 of handle and 8 of variant.
    volatile int key;

    volatile int protectionDomain;

    Keyed(int protectionDomain) {
        this.protectionDomain = protectionDomain;
    }

    /// The key as it is now.
    public int key() {
        return key;
    }

    public int protectionDomain() {
        return protectionDomain;
    }
}
