package verbena.sim.script;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.transport.near.NearConnection;
import verbena.transport.near.PeerMessages;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;

/// The way of an end's messages to its peer, without packets. A line of the script opens it, and each message that
/// arrives is a line.
final class MessageWay implements PeerMessages {
    private static final List<String> KINDS = List.of("", "answer", "decline", "query", "send", "write");

    private static final long LOSSY_PATIENCE_NANOS = 5_000_000_000L;

    private final End end;
    private final MemorySegment memory = Arena.ofAuto().allocate(DirectMessage.BYTES_MAX, Long.BYTES);
    private final Deque<Frame> added = new ArrayDeque<>();
    private final Deque<Frame> shown = new ArrayDeque<>();
    private int begun;
    private boolean isOpen = true;
    private boolean isFull;
    private long place;
    private long read;
    /// Whether the peer reads all at once.
    private boolean isRead = true;
    /// Whether its packets may be lost though the peer has not read.
    private boolean mayLose;

    MessageWay(End end) {
        this.end = end;
    }

    /// `messages`, `messages closed`, `messages full`, `messages room`, `messages unread`, `messages read`,
    /// `messages busy`, `messages lossy`
    static void run(End end, Words words) {
        MessageWay way = end.messages(words);
        if (words.accept("closed")) {
            way.isOpen = false;
        } else if (words.accept("full")) {
            way.isFull = true;
        } else if (words.accept("room")) {
            way.isFull = false;
        } else if (words.accept("unread")) {
            way.isRead = false;
        } else if (words.accept("read")) {
            way.isRead = true;
        } else if (words.accept("busy")) {
            way.isRead = false;
            way.read = way.place++;
        } else if (words.accept("lossy")) {
            way.mayLose = true;
        }
    }

    /// `a => b send number 100 expects 7000`: the next message arrives. Returns it in words.
    static String arrive(End from, End to, Words words, long now) {
        MessageWay way = from.messages(words);
        from.turn(now);
        Frame message = way.shown.poll();
        if (message == null) {
            throw new Mismatch(from.name + " has no message");
        }
        String text = text(message);
        boolean isSame = KINDS.get(DirectMessage.kind(message)).equals(words.next("kind"));
        while (!words.isEmpty()) {
            String word = words.next("word");
            isSame &= switch (word) {
                case "number" -> DirectMessage.number(message) == words.integer(word);
                case "expects" -> DirectMessage.expected(message) == words.integer(word);
                case "bytes" -> DirectMessage.dataBytes(message) == words.integer(word);
                case "first" -> (DirectMessage.flags(message) & DirectMessage.FIRST) != 0;
                case "follows" -> (DirectMessage.flags(message) & DirectMessage.FIRST) == 0;
                case "silent" -> !DirectMessage.answers(message);
                case "solicited" -> (DirectMessage.flags(message) & DirectMessage.SOLICITED) != 0;
                default -> throw words.wrong("\"" + word + "\" is nothing of a message");
            };
        }
        if (!isSame) {
            throw new Mismatch(from.name + " => " + to.name + "  " + text);
        }
        hand(to, message, now);
        return text;
    }

    /// As the end's device does: it answers for an end that is not connected, or to another peer.
    private static void hand(End to, Frame message, long now) {
        MessageWay back = to.messages;
        boolean isTaken = to.protocol instanceof NearConnection connection && connection.onMessage(message, now);
        boolean isAsked = DirectMessage.kind(message) == DirectMessage.QUERY
                && DirectMessage.sourceQp(message) == to.peer.parameters.qpn;
        if (!isTaken && isAsked && back != null && !back.isFull) {
            Frame answer = allocate();
            DirectMessage.writeDecline(answer.slot, answer.start, message);
            answer.length = DirectMessage.HEADER_BYTES;
            back.shown.add(answer);
        }
    }

    private static Frame allocate() {
        return Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
    }

    /// `peer => b write number 100 bytes 8 at r1+0 rkey 99`: a scripted peer sends anything.
    static void forge(Ends ends, End to, Words words, long now) {
        Frame message = allocate();
        int kind = KINDS.indexOf(words.next("kind"));
        int number = 0;
        int expected = 0;
        int source = to.parameters.destinationQpn;
        int bytes = 0;
        int flags = DirectMessage.ANSWERS;
        int value = 0;
        long address = 0;
        int rkey = 0;
        while (!words.isEmpty()) {
            String word = words.next("word");
            switch (word) {
                case "number" -> number = words.integer(word);
                case "expects" -> expected = words.integer(word);
                case "source-qp" -> source = words.integer(word);
                case "bytes" -> bytes = words.integer(word);
                case "rkey" -> rkey = words.integer(word);
                case "at" -> {
                    Place place = ends.place(to, words);
                    address = place.area().region.iova() + place.offset();
                    rkey = place.area().region.key();
                }
                case "first" -> flags |= DirectMessage.FIRST;
                case "silent" -> flags &= ~DirectMessage.ANSWERS;
                case "imm" -> {
                    flags |= DirectMessage.WITH_IMMEDIATE;
                    value = words.integer(word);
                }
                default -> throw words.wrong("\"" + word + "\" is nothing of a message");
            }
        }
        DirectMessage.write(message.slot, message.start, kind, flags, to.parameters.qpn, source, number, expected);
        DirectMessage.setImmediate(message.slot, message.start, value);
        boolean isWrite = kind == DirectMessage.WRITE;
        if (isWrite) {
            DirectMessage.setRemote(message.slot, message.start, address, rkey);
        }
        message.length = (isWrite ? DirectMessage.WRITE_HEADER_BYTES : DirectMessage.HEADER_BYTES) + bytes;
        hand(to, message, now);
    }

    private static String text(Frame message) {
        String kind = KINDS.get(DirectMessage.kind(message));
        return (kind.equals("send") || kind.equals("write") ? kind + " number " + DirectMessage.number(message) : kind)
                + " expects " + DirectMessage.expected(message);
    }

    /// A message that the peer has not been given; null when there is none.
    @Nullable
    String left() {
        Frame message = shown.peek();
        return message == null ? null : text(message);
    }

    @Override
    public boolean isOpen() {
        return isOpen;
    }

    @Override
    public long begin(int bytes) {
        begun = bytes;
        return isFull ? -1 : 0;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public void end() {
        Frame message = allocate();
        MemorySegment.copy(memory, 0, message.slot, message.start, begun);
        message.length = begun;
        if (!DirectMessage.isWellFormed(message)
                || DirectMessage.sourceQp(message) != end.parameters.qpn
                || DirectMessage.destinationQp(message) != end.peer.parameters.qpn) {
            throw new AssertionError(end.name + " sends what is no message");
        }
        added.add(message);
        place++;
    }

    @Override
    public void show() {
        shown.addAll(added);
        added.clear();
    }

    @Override
    public long added() {
        return place;
    }

    @Override
    public boolean isRead(long before) {
        return isRead || before <= read;
    }

    @Override
    public boolean mayLose() {
        return mayLose;
    }

    @Override
    public long patienceNanos() {
        return mayLose ? LOSSY_PATIENCE_NANOS : PeerMessages.super.patienceNanos();
    }
}
