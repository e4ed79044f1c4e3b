package verbena.wire.psp;

import java.lang.foreign.MemorySegment;

/// AES-GCM under one key, over packets of PSP where they lie. The nonce is in the header, and the ICV behind the
/// text is the tag. For one thread at a time.
public interface PspCipher extends AutoCloseable {
    /// Encrypts the text of a packet and writes its ICV. The caller uses no nonce twice.
    ///
    /// @param at where its header begins
    /// @param clearBytes from there on that are authenticated only
    /// @param secretBytes behind them that are encrypted too
    void seal(MemorySegment packet, long at, int clearBytes, int secretBytes);

    /// Decrypts the text of a packet, when its ICV is right. Otherwise the answer is false and the packet
    /// unchanged: what is not authentic is never in it in the clear.
    boolean open(MemorySegment packet, long at, int clearBytes, int secretBytes);

    /// Forgets the key where that is possible. It is not used any more.
    @Override
    default void close() {}
}
