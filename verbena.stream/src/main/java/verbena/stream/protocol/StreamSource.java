package verbena.stream.protocol;

/// Bytes that a [ByteStream] sends, wherever they lie.
@FunctionalInterface
public interface StreamSource {
    /// Puts bytes into the ring: `length` of them in their order, as one piece or several.
    ///
    /// @param from how many of the source's bytes are passed over
    void copy(long from, int length, SendRing into);
}
