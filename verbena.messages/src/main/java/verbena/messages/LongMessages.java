package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import verbena.messages.protocol.Peer;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.VerbsException;

/// The memory of messages that their receiver reads, at both ends. Memory of the program is registered as long as a
/// message is under way; what cannot be registered is copied. Under the lock of [Traffic].
final class LongMessages {
    /// Bytes of one READ; a message has several in turn.
    private static final long READ_BYTES = 1 << 24;

    /// A message that is being read.
    private static final class Reading {
        private final int number;
        private final RemoteWorker from;
        private final Peer.Read read;
        private final MemoryRegion region;
        private final boolean isCopied;
        private long done;
        private int length;

        private Reading(int number, RemoteWorker from, Peer.Read read, MemoryRegion region, boolean isCopied) {
            this.number = number;
            this.from = from;
            this.read = read;
            this.region = region;
            this.isCopied = isCopied;
        }
    }

    private final ProtectionDomain domain;
    private final long longest;
    private final long readBytes;
    private final Thread worker;
    private final Map<Integer, Reading> readings = new HashMap<>();
    private int last;

    /// @param maxMessageBytes of the port
    /// @param worker the thread that touches the memory of programs
    LongMessages(ProtectionDomain domain, long maxMessageBytes, Thread worker) {
        this.domain = domain;
        this.longest = Math.min(maxMessageBytes, Integer.MAX_VALUE);
        this.readBytes = Math.min(READ_BYTES, maxMessageBytes);
        this.worker = worker;
    }

    /// Whether it belongs to no single thread.
    boolean isForAllThreads(MemorySegment memory) {
        return memory.isAccessibleBy(worker);
    }

    /// Refuses memory that nothing can be received into.
    void requireWritable(String name, MemorySegment memory) {
        if (memory.isReadOnly() || !isForAllThreads(memory)) {
            throw new IllegalArgumentException(name + ": memory that any thread may write, got " + memory);
        }
    }

    /// Whether the device can use it where it is: it is no array's, and every thread may touch it.
    boolean isRegistrable(MemorySegment memory) {
        return memory.isNative() && isForAllThreads(memory);
    }

    MemoryRegion share(MemorySegment memory, Set<Access> access) {
        return domain.register(memory, access);
    }

    /// Bytes of the longest operation.
    long longest() {
        return longest;
    }

    /// Memory for an operation of this end: the program's own, or other.
    ///
    /// @param isSource whether its bytes are to be sent
    MemoryRegion local(MemorySegment memory, boolean isSource) {
        if (isRegistrable(memory)) {
            return domain.register(memory, isSource ? Set.of() : Access.local());
        }
        MemoryRegion other = domain.allocate(memory.byteSize(), Access.local());
        if (isSource) {
            MemorySegment.copy(
                    memory, ValueLayout.JAVA_BYTE, 0, other.segment(), ValueLayout.JAVA_BYTE, 0, memory.byteSize());
        }
        return other;
    }

    /// Memory that peers can read: the program's own, or a copy.
    MemoryRegion expose(MemorySegment data) {
        if (isRegistrable(data)) {
            return domain.register(data, Set.of(Access.REMOTE_READ));
        }
        MemoryRegion copy = domain.allocate(data.byteSize(), Set.of(Access.REMOTE_READ));
        MemorySegment.copy(data, ValueLayout.JAVA_BYTE, 0, copy.segment(), ValueLayout.JAVA_BYTE, 0, data.byteSize());
        return copy;
    }

    /// Begins to read a message.
    void start(RemoteWorker from, Peer.Read read) {
        MemorySegment into = read.into();
        boolean isCopied = !isRegistrable(into);
        MemoryRegion region;
        try {
            region =
                    isCopied ? domain.allocate(into.byteSize(), Access.local()) : domain.register(into, Access.local());
        } catch (VerbsException | IllegalStateException e) {
            read.incoming().failed(String.valueOf(e.getMessage()));
            throw e;
        }
        var reading = new Reading(++last & Integer.MAX_VALUE, from, read, region, isCopied);
        readings.put(reading.number, reading);
        from.readings++;
        post(reading);
    }

    private void post(Reading reading) {
        reading.length = (int) Math.min(readBytes, reading.region.length() - reading.done);
        reading.from
                .connection()
                .queuePair()
                .postRead(
                        Traffic.READ | reading.number,
                        reading.region,
                        reading.done,
                        reading.length,
                        reading.read.address() + reading.done,
                        reading.read.key());
    }

    /// One READ is done.
    void onRead(RemoteWorker from, int number) {
        Reading reading = readings.get(number);
        if (reading == null || reading.from != from) {
            return;
        }
        reading.done += reading.length;
        if (reading.done < reading.region.length()) {
            post(reading);
            return;
        }
        if (reading.isCopied) {
            MemorySegment.copy(
                    reading.region.segment(),
                    ValueLayout.JAVA_BYTE,
                    0,
                    reading.read.into(),
                    ValueLayout.JAVA_BYTE,
                    0,
                    reading.region.length());
        }
        readings.remove(number);
        from.readings--;
        reading.region.close();
        from.peer().onRead(reading.read);
    }

    /// Gives back the memory of what is under way with a peer.
    ///
    /// @return those messages
    List<Peer.Read> end(RemoteWorker from) {
        var underWay = new ArrayList<Peer.Read>();
        readings.values().removeIf(each -> {
            if (each.from != from) {
                return false;
            }
            each.region.close(); // the device writes there no more
            underWay.add(each.read);
            return true;
        });
        return underWay;
    }
}
