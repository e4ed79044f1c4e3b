package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.verbs.RemoteMemory;

/// Workers `a`, `b` and `c` without devices, in virtual time, told as a sequence diagram; TESTING.md shows the
/// lines. Every frame that is sent has to stand in the script, in each end's order. So has every READ, every
/// operation that begins, and all that a program is told. Fields that a line does not name are not compared.
final class WorkerScript {
    private static final long MILLIS = 1_000_000;

    /// How many scripts have run in this process.
    private static int count;

    /// What all workers of a script are made with.
    ///
    /// @param offers of one kind that each end takes at once
    /// @param places of calls
    /// @param left bytes of messages that lost peers leave behind
    record Setting(
            int frameBytes,
            int window,
            long crowdedBytes,
            int offers,
            int places,
            int rails,
            int operations,
            long budget,
            long left) {
        /// Frames of 64 bytes, windows of 4, two offers, two calls, one rail, two operations.
        static final Setting USUAL = new Setting(64, 4, 1000, 2, 2, 1, 2, 4000, 1000);

        Setting rails(int now) {
            return new Setting(frameBytes, window, crowdedBytes, offers, places, now, operations, budget, left);
        }

        Setting window(int now) {
            return new Setting(frameBytes, now, crowdedBytes, offers, places, rails, operations, budget, left);
        }

        Setting crowded(long now) {
            return new Setting(frameBytes, window, now, offers, places, rails, operations, budget, left);
        }

        Setting left(long now) {
            return new Setting(frameBytes, window, crowdedBytes, offers, places, rails, operations, budget, now);
        }
    }

    /// A frame on its way.
    @SuppressWarnings("ArrayRecordComponent") // frames are not compared
    private record Sent(int rail, byte[] bytes, Map<String, String> fields) {}

    /// A worker, with an end for each peer.
    private final class Worker {
        final String name;
        final Matching matching = new Matching(setting.left);
        final Budget<End> budget = new Budget<>(4 * setting.budget);
        final Map<String, End> ends = new LinkedHashMap<>();
        final ArrayDeque<String> told = new ArrayDeque<>();
        int receives;
        final Map<Integer, Receive> receiving = new HashMap<>();

        Worker(String name) {
            this.name = name;
        }

        End to(String other) {
            return Objects.requireNonNull(ends.get(other), other);
        }
    }

    private static final class Receive implements Incoming {
        private final Worker worker;
        private final int number;
        private final byte[] memory;

        Receive(Worker worker, int number, int bytes) {
            this.worker = worker;
            this.number = number;
            this.memory = new byte[bytes];
        }

        @Override
        public MemorySegment memory() {
            return MemorySegment.ofArray(memory);
        }

        @Override
        public void done(PeerOwner from, long tag, long length) {
            int bytes = (int) Math.min(length, memory.length);
            worker.told.add("received " + number + " from " + ((End) from).peerName + " tag " + tag + " len " + length
                    + (intact(memory, bytes, tag) ? "" : " broken"));
        }

        @Override
        public void failed(String why) {
            worker.told.add("receive " + number + " failed: " + why);
        }
    }

