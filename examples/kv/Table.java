import static java.lang.foreign.ValueLayout.JAVA_LONG;

import module java.base;
import verbena.messages.PeerMemory;
import verbena.verbs.Pending;

/// The table of a replica, which clients READ by themselves. In front of it are two words: the term that the replica
/// has promised, and the term in which it may serve, as a leader.
///
/// A key is in the first free slot behind its hash, and stays there for ever, also when it is deleted. So no key
/// moves while a client searches it. A slot has a version, which is odd while the replica writes (docs/ordering.md).
final class Table {
    static final int SLOTS = 1 << 14;
    static final int KEYS_MAX = SLOTS / 4 * 3;
    static final int HEAD = 64;
    static final long BYTES = HEAD + (long) SLOTS * Entry.BYTES;

    private static final int PROMISED = 0;
    private static final int SERVING = 8;
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final MemorySegment memory;
    private int keys;

    Table(MemorySegment memory) {
        this.memory = memory;
    }

    /// What the two words say to a client.
    record Head(long promised, long serving) {
        static Head of(MemorySegment words) {
            return new Head(words.get(JAVA_LONG, PROMISED), words.get(JAVA_LONG, SERVING));
        }

        boolean isLeader() {
            return serving > 0 && serving == promised;
        }
    }

    // ---- at the replica

    void promise(long term) {
        WORD.setVolatile(memory, (long) PROMISED, term);
    }

    /// @param term 0 when it is no leader any more
    void serve(long term) {
        WORD.setVolatile(memory, (long) SERVING, term);
    }

    /// Makes a change. Each replica makes the same ones in the same order.
    Raft.Outcome apply(MemorySegment entry) {
        int slot = Entry.hash(entry) & SLOTS - 1;
        while (Entry.keyBytes(slot(slot)) > 0 && !Entry.hasSameKey(slot(slot), entry)) {
            slot = slot + 1 & SLOTS - 1;
        }
        MemorySegment place = slot(slot);
        boolean isNew = Entry.keyBytes(place) == 0;
        boolean wasThere = !isNew && Entry.valueBytes(place) != Entry.DELETED;
        if (isNew && Entry.valueBytes(entry) == Entry.DELETED) {
            return Raft.Outcome.WAS_NOT_THERE;
        }
        if (isNew && ++keys > KEYS_MAX) {
            keys--;
            return Raft.Outcome.FULL;
        }
        long version = (long) WORD.getAcquire(place, 0L);
        WORD.setRelease(place, 0L, version + 1);
        VarHandle.storeStoreFence();
        place.asSlice(Entry.LENGTHS).copyFrom(entry.asSlice(Entry.LENGTHS));
        WORD.setRelease(place, 0L, version + 2);
        return wasThere ? Raft.Outcome.WAS_THERE : Raft.Outcome.WAS_NOT_THERE;
    }

    private MemorySegment slot(int number) {
        return memory.asSlice(HEAD + (long) number * Entry.BYTES, Entry.BYTES);
    }

    // ---- at a client

    /// Reads the two words of a replica, each by a READ of its own: they change one by one.
    static Pending<Void> readHead(PeerMemory table, MemorySegment words) {
        table.postRead(PROMISED, words.asSlice(PROMISED, 8));
        return table.postRead(SERVING, words.asSlice(SERVING, 8));
    }

    /// The READs of one slot, and of the words of its replica before; they are carried out in this order.
    static final class Probe {
        private final MemorySegment head = MemorySegment.ofArray(new long[2]);
        private final MemorySegment before = MemorySegment.ofArray(new long[1]);
        private final MemorySegment slot = MemorySegment.ofArray(new long[Entry.BYTES / Long.BYTES]);
        private final MemorySegment after = MemorySegment.ofArray(new long[1]);
        private final MemorySegment wanted;
        private int at;

        Probe(MemorySegment wanted) {
            this.wanted = wanted;
            this.at = Entry.hash(wanted) & SLOTS - 1;
        }

        Pending<Void> read(PeerMemory table) {
            long offset = HEAD + (long) at * Entry.BYTES;
            readHead(table, head);
            table.postRead(offset, before);
            table.postRead(offset, slot);
            return table.postRead(offset, after);
        }

        Head head() {
            return Head.of(head);
        }

        /// Whether no change has met the READs.
        boolean isWhole() {
            long version = before.get(JAVA_LONG, 0);
            return version % 2 == 0 && version == slot.get(JAVA_LONG, 0) && version == after.get(JAVA_LONG, 0);
        }

        /// Whether the slot has another key; the next read is of the next slot then.
        boolean isElsewhere() {
            if (!isWhole() || Entry.keyBytes(slot) == 0 || Entry.hasSameKey(slot, wanted)) {
                return false;
            }
            at = at + 1 & SLOTS - 1;
            return true;
        }

        Optional<byte[]> value() {
            return Entry.keyBytes(slot) == 0 ? Optional.empty() : Entry.value(slot);
        }
    }
}
