package verbena.verbs.cm;

import java.util.OptionalInt;
import verbena.verbs.Preview;

/// The description of a message that a receive of a [Connection] has taken. Immutable.
///
/// @param length bytes of the message, from the beginning of the receive's memory on. For a WRITE with immediate data,
///     the bytes that it wrote elsewhere
/// @param immediate the 32 bits that the peer sent with it; empty when it sent none
/// @since 0.1
public record ReceivedMessage(long length, OptionalInt immediate) {
    @Preview
    public ReceivedMessage {}
}
