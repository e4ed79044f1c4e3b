package verbena.wire.psp;

import java.lang.foreign.MemorySegment;

/// AES-GCM under one key, over packets of PSP where they lie. The nonce is in the header, and the ICV behind the
/// text is the tag. For one thread at a time.
public interface PspCipher extends AutoCloseable {
    /// Encrypts a text into a packet and writes its ICV. The caller uses no nonce twice.
    ///
    /// @param text where the bytes are that are encrypted; may be the packet, with its place there
    /// @param at where the packet's header begins
    /// @param clearBytes from there on that are authenticated only
    /// @param secretBytes of the text
    void seal(MemorySegment text, long textAt, MemorySegment packet, long at, int clearBytes, int secretBytes);

    /// Decrypts the text of a packet into other memory, when its ICV is right. Otherwise the answer is false: then
    /// the packet is unchanged, and nothing of it is in the other memory in the clear.
    ///
    /// @param text takes the bytes that were encrypted. It is the packet itself only where the class says so
    boolean open(MemorySegment packet, long at, int clearBytes, int secretBytes, MemorySegment text, long textAt);

    /// Forgets the key where that is possible. It is not used any more.
    @Override
    default void close() {}
}
