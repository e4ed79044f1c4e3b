import static java.lang.foreign.ValueLayout.JAVA_LONG;

import module java.base;

/// How replicas agree: the rules of Raft (Ongaro and Ousterhout, 2014), without its input and output. A request to a
/// peer and its answer are bytes:
///
/// | offset | request: a vote | request: entries | answer |
/// |---|---|---|---|
/// | 0 | 1 | 2 | type of the request |
/// | 8 | term | term | term of the peer |
/// | 16 | candidate | leader | 1 for yes |
/// | 24, 32 | last entry: index, term | entry before: index, term | index up to which the logs are equal |
/// | 40, 48 | | committed; count of entries | |
/// | 64 | | entries | |
final class Raft {
    static final int REQUEST_MAX = 64 + 128 * Entry.BYTES;
    static final int ANSWER = 32;

    private static final long VOTE = 1;
    private static final long ENTRIES = 2;
    private static final long HEARTBEAT_NANOS = 100_000_000;
    private static final long ELECTION_NANOS_MIN = 1_000_000_000;
    private static final long ELECTION_NANOS_MAX = 2_500_000_000L;

    enum Role {
        FOLLOWER,
        CANDIDATE,
        LEADER
    }

    /// What became of a change, as a client is told.
    enum Outcome {
        /// It was made; the key had a value before.
        WAS_THERE,
        /// It was made; the key had none.
        WAS_NOT_THERE,
        /// Not made: there are too many keys, or the log has no room.
        FULL,
        /// This replica does not lead, or does not any more. The change may be made all the same: ask again,
        /// with the same sequence number.
        ASK_ANOTHER
    }

    private record Done(long sequence, Outcome outcome) {}

    private final int self; // replicas are numbered from 1
    private final int replicas;
    private final Log log;
    private final Table table;
    private final Map<Long, Done> done = new HashMap<>(); // the last change of each client

    private Role role = Role.FOLLOWER;
    private long committed;
    private long applied;
    private long electionAt;
    private int votes; // a bit for each replica
    private final long[] asked; // the term in which a replica was asked for its vote
    private final long[] next; // the entry that a replica gets next
    private final long[] equal; // up to here its log is ours
    private final long[] toldAt;

    Raft(int self, int replicas, Log log, Table table) {
        this.self = self;
        this.replicas = replicas;
        this.log = log;
        this.table = table;
        this.asked = new long[replicas + 1];
        this.next = new long[replicas + 1];
        this.equal = new long[replicas + 1];
        this.toldAt = new long[replicas + 1];
        table.promise(log.term());
        putElectionOff();
    }

    // ---- clients

    /// Appends a change when this is the leader, and waits until it is made.
    synchronized Outcome change(MemorySegment entry) throws InterruptedException {
        if (role != Role.LEADER) {
            return Outcome.ASK_ANOTHER;
        }
        if (log.length() >= Log.CAPACITY - 4096) { // elections have the rest
            return Outcome.FULL;
        }
        long term = log.term();
        long index = append(entry);
        while (applied < index && role == Role.LEADER && log.term() == term) {
            wait();
        }
        Done mine = done.get(Entry.client(entry));
        boolean isMade = applied >= index && mine != null && mine.sequence == Entry.sequence(entry);
        return isMade ? mine.outcome : Outcome.ASK_ANOTHER;
    }

    private long append(MemorySegment entry) {
        entry.set(Log.WORD, Entry.TERM, log.term());
        long index = log.append(entry);
        notifyAll();
        return index;
    }

    // ---- elections

    /// The body of a thread: stands for election when no leader is heard of.
    synchronized void watch() throws InterruptedException {
        while (true) {
            long left = electionAt - System.nanoTime();
            if (role == Role.LEADER) {
                wait();
            } else if (left > 0) {
                wait(left / 1_000_000 + 1);
            } else {
                role = Role.CANDIDATE;
                promise(log.term() + 1, self);
                votes = 1 << self;
                putElectionOff();
                notifyAll();
            }
        }
    }

    private void putElectionOff() {
        electionAt = System.nanoTime()
                + ThreadLocalRandom.current().nextLong(ELECTION_NANOS_MIN, ELECTION_NANOS_MAX);
    }

    /// The term goes up, in the file and for clients, before any other replica can hear of it.
    private void promise(long term, long vote) {
        table.serve(0);
        log.promise(term, vote);
        table.promise(term);
    }

    /// Another replica has a later term.
    private void follow(long term) {
        if (role == Role.LEADER) {
            putElectionOff();
        }
        role = Role.FOLLOWER;
        promise(term, 0);
        notifyAll();
    }

    private boolean isMajority(int count) {
        return count > replicas / 2;
    }

    private void lead() {
        role = Role.LEADER;
        for (int peer = 1; peer <= replicas; peer++) {
            next[peer] = log.length() + 1;
            equal[peer] = 0;
            toldAt[peer] = System.nanoTime() - HEARTBEAT_NANOS;
        }
        if (log.length() < Log.CAPACITY) {
            append(MemorySegment.ofArray(new long[Entry.BYTES / Long.BYTES])); // commits what earlier terms have left
        }
        System.out.println("replica " + self + " leads in term " + log.term());
    }

    // ---- as a candidate and a leader

    /// Waits until there is something to tell a peer, and writes it.
    ///
    /// @return its length
    synchronized int request(int peer, MemorySegment into) throws InterruptedException {
        while (true) {
            if (role == Role.CANDIDATE && asked[peer] < log.term()) {
                asked[peer] = log.term();
                head(into, VOTE, log.length());
                return 64;
            }
            long wait = toldAt[peer] + HEARTBEAT_NANOS - System.nanoTime();
            if (role == Role.LEADER && (wait <= 0 || log.length() >= next[peer])) {
                toldAt[peer] = System.nanoTime();
                return entries(peer, into);
            }
            wait(role == Role.LEADER ? wait / 1_000_000 + 1 : 0);
        }
    }