    private static byte[] data(int bytes, long seed) {
        byte[] data = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            data[i] = (byte) (seed * 31 + i);
        }
        return data;
    }

    private static boolean intact(byte[] memory, int bytes, long seed) {
        return Arrays.equals(memory, 0, bytes, data(bytes, seed), 0, bytes);
    }

    /// What a worker has of one peer.
    private final class End implements PeerOwner {
        final Worker worker;
        final String peerName;
        final Peer peer;
        final Rails rails;
        final Session session;
        final OwnCalls own;
        final PeerCalls theirs;
        final OneSided<String> operations = new OneSided<>(setting.operations);
        final Map<Integer, Asked> asked = new HashMap<>();
        final Map<Integer, Request> requests = new HashMap<>();
        final Map<Integer, MemorySegment> exposed = new HashMap<>();
        final ArrayDeque<Peer.Read> reads = new ArrayDeque<>();
        final Map<Integer, byte[]> slots = new HashMap<>();
        final List<String> underWay = new ArrayList<>();
        int sends;
        int calls;
        int lastSlot;
        int handling;

        End(Worker worker, String peerName) {
            this.worker = worker;
            this.peerName = peerName;
            int offers = setting.offers;
            this.peer = new Peer(
                    this,
                    worker.matching,
                    new PeerLimits(
                            setting.frameBytes, setting.window, setting.crowdedBytes, offers, offers, setting.rails));
            this.rails = new Rails(setting.rails, setting.window, 32);
            this.session = new Session(peer, rails);
            for (int i = 0; i < setting.rails; i++) {
                rails.join(i);
            }
            this.own = new OwnCalls(peer, setting.places, () -> {});
            this.theirs = new PeerCalls(peer, setting.places);
        }

        void tell(String what) {
            worker.told.add(what);
        }

        End other() {
            return Objects.requireNonNull(workers.get(peerName)).to(worker.name);
        }

        // ---- departures

        /// The next frame; null when there is none now.
        @Nullable
        Sent next() {
            byte[] out = new byte[setting.frameBytes + Rails.HEADER_BYTES];
            int teller = peer.isLost() ? -1 : rails.toTell();
            if (teller >= 0) {
                int bytes = rails.tell(MemorySegment.ofArray(out));
                return sent(teller, Arrays.copyOf(out, bytes));
            }
            if (!rails.maySend()) {
                return null;
            }
            if (!rails.isToSendAgain()) {
                byte[] frame = new byte[setting.frameBytes];
                int bytes = peer.poll(MemorySegment.ofArray(frame));
                if (bytes == 0) {
                    return null;
                }
                slots.put(++lastSlot, frame);
                rails.put(lastSlot, bytes);
            }
            int rail = rails.forFrames();
            int header = setting.rails > 1 ? Rails.HEADER_BYTES : 0;
            if (header > 0) {
                rails.writeHeader(MemorySegment.ofArray(out));
            }
            System.arraycopy(Objects.requireNonNull(slots.get(rails.slot())), 0, out, header, rails.bytes());
            byte[] whole = Arrays.copyOf(out, header + rails.bytes());
            rails.sent();
            return sent(rail, whole);
        }

        private Sent sent(int rail, byte[] bytes) {
            return new Sent(rail, bytes, FrameText.fields(bytes, setting.rails, rail));
        }

        void freeSlots() {
            for (int slot = rails.free(); slot >= 0; slot = rails.free()) {
                slots.remove(slot);
            }
        }

        // ---- arrivals

        void arrives(Sent frame) {
            MemorySegment whole = MemorySegment.ofArray(frame.bytes);
            int header = Math.min(frame.bytes.length, Rails.HEADER_BYTES);
            String wrong = session.onFrame(frame.rail, whole, whole.asSlice(header), frame.bytes.length);
            for (int left = session.takeTold(); left != 0; left &= left - 1) {
                tell("rail " + Integer.numberOfTrailingZeros(left) + " lost");
            }
            freeSlots();
            if (wrong != null) {
                tell("wrong: " + wrong);
                lose("it was wrong");
            }
        }

        void lose(String why) {
            peer.lose(why, List.copyOf(reads));
            reads.clear();
            own.lose(why);
            theirs.lose();
            operations.drop().forEach(each -> tell("operation " + each + " failed"));
            worker.budget.forget(this);
        }

        void begin() {
            for (String next = operations.poll(); next != null; next = operations.poll()) {
                underWay.add(next);
                tell("begins " + next);
            }
        }

        // ---- what the protocol asks for

        @Override
        public Optional<Incoming> incoming(Kind kind, long tag, long length) {
            return switch (kind) {
                case CALL -> theirs.onCall(new Request(this, tag, length));
                case ANSWER, FAULT -> own.onAnswer(kind, tag, length);
                case CANCEL -> Optional.of(theirs.onCancel(tag));
                case TAGGED, ACTIVE -> Optional.empty();
            };
        }

        @Override
        public boolean active(int handler, MemorySegment frame, int at, int headerBytes, long dataBytes) {
            if (handler == 0) {
                return false;
            }
            tell("active " + handler + " header " + headerBytes + " len " + dataBytes);
            handling++;
            return true;
        }

        @Override
        public Optional<Incoming> active(int handler, byte[] header, long length) {
            return Optional.of(new Incoming() {
                @Override
                public MemorySegment memory() {
                    worker.budget.take(length);
                    return MemorySegment.ofArray(new byte[(int) length]);
                }

                @Override
                public void done(PeerOwner from, long tag, long bytes) {
                    tell("active " + handler + " header " + header.length + " len " + bytes);
                }

                @Override
                public void failed(String why) {
                    tell("active " + handler + " failed: " + why);
                }
            });
        }

        @Override
        public boolean admits(long length) {
            return worker.budget.admits(this, length);
        }

        @Override
        public List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange) {
            exposed.put(offer, mayChange ? MemorySegment.ofArray(data.toArray(JAVA_BYTE)) : data);
            var at = new ArrayList<RemoteMemory>();
            for (int i = 0; i < setting.rails; i++) {
                at.add(new RemoteMemory(offer, rails.isUsable(i) ? 7 : 0, data.byteSize()));
            }
            return at;
        }

        @Override
        public void withdraw(int offer, boolean isRead) {
            exposed.remove(offer);
        }
    }

    /// A call of an end.
    private static final class Asked extends OwnCalls.Asked {
        private final End end;
        private final int number;
        private final boolean hasMemory;
        private byte[] memory = {};
        private boolean isRead;

        Asked(End end, int number, boolean hasMemory) {
            this.end = end;
            this.number = number;
            this.hasMemory = hasMemory;
        }

        @Override
        protected MemorySegment memory(Kind kind, long length) {
            memory = new byte[(int) length];
            isRead = hasMemory && kind == Kind.ANSWER && end.peer.isLong(length);
            return MemorySegment.ofArray(memory);
        }

        @Override
        protected void answered(Kind kind, long length, boolean isWaiting) {
            isRead = false;
            if (isWaiting) {
                end.tell(
                        kind == Kind.FAULT
                                ? "fault " + number + " " + new String(memory, StandardCharsets.UTF_8)
                                : "answer " + number + " len " + length
                                        + (intact(memory, memory.length, number) ? "" : " broken"));
            }
        }

        @Override
        protected void unanswered() {
            isRead = false;
        }

        @Override
        protected void failed(String why) {
            end.tell("call " + number + " failed: " + why);
        }

        @Override
        protected boolean isBound() {
            return isRead;
        }
    }

    /// A call that has come to an end.
    private static final class Request extends PeerCalls.Request {
        private final End end;
        private final long length;
        private final int number;
        private final long limit;
        private byte @Nullable [] memory;

        Request(End end, long tag, long length) {
            super(end.theirs, tag);
            this.end = end;
            this.length = length;
            this.number = OwnCalls.number(tag);
            this.limit = PeerCalls.limitMillis(tag);
        }

        @Override
        public MemorySegment memory() {
            end.worker.budget.take(length);
            memory = new byte[(int) length];
            return MemorySegment.ofArray(memory);
        }

        @Override
        protected void begin() {
            end.requests.put(number, this);
            byte[] came = Objects.requireNonNull(memory);
            end.tell("asked " + number + " len " + length + (limit > 0 ? " limit " + limit + "ms" : "")
                    + (intact(came, came.length, number) ? "" : " broken"));
        }

        @Override
        protected void interrupt() {
            end.tell("interrupted " + number);
        }

        @Override
        protected void drop() {
            if (memory != null) {
                memory = null;
                end.worker.budget.release(length);
            }
        }
    }

    private final Setting setting;
    private final Map<String, Worker> workers = new LinkedHashMap<>();
    private final List<String> happened = new ArrayList<>();
    private long now;

    private WorkerScript(Setting setting) {
        this.setting = setting;
        for (String each : List.of("a", "b", "c")) {
            workers.put(each, new Worker(each));
        }
        for (Worker each : workers.values()) {
            for (Worker other : workers.values()) {
                if (each != other) {
                    each.ends.put(other.name, new End(each, other.name));
                }
            }
        }
    }

    /// Runs a script; what does not happen as it says is an assertion error that shows where.
    static void run(String script) {
        run(Setting.USUAL, script);
    }

    static void run(Setting setting, String script) {
        count++;
        new WorkerScript(setting).play(script);
    }

    static int count() {
        return count;
    }

    private void play(String script) {
        for (String line : script.lines().toList()) {
            int comment = line.indexOf('#');
            String text = (comment < 0 ? line : line.substring(0, comment)).strip();
            if (text.isEmpty()) {
                continue;
            }
            try {
                step(text.split("\\s+"));
                happened.add("  " + text);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(
                        script + "\nafter\n" + String.join("\n", happened) + "\n> " + text + "\n! " + e.getMessage(),
                        e);
            }
        }
        try {
            nothingIsLeft();
        } catch (AssertionError e) {
            throw new AssertionError(script + "\nat its end\n! " + e.getMessage(), e);
        }
    }

    /// All that was sent or told stands in the script. Workers without a line say nothing.
    private void nothingIsLeft() {
        for (Worker each : workers.values()) {
            require(each.told.isEmpty(), "%s is told %s", each.name, each.told.peek());
            for (End end : each.ends.values()) {
                if (isSilent(each.name) || isSilent(end.peerName)) {
                    continue;
                }
                Sent frame = end.next();
                require(frame == null, "%s sends %s", each.name, frame == null ? "" : frame.fields);
                require(end.reads.isEmpty() && end.peer.pollRead() == null, "%s reads", each.name);
            }
        }
    }

    private boolean isSilent(String worker) {
        return happened.stream().noneMatch(line -> (" " + line + " ").contains(" " + worker + " "));
    }

    @SuppressWarnings("AnnotateFormatMethod") // that annotation is of a library that we do not have
    private static void require(boolean holds, String format, @Nullable Object... arguments) {
        if (!holds) {
            throw new AssertionError(String.format(format, arguments));
        }
    }

    private void step(String[] words) {
        if (words[0].equals("after")) {
            now += millis(words[1]);
            return;
        }
        Worker worker = Objects.requireNonNull(workers.get(words[0]), words[0]);
        if (words[1].startsWith("-")) {
            frame(worker.to(words[2]), words);
            return;
        }
        String[] rest = Arrays.copyOfRange(words, 2, words.length);
        switch (words[1]) {
            case "told" -> told(worker, String.join(" ", rest));
            case "receive" -> receive(worker, FrameText.pairs(rest));
            case "withdraw" -> withdraw(worker, Integer.parseInt(rest[0]));
            case "close" -> worker.matching.close("it is closed");
            default -> act(worker.to(rest[0]), words[1], Arrays.copyOfRange(rest, 1, rest.length));
        }
    }

    // ---- frames

    private void frame(End from, String[] words) {
        Map<String, String> expected = FrameText.pairs(Arrays.copyOfRange(words, 4, words.length));
        expected.put("type", words[3]);
        Sent frame = from.next();
        require(frame != null, "%s sends nothing", words[0]);
        var actual = Objects.requireNonNull(frame);
        expected.forEach((key, value) -> require(
                value.equals(actual.fields.getOrDefault(key, "none")),
                "%s sends %s: %s %s expected",
                words[0],
                actual.fields,
                key,
                value));
        switch (words[1]) {
            case "->" -> {
                from.rails.completed(actual.rail);
                from.freeSlots();
                from.other().arrives(actual);
            }
            case "-x" -> {} // lost with its rail: it is not completed
            default -> throw new IllegalStateException("an arrow: " + words[1]);
        }
    }

    private static void told(Worker worker, String expected) {
        if (expected.equals("nothing")) {
            require(worker.told.isEmpty(), "%s is told %s", worker.name, worker.told.peek());
            return;
        }
        String told = worker.told.poll();
        require(told != null && told.startsWith(expected), "%s is told %s", worker.name, told);
    }

    // ---- programs

    private void receive(Worker worker, Map<String, String> fields) {
        int number = ++worker.receives;
        var incoming = new Receive(worker, number, Integer.parseInt(fields.getOrDefault("len", "100")));
        worker.receiving.put(number, incoming);
        String from = fields.get("from");
        worker.matching.receive(
                Long.decode(fields.getOrDefault("tag", "0")),
                Long.decode(fields.getOrDefault("mask", "-1")),
                from == null ? null : worker.to(from).peer,
                incoming);
    }

    private static void withdraw(Worker worker, int number) {
        boolean isTaken = worker.matching.withdraw(Objects.requireNonNull(worker.receiving.get(number)));
        worker.told.add(isTaken ? "withdrawn " + number : "too late " + number);
    }

    private void act(End end, String verb, String[] words) {
        Map<String, String> fields =
                FrameText.pairs(words.length % 2 == 0 ? words : Arrays.copyOfRange(words, 1, words.length));
        switch (verb) {
            case "send" -> send(end, fields);
            case "sends" -> active(end, fields);
            case "handled" -> {
                require(end.handling-- > 0, "no frame is being handled");
                end.peer.handled();
            }
            case "call" -> call(end, fields);
            case "answer" -> answer(end, Integer.parseInt(words[0]), fields);
            case "fault" -> fault(end, Integer.parseInt(words[0]));
            case "cancel" -> cancel(end, Integer.parseInt(words[0]));
            case "deadline" -> deadline(end, words[0]);
            case "places" -> require((end.own.hasPlace() ? "some" : "none").equals(words[0]), "places are not");
            case "begins" -> begins(end, fields);
            case "ends" -> ends(end, fields);
            case "reads" -> {
                begins(end, fields);
                ends(end, fields);
            }
            case "nothing" -> require(end.next() == null && end.peer.pollRead() == null, "there is something to send");
            case "ask" -> {
                end.operations.add(words[0]);
                end.begin();
            }
            case "fence" -> end.operations.fence();
            case "done" -> {
                require(end.underWay.remove(words[0]), "%s is not outstanding", words[0]);
                end.operations.done();
                end.begin();
            }
            case "again" -> {
                end.operations.again(List.copyOf(end.underWay));
                end.underWay.clear();
                end.begin();
            }
            case "loses" -> loses(end, words);
            case "idle" -> require(end.peer.isIdle() == words[0].equals("yes"), "idle is not");
            case "state" -> state(end, fields);
            case "release" -> end.worker.budget.release(Long.parseLong(words[0]));
            case "claim" -> end.worker.budget.take(Long.parseLong(words[0]));
            default -> throw new IllegalStateException("no such verb: " + verb);
        }
    }

    private static void send(End end, Map<String, String> fields) {
        int number = ++end.sends;
        long tag = Long.decode(fields.getOrDefault("tag", "0"));
        byte[] data = data(Integer.parseInt(fields.getOrDefault("len", "0")), tag);
        end.peer.send(outgoing(end, number, Kind.TAGGED, tag, data));
    }

    private static Outgoing outgoing(End end, int number, Kind kind, long tag, byte[] data) {
        return new Outgoing(kind, tag, MemorySegment.ofArray(data)) {
            @Override
            public void done() {
                end.tell("sent " + number);
            }

            @Override
            public void failed(String why) {
                end.tell("send " + number + " failed: " + why);
            }
        };
    }

    private static void active(End end, Map<String, String> fields) {
        int number = ++end.sends;
        int handler = Integer.parseInt(Objects.requireNonNull(fields.get("active")));
        byte[] header = new byte[Integer.parseInt(fields.getOrDefault("header", "0"))];
        byte[] data = new byte[Integer.parseInt(fields.getOrDefault("len", "0"))];
        end.peer.send(new Outgoing(handler, header, MemorySegment.ofArray(data)) {
            @Override
            public void done() {
                end.tell("sent " + number);
            }

            @Override
            public void failed(String why) {
                end.tell("send " + number + " failed: " + why);
            }
        });
    }

    private static void state(End end, Map<String, String> fields) {
        fields.forEach((key, value) -> {
            long is = switch (key) {
                case "held" -> end.peer.heldBack();
                case "kept" -> end.peer.keptBytes();
                case "unread" -> end.peer.unread();
                case "crowded" -> end.peer.timesCrowded();
                case "unexpected" -> end.worker.matching.unexpectedCount();
                case "dropped" -> end.worker.matching.dropped();
                case "requests" -> end.worker.budget.requestBytes();
                case "unanswered" -> end.own.unanswered();
                case "answering" -> end.theirs.size();
                case "slots" -> end.slots.size();
                case "exposed" -> end.exposed.size();
                default -> throw new IllegalStateException("no such state: " + key);
            };
            require(is == Long.parseLong(value), "%s is %d", key, is);
        });
    }

    private static void loses(End end, String[] words) {
        if (words.length > 0 && words[0].equals("rail")) {
            require(end.rails.lose(Integer.parseInt(words[1])), "the rail is lost already");
        } else {
            end.lose("it is gone");
        }
    }

    // ---- calls

    private void call(End end, Map<String, String> fields) {
        require(end.own.hasPlace(), "no place");
        int number = ++end.calls;
        var call = new Asked(end, number, fields.containsKey("memory"));
        end.asked.put(number, call);
        byte[] request = data(Integer.parseInt(fields.getOrDefault("len", "0")), number);
        String limit = fields.get("limit");
        end.own.begin(call, MemorySegment.ofArray(request), limit == null ? 0 : millis(limit), now);
    }

    private static void answer(End end, int number, Map<String, String> fields) {
        Request request = Objects.requireNonNull(end.requests.remove(number), "no such call");
        byte[] data = data(Integer.parseInt(fields.getOrDefault("len", "0")), number);
        end.theirs.answer(request, Kind.ANSWER, MemorySegment.ofArray(data));
        request.drop();
    }

    private static void fault(End end, int number) {
        Request request = Objects.requireNonNull(end.requests.remove(number), "no such call");
        end.theirs.answer(request, Kind.FAULT, PeerCalls.fault("it failed"));
        request.drop();
    }

    private static void cancel(End end, int number) {
        boolean isGivenUp = end.own.giveUp(Objects.requireNonNull(end.asked.get(number)));
        end.tell(isGivenUp ? "cancelled " + number : "too late " + number);
    }

    /// Looks at the time limits, and says when the next look is due.
    private void deadline(End end, String next) {
        for (OwnCalls.Asked each : end.own.onDeadline(now)) {
            end.tell("late " + ((Asked) each).number);
        }
        long nanos = end.own.nanosToDeadline(now);
        String is = nanos < 0 ? "none" : nanos / MILLIS + "ms";
        require(next.equals(is), "the next look is due in %s", is);
    }

    private static long millis(String text) {
        return Long.parseLong(text.replace("ms", "")) * MILLIS;
    }

    // ---- READs

    private static void begins(End end, Map<String, String> fields) {
        Peer.Read read = end.peer.pollRead();
        require(read != null, "nothing is read");
        var next = Objects.requireNonNull(read);
        require(fields.get("offer") == null || Integer.parseInt(fields.get("offer")) == next.offer(), "%s", next);
        String len = fields.get("len");
        require(len == null || Long.parseLong(len) == next.into().byteSize(), "%s", next);
        end.reads.add(next);
    }

    private static void ends(End end, Map<String, String> fields) {
        Peer.Read read = end.reads.poll();
        require(read != null, "nothing is being read");
        var oldest = Objects.requireNonNull(read);
        require(fields.get("offer") == null || Integer.parseInt(fields.get("offer")) == oldest.offer(), "%s", oldest);
        MemorySegment from =
                end.other().exposed.get((int) oldest.at().getFirst().address());
        require(from != null, "offer %d is not exposed", oldest.offer());
        MemorySegment.copy(from, 0, oldest.into(), 0, oldest.into().byteSize());
        end.peer.onRead(oldest);
    }
}
