package verbena.cm.mpa;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmRoute;
import verbena.cm.mpa.MpaConnection.Loss;
import verbena.verbs.Gid;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.notation.FpduText;

/// Two ends of MPA in virtual time, told as a sequence diagram; TESTING.md shows the lines. Everything that an end
/// wants done has to stand in the script, in each end's order.
///
///     a         connect [WORD VALUE]...     ird, ord, data (hex); crc, basic, once
///     a         tcp       connected         refused, unreachable, reset; b is there once it is connected
///     a -> b    MPA request rev 2 ...       a frame arrives, -x it is lost, -/> byte by byte
///     a => b    MPA request rev 2 ...       no end sends it: the script makes it, as any peer might
///     a => b    bytes 47455420              the same with any bytes
///     b         told      requested         an event; also: opens, begins, finishes, ends, closes, resets
///     nothing   for       5s
final class MpaScript {
    private static final long MILLIS = 1_000_000;
    private static final long SECONDS = 1_000_000_000;
    private static final long START = 10 * SECONDS;
    private static final int SEGMENT_BYTES = 1_448;

    static final MpaSecret NO_SECRET =
            MpaSecret.active(Secret.NONE, new CmRoute(Gid.parse("10.0.0.1"), Gid.parse("10.0.0.2")), new Random(54));

    private static int count;

    private static final class End {
        final String name;
        final int ird;
        final int ord;
        final String data;

        @Nullable
        MpaConnection mpa;

        /// Arrived, and not taken yet.
        MemorySegment arrived = MemorySegment.NULL;
        /// The action that was looked at, and is not in the script yet.
        @Nullable
        MpaAction next;

        End(String name, int ird, int ord, String data) {
            this.name = name;
            this.ird = ird;
            this.ord = ord;
            this.data = data;
        }

        MpaConnection mpa() {
            return Objects.requireNonNull(mpa, name + " is not connected");
        }

        boolean wantsSomething() {
            if (next == null && mpa != null) {
                next = mpa.poll();
            }
            return next != null;
        }

        long deadline() {
            return mpa == null ? MpaConnection.NEVER : mpa.deadlineNanos();
        }

        void arrive(MemorySegment bytes) {
            var all = MemorySegment.ofArray(new byte[(int) (arrived.byteSize() + bytes.byteSize())]);
            MemorySegment.copy(arrived, 0, all, 0, arrived.byteSize());
            MemorySegment.copy(bytes, 0, all, arrived.byteSize(), bytes.byteSize());
            int done = mpa().onBytes(all, 0, (int) all.byteSize(), SEGMENT_BYTES);
            arrived = all.asSlice(done);
        }
    }

    private final End a = new End("a", 4, 5, "010203");
    private final End b = new End("b", 7, 3, "0a");
    private final List<String> happened = new ArrayList<>();
    private long now = START;

    private MpaScript() {}

