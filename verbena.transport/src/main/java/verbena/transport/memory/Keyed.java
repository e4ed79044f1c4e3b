package verbena.transport.memory;

import org.jspecify.annotations.Nullable;

/// The object that a key names.
public abstract sealed class Keyed permits Region, Window {
    /// The whole key of 32 bits: 24 of handle and 8 of variant.
    volatile int key;

    volatile int protectionDomain;

    Keyed(int protectionDomain) {
        this.protectionDomain = protectionDomain;
    }

    /// Returns the region or window that has exactly this key now.
    static @Nullable Keyed find(KeyTable<Keyed> keys, int key) {
        Keyed keyed = keys.get(key >>> 8);
        return keyed != null && keyed.key == key ? keyed : null;
    }

    /// Returns the key as it is now.
    public int key() {
        return key;
    }

    public int protectionDomain() {
        return protectionDomain;
    }
}
