package verbena.messages;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.messages.rail.Rail;
import verbena.messages.rail.Remote;
import verbena.verbs.InvalidStateException;

/// A message for an [ActiveHandler]. It is valid until the handler returns, on the handler's thread. [#keep()] makes
/// it valid for longer, and for any thread, until [#release()]. All methods of an invalid message but [#release()]
/// throw [InvalidStateException].
///
/// @since 0.1
public final class ActiveMessage {
    private final Traffic traffic;
    private @Nullable Remote from;
    private int number;
    private MemorySegment memory = MemorySegment.NULL;
    private long headerOffset;
    private int headerBytes;
    private MemorySegment dataMemory = MemorySegment.NULL;
    private long dataOffset;
    private long dataBytes;
    /// Bytes of the budget that it has.
    private long claimed;

    /// The slot that its frame is in; negative when it is in none.
    private int slot = -1;

    private @Nullable Rail inbox;

    private boolean isKept;

    ActiveMessage(Traffic traffic) {
        this.traffic = traffic;
    }

    /// Makes this a message that lies in a frame.
    void set(
            Remote peer,
            int itsNumber,
            @Nullable Rail itsRail,
            int itsSlot,
            MemorySegment frame,
            int at,
            int header,
            long data) {
        from = peer;
        number = itsNumber;
        slot = itsSlot;
        inbox = itsRail;
        memory = frame;
        headerOffset = at;
        headerBytes = header;
        dataMemory = frame;
        dataOffset = at + (long) header;
        dataBytes = data;
    }

    /// Makes this a message with memory of its own, which may be longer than its data.
    void set(Remote peer, int itsNumber, MemorySegment header, MemorySegment data, long bytes, long budget) {
        set(peer, itsNumber, null, -1, header, 0, (int) header.byteSize(), bytes);
        dataMemory = data;
        dataOffset = 0;
        claimed = budget;
    }

    Remote sender() {
        Remote peer = from;
        if (peer == null) {
            throw new InvalidStateException("an active message that was not kept, or is released");
        }
        return peer;
    }

    int slot() {
        return slot;
    }

    /// Returns the rail whose frame it lies in; null when it lies in no frame.
    @Nullable
    Rail inbox() {
        return inbox;
    }

    // ---- by the program

    /// Returns the peer that sent the message.
    public RemoteWorker from() {
        return RemoteWorker.of(sender());
    }

    /// Returns the number of the message's handler.
    public int number() {
        sender();
        return number;
    }

    /// Returns the length of the message's header, in bytes.
    public int headerBytes() {
        sender();
        return headerBytes;
    }

    /// Returns the length of the message's data, in bytes.
    public long dataBytes() {
        sender();
        return dataBytes;
    }

    /// Copies the header to the beginning of `into`, and allocates nothing.
    ///
    /// @throws IndexOutOfBoundsException when `into` is shorter than [#headerBytes()]
    public void copyHeader(MemorySegment into) {
        sender();
        MemorySegment.copy(memory, JAVA_BYTE, headerOffset, into, JAVA_BYTE, 0, headerBytes);
    }

    /// Copies the data to the beginning of `into`, and allocates nothing.
    ///
    /// @throws IndexOutOfBoundsException when `into` is shorter than [#dataBytes()]
    public void copyData(MemorySegment into) {
        sender();
        MemorySegment.copy(dataMemory, JAVA_BYTE, dataOffset, into, JAVA_BYTE, 0, dataBytes);
    }

    /// Returns the header, valid as long as the message.
    public MemorySegment header() {
        sender();
        return memory.asSlice(headerOffset, headerBytes);
    }

    /// Returns the data, valid as long as the message.
    public MemorySegment data() {
        sender();
        return dataMemory.asSlice(dataOffset, dataBytes);
    }

    /// Keeps the message after its handler has returned. The result is this message, or a copy when it lies in a
    /// frame. Until the message is released it counts in the worker's budget ([WorkerOptions#budgetBytes]), for
    /// which long messages may have to wait.
    public ActiveMessage keep() {
        Remote peer = sender();
        if (slot < 0) {
            isKept = true;
            return this;
        }
        var copy = new ActiveMessage(traffic);
        long bytes = headerBytes + dataBytes;
        copy.set(peer, number, copy(header()), copy(data()), dataBytes, bytes);
        copy.isKept = true;
        traffic.locked(copy, ActiveMessage::claim);
        return copy;
    }

    private static MemorySegment copy(MemorySegment memory) {
        return MemorySegment.ofArray(memory.toArray(JAVA_BYTE));
    }

    private void claim() {
        traffic.budget.take(claimed);
    }

    /// Releases a kept message, which then is invalid. Idempotent.
    public void release() {
        traffic.locked(this, ActiveMessage::endKept);
    }

    private void endKept() {
        if (isKept) {
            isKept = false;
            end();
        }
    }

    /// Handles the return of its handler: its memory is no longer valid.
    void end() {
        if (isKept) {
            return;
        }
        from = null;
        long bytes = claimed;
        claimed = 0;
        if (bytes > 0) {
            if (dataMemory.isNative()) {
                traffic.devices.longMessages.buffers.give(dataMemory);
            }
            dataMemory = MemorySegment.NULL;
            traffic.release(bytes);
        }
    }
}
