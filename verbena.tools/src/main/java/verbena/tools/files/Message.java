package verbena.tools.files;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Legible;
import verbena.verbs.RemoteMemory;

/// A message in its buffer, while it is being written or read. Made once for each buffer.
final class Message {
    /// Bytes of a text, of which a message can have two.
    static final int TEXT_MAX = 4096;
    /// Bytes that a message may have: two names and what stands with them.
    static final int MAX = 2 * TEXT_MAX + 256;

    private final int index;
    private final ByteBuffer bytes;

    Message(int index, ByteBuffer bytes) {
        this.index = index;
        this.bytes = bytes;
    }

    int index() {
        return index;
    }

    /// Returns the buffer, at whose position the next field is written or read.
    ByteBuffer bytes() {
        return bytes;
    }

    Message begin(Kind kind) {
        bytes.clear().put((byte) kind.ordinal());
        return this;
    }

    Message int32(int value) {
        bytes.putInt(value);
        return this;
    }

    Message int64(long value) {
        bytes.putLong(value);
        return this;
    }

    Message int8(int value) {
        bytes.put((byte) value);
        return this;
    }

    Message put(byte[] value) {
        bytes.put(value);
        return this;
    }

    /// Writes bytes with their number before them.
    Message counted(byte[] value) {
        bytes.putShort((short) value.length).put(value);
        return this;
    }

    Message text(String value) {
        return text(value, TEXT_MAX);
    }

    private Message text(String value, int most) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(utf8.length, most);
        bytes.putShort((short) length).put(utf8, 0, length);
        return this;
    }

    /// Writes text into its share of the room that is left in the message: it is cut where the records behind it
    /// need the room.
    ///
    /// @param records that follow
    /// @param least bytes of each of them without its text
    Message text(String value, int records, int least) {
        int share = (room() - records * least) / (records + 1) - Short.BYTES;
        return text(value, Math.clamp(share, 0, TEXT_MAX));
    }

    /// Returns the number of bytes that can still be written.
    int room() {
        return bytes.remaining();
    }

    /// Returns whether another field can be read.
    boolean hasMore() {
        return bytes.hasRemaining();
    }

    Message memory(RemoteMemory memory) {
        bytes.putLong(memory.address()).putInt(memory.rkey()).putLong(memory.length());
        return this;
    }

    /// Makes this a received message of so many bytes, the kind among them.
    Message arrived(long length) {
        bytes.clear().limit((int) length);
        if (length == 0) {
            throw new CommandFailed("the peer sent a message of no kind");
        }
        return this;
    }

    Kind kind() {
        return Kind.of(bytes.get(0));
    }

    /// Goes to the first field.
    Message open() {
        bytes.position(1);
        return this;
    }

    byte[] take(int length) {
        var value = new byte[length];
        bytes.get(value);
        return value;
    }

    byte[] takeCounted() {
        return take(Short.toUnsignedInt(bytes.getShort()));
    }

    /// Reads a text of the peer, and makes it harmless.
    String takeText() {
        return Legible.text(takeCounted());
    }

    RemoteMemory takeMemory() {
        long address = bytes.getLong();
        int key = bytes.getInt();
        long length = bytes.getLong();
        if (length < 0) {
            throw new CommandFailed("the peer's window has " + length + " bytes");
        }
        return new RemoteMemory(address, key, length);
    }

    /// Returns the bytes that have been written so far.
    byte[] written() {
        var all = new byte[bytes.position()];
        bytes.get(0, all);
        return all;
    }

    /// Returns all bytes that were received.
    byte[] whole() {
        var all = new byte[bytes.limit()];
        bytes.get(0, all);
        return all;
    }
}