    private void head(MemorySegment into, long type, long before) {
        long[] words = {type, log.term(), self, before, log.termOf(before), committed, 0, 0};
        MemorySegment.copy(words, 0, into, JAVA_LONG, 0, words.length);
    }

    private int entries(int peer, MemorySegment into) {
        long before = next[peer] - 1;
        long count = Math.min(log.length() - before, (REQUEST_MAX - 64) / Entry.BYTES);
        head(into, ENTRIES, before);
        into.set(JAVA_LONG, 48, count);
        for (int i = 0; i < count; i++) {
            into.asSlice(64 + i * Entry.BYTES, Entry.BYTES).copyFrom(log.entry(next[peer] + i));
        }
        return 64 + (int) count * Entry.BYTES;
    }

    /// The request did not get there, or its answer not here.
    synchronized void failed(int peer) {
        asked[peer] = 0;
        notifyAll();
    }

    synchronized void answered(int peer, MemorySegment answer) {
        long type = answer.get(Log.WORD, 0);
        long term = answer.get(Log.WORD, 8);
        boolean isYes = answer.get(Log.WORD, 16) == 1;
        long index = answer.get(Log.WORD, 24);
        if (term > log.term()) {
            follow(term);
        }
        if (term < log.term()) {
            return;
        }
        if (type == VOTE && role == Role.CANDIDATE && isYes) {
            votes |= 1 << peer;
            if (isMajority(Integer.bitCount(votes))) {
                lead();
            }
        } else if (type == ENTRIES && role == Role.LEADER) {
            equal[peer] = isYes ? Math.max(equal[peer], index) : equal[peer];
            next[peer] = isYes ? equal[peer] + 1 : Math.max(equal[peer] + 1, Math.min(next[peer] - 1, index + 1));
            commit();
        }
    }

    /// The body of a thread: the disk is a replica, too. A leader counts itself when the disk has its entries.
    void store() throws InterruptedException {
        while (true) {
            long from;
            long to;
            long term;
            synchronized (this) {
                while (role != Role.LEADER || equal[self] >= log.length()) {
                    wait();
                }
                from = equal[self];
                to = log.length();
                term = log.term();
            }
            log.force(from, to);
            synchronized (this) {
                if (role == Role.LEADER && log.term() == term) {
                    equal[self] = to;
                    commit();
                }
            }
        }
    }

    /// An entry of this term is committed when a majority has it, and so is what is before it.
    private void commit() {
        for (long index = log.length(); index > committed && log.termOf(index) == log.term(); index--) {
            int count = 0;
            for (int peer = 1; peer <= replicas; peer++) {
                count += equal[peer] >= index ? 1 : 0;
            }
            if (isMajority(count)) {
                committed = index;
                apply();
                return;
            }
        }
    }

    // ---- as a follower

    /// Answers a request of a peer.
    synchronized void handle(MemorySegment request, MemorySegment answer) {
        long type = request.get(JAVA_LONG, 0);
        long term = request.get(JAVA_LONG, 8);
        long sender = request.get(JAVA_LONG, 16);
        long before = request.get(JAVA_LONG, 24);
        long termBefore = request.get(JAVA_LONG, 32);
        if (term > log.term()) {
            follow(term);
        }
        boolean isYes = false;
        long index = 0;
        if (term == log.term() && type == VOTE) {
            long last = log.termOf(log.length());
            boolean isAsLate = termBefore > last || termBefore == last && before >= log.length();
            isYes = isAsLate && role == Role.FOLLOWER && (log.vote() == 0 || log.vote() == sender);
            if (isYes) {
                promise(term, sender);
                putElectionOff();
            }
        } else if (term == log.term() && type == ENTRIES) {
            role = Role.FOLLOWER; // a term has one leader
            putElectionOff();
            isYes = before <= log.length() && log.termOf(before) == termBefore;
            index = isYes ? take(request, before) : Math.min(log.length(), before - 1);
        }
        long[] words = {type, log.term(), isYes ? 1 : 0, index};
        MemorySegment.copy(words, 0, answer, JAVA_LONG, 0, words.length);
    }

    /// @return the index of the last entry that is the leader's for certain
    private long take(MemorySegment request, long before) {
        long last = before + request.get(JAVA_LONG, 48);
        for (long index = before + 1; index <= last; index++) {
            MemorySegment entry = request.asSlice(64 + (index - before - 1) * Entry.BYTES, Entry.BYTES);
            if (index <= log.length() && log.termOf(index) == Entry.term(entry)) {
                continue;
            }
            log.cut(index - 1); // of an earlier leader, and never committed
            log.append(entry);
        }
        if (last > before) {
            log.force(before, last);
        }
        committed = Math.max(committed, Math.min(last, request.get(JAVA_LONG, 40)));
        apply();
        return last;
    }

    // ---- the table

    private void apply() {
        while (applied < committed) {
            MemorySegment entry = log.entry(++applied);
            if (Entry.keyBytes(entry) > 0) {
                Done last = done.get(Entry.client(entry));
                if (last == null || last.sequence < Entry.sequence(entry)) {
                    done.put(Entry.client(entry), new Done(Entry.sequence(entry), table.apply(entry)));
                }
            }
            if (role == Role.LEADER && Entry.term(entry) == log.term()) {
                table.serve(log.term()); // all that earlier leaders have acknowledged is in the table
            }
        }
        notifyAll();
    }
}