    /// Runs a script; what does not happen as it says is an assertion error that shows where.
    static void run(String script) {
        count++;
        new MpaScript().play(script);
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
                step(text);
                happened.add("  " + text);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(
                        script + "\nafter\n" + String.join("\n", happened) + "\n> " + text + "\n! " + e.getMessage(),
                        e);
            }
        }
        for (End end : List.of(a, b)) {
            if (end.wantsSomething()) {
                throw new AssertionError(script + "\n! at the end " + end.name + " also " + text(end.next));
            }
        }
    }

    private void step(String line) {
        String[] words = line.split("\\s+", 3);
        if (words[0].equals("nothing")) {
            nothing(nanos(words[2]));
            return;
        }
        End end = words[0].equals("a") ? a : b;
        if (words[1].startsWith("-") || words[1].startsWith("=")) {
            End to = end == a ? b : a;
            String[] rest = words[2].split("\\s+", 2);
            if (!rest[0].equals(to.name)) {
                throw new IllegalStateException("from " + end.name + " to " + to.name);
            }
            frame(end, words[1], to, rest[1]);
            return;
        }
        String rest = words.length > 2 ? words[2] : "";
        if (!call(end, words[1], rest)) {
            expect(end, (words[1] + " " + rest).strip());
        }
    }

    // ---- frames

    private void frame(End from, String arrow, End to, String text) {
        if (arrow.equals("=>")) {
            to.arrive(text.startsWith("bytes ") ? hex(text.substring(6).strip()) : MpaFrames.parse(text));
            return;
        }
        MpaAction action = next(from);
        String was = text(action);
        if (!(action instanceof MpaAction.Send(MemorySegment frame)) || !was.startsWith(text)) {
            throw new AssertionError(from.name + " " + was);
        }
        switch (arrow) {
            case "->" -> to.arrive(frame);
            case "-/>" -> {
                for (int i = 0; i < frame.byteSize(); i++) {
                    to.arrive(frame.asSlice(i, 1));
                }
            }
            case "-x" -> {}
            default -> throw new IllegalStateException("no arrow " + arrow);
        }
    }

    // ---- what an end wants

    private void expect(End end, String text) {
        String was = text(next(end));
        if (!was.equals(text) && !was.startsWith(text + " ")) {
            throw new AssertionError(end.name + " " + was);
        }
    }

    /// The next action of this end, when its time comes; those of the other end have to be told before.
    private MpaAction next(End end) {
        while (!end.wantsSomething()) {
            End other = end == a ? b : a;
            if (other.wantsSomething()) {
                throw new AssertionError(end.name + " wants nothing; " + other.name + " " + text(other.next));
            }
            if (!advance(MpaConnection.NEVER - 1)) {
                throw new AssertionError(end.name + " wants nothing any more");
            }
        }
        MpaAction action = Objects.requireNonNull(end.next);
        end.next = null;
        return action;
    }

    /// To the next deadline; false when there is none until `end`.
    private boolean advance(long end) {
        long deadline = Math.min(a.deadline(), b.deadline());
        if (deadline > end) {
            return false;
        }
        now = Math.max(now, deadline);
        for (End one : List.of(a, b)) {
            if (one.mpa != null) {
                one.mpa.onDeadline(now);
            }
        }
        return true;
    }

    private void nothing(long nanos) {
        long end = now + nanos;
        do {
            for (End one : List.of(a, b)) {
                if (one.wantsSomething()) {
                    throw new AssertionError(
                            one.name + " " + text(one.next) + " " + (now - end + nanos) / MILLIS + " ms after");
                }
            }
        } while (advance(end));
        now = end;
    }

    // ---- owners

    /// False when the word names no call, but something that the end is to want.
    private boolean call(End end, String verb, String rest) {
        switch (verb) {
            case "connect" -> {
                MpaEnd own = own(end, rest);
                boolean retries = !rest.contains("once");
                end.mpa = rest.contains("basic")
                        ? MpaConnection.active("peer", own, MpaTerms.basic(own.crc()), NO_SECRET, retries, now)
                        : MpaConnection.active("peer", own, NO_SECRET, retries, now);
            }
            case "accept" -> end.mpa().accept(own(end, rest), SEGMENT_BYTES);
            case "reject" ->
                end.mpa().reject(rest.contains("crc"), own(end, rest).privateData(), now);
            case "ready" -> end.mpa().ready();
            case "disconnect" -> end.mpa().disconnect();
            case "abandon" -> end.mpa().abandon();
            case "tcp" -> {
                if (rest.equals("connected") && end == b) {
                    end.mpa = MpaConnection.passive("peer", NO_SECRET, now);
                } else if (rest.equals("connected")) {
                    end.mpa().onConnected();
                } else {
                    end.mpa().onLost(Loss.valueOf(rest.toUpperCase(Locale.ROOT)), rest, now);
                }
            }
            case "stream" -> {
                switch (rest) {
                    case "finished" -> end.mpa().onStreamFinished(now);
                    case "failed" -> end.mpa().onQueuePairFailed("the queue pair has failed");
                    default ->
                        end.mpa()
                                .onStreamOver(
                                        rest.equals("ended") ? EndedBy.PEER : EndedBy.FAILURE, "the stream is over");
                }
            }
            case "state" -> {
                if (!end.mpa().state().name().equals(rest)) {
                    throw new AssertionError("the state is " + end.mpa().state());
                }
            }
            case "left" -> {
                if (end.arrived.byteSize() != Integer.parseInt(rest)) {
                    throw new AssertionError(end.arrived.byteSize() + " bytes are left");
                }
            }
            case "cannot" -> {
                String[] words = rest.split("\\s+", 2);
                try {
                    call(end, words[0], words.length > 1 ? words[1] : "");
                } catch (IllegalStateException | IllegalArgumentException e) {
                    return true;
                }
                throw new AssertionError("it could");
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static MpaEnd own(End end, String options) {
        return new MpaEnd(
                options.contains("crc"),
                Integer.parseInt(MpaFrames.value(options, "ird", Integer.toString(end.ird))),
                Integer.parseInt(MpaFrames.value(options, "ord", Integer.toString(end.ord))),
                PrivateData.of(HexFormat.of().parseHex(MpaFrames.value(options, "data", end.data))));
    }

    // ---- words

    private static String text(@Nullable MpaAction action) {
        return switch (Objects.requireNonNull(action)) {
            case MpaAction.Connect() -> "opens";
            case MpaAction.Send(MemorySegment frame) -> FpduText.mpa(frame, MpaFrames.isReply(frame));
            case MpaAction.Begin(StreamTerms terms) -> "begins " + text(terms);
            case MpaAction.Finish() -> "finishes";
            case MpaAction.EndOutput() -> "ends";
            case MpaAction.Close(boolean reset) -> reset ? "resets" : "closes";
            case MpaAction.Tell(MpaEvent event) -> "told " + text(event);
        };
    }

    private static String text(StreamTerms terms) {
        return "ird " + terms.ird() + " ord " + terms.ord() + " rtr "
                + terms.rtr().name().toLowerCase(Locale.ROOT) + (terms.crc() ? " crc" : "")
                + (terms.markersIn() ? " markers-in" : "") + (terms.markersOut() ? " markers-out" : "") + " mulpdu "
                + terms.mulpdu();
    }

    private static String text(MpaEvent event) {
        return switch (event) {
            case MpaEvent.Requested(MpaTerms terms, PrivateData data) -> "requested " + text(terms, data);
            case MpaEvent.Accepted(MpaTerms terms, PrivateData data) -> "accepted " + text(terms, data);
            case MpaEvent.Established() -> "established";
            case MpaEvent.Rejected(var reason, String _, PrivateData data) ->
                "rejected " + reason.name().toLowerCase(Locale.ROOT).replace('_', '-') + " data " + data;
            case MpaEvent.Unreachable(String _) -> "unreachable";
            case MpaEvent.Disconnected(EndedBy by, String _) ->
                "disconnected by " + by.name().toLowerCase(Locale.ROOT).replace('_', '-');
        };
    }

    private static String text(MpaTerms terms, PrivateData data) {
        String depths = terms.ird() == MpaFrame.DEPTH_MAX ? "" : "ird " + terms.ird() + " ord " + terms.ord() + " ";
        return depths + "data " + HexFormat.of().formatHex(data.bytes());
    }

    private static MemorySegment hex(String text) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(text));
    }

    private static long nanos(String text) {
        return text.endsWith("ms")
                ? Long.parseLong(text.substring(0, text.length() - 2)) * MILLIS
                : Long.parseLong(text.substring(0, text.length() - 1)) * SECONDS;
    }

    static byte[] bytes(MemorySegment segment) {
        return segment.toArray(ValueLayout.JAVA_BYTE);
    }
}
