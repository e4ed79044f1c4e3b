package verbena.cm.noise;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.psp.PspHeader;

/// One device's agreements on keys with all its peers, by datagrams that may be lost, repeated or forged. The end
/// that needs keys sends a hello, gets a cookie, and sends it with the first of three messages of a [Handshake].
///
/// What a stranger can make this end do: every datagram carries a proof of the secret, so others cost one HMAC.
/// A recorded hello costs an answer of its length. A recorded first message has a cookie that is too old, or a
/// number that is still remembered. So only those who have the secret make this end compute keys or remember
/// anything, and there are limits for these too.
///
/// A function of messages and time. One owner.
public final class KeyExchange {
    /// The deadline when nothing is to be done.
    public static final long NEVER = Long.MAX_VALUE;
    /// Agreements that this end has answered and remembers at once.
    public static final int ANSWERED_MAX = 1_024;
    /// Agreements that this end has begun at once.
    public static final int BEGUN_MAX = 1_024;

    /// Agreements that one IPv4 address, or one IPv6 network of 64 bits, may have begun and not ended.
    private static final int OPEN_MAX = 128;

    private static final long SECOND = 1_000_000_000;
    private static final long RESEND_NANOS = SECOND / 10;
    private static final long RESEND_NANOS_MAX = SECOND;
    /// The time without a result after which an agreement has failed.
    private static final long GIVE_UP_NANOS = 5 * SECOND;
    /// The time for which one key makes cookies, and is known after that.
    private static final long COOKIE_NANOS = 10 * SECOND;
    /// The time that a cookie may be used, and answers are remembered, so that no first message is answered twice.
    private static final long REMEMBER_NANOS = 2 * COOKIE_NANOS;

    private static final int UNKNOWN_A_SECOND = 16;

    /// The time between two answers in the long run, and how many come at once.
    private static final long COMPUTE_NANOS = SECOND / 500;

    private static final int COMPUTE_BURST = 32;

    /// The place of the port behind the SPI.
    private static final int PORT_AT = Integer.BYTES;

    private static final byte[] NOTHING = new byte[0];
    private static final byte[] PROLOGUE = "Verbena PSP keys 2".getBytes(StandardCharsets.US_ASCII);

    /// The two ends, as one of them sees it.
    ///
    /// @param local this end
    /// @param remote the other end
    public record Pair(Gid local, Gid remote) {
        /// Returns the pair as the other end sees it.
        public Pair reversed() {
            Gid here = remote;
            Gid there = local;
            return new Pair(here, there);
        }
    }

    /// The result of an agreement of two ends. Keys are master keys: those of SPIs are derived from them.
    public static final class Agreed {
        private final boolean isKnownToPeer;
        private final byte[] sealing;
        private final int sealingSpi;
        private final byte[] opening;
        private final int openingSpi;

        private Agreed(boolean isKnownToPeer, byte[] sealing, int sealingSpi, byte[] opening, int openingSpi) {
            this.isKnownToPeer = isKnownToPeer;
            this.sealing = sealing;
            this.sealingSpi = sealingSpi;
            this.opening = opening;
            this.openingSpi = openingSpi;
        }

        /// Returns whether the peer has the keys for certain.
        public boolean isKnownToPeer() {
            return isKnownToPeer;
        }

        /// Returns the master key of packets to the peer.
        public byte[] sealing() {
            return sealing;
        }

        /// Returns the SPI that the peer has chosen.
        public int sealingSpi() {
            return sealingSpi;
        }

        /// Returns the master key of packets from the peer.
        public byte[] opening() {
            return opening;
        }

        /// Returns the SPI that this end has chosen.
        public int openingSpi() {
            return openingSpi;
        }
    }

    /// The device around it.
    public interface Host {
        /// Sends a datagram, which may be lost.
        ///
        /// @param port the second port that both ends have, or 0
        void send(Pair pair, byte[] message, int port);

        /// Returns the second port, at which this end takes packets too; 0 when it has none.
        int port();

        /// Chooses an SPI for packets from this peer; 0 when there is room for no other peer.
        int chooseSpi(Pair pair);

        /// Takes keys.
        void onAgreed(Pair pair, Agreed agreed);

        /// Shows the peer a packet that is sealed by the last keys: it waits for one.
        void confirm(Pair pair);

        /// Returns whether packets to this peer leave under this SPI now.
        boolean sealsUnder(Pair pair, int spi);

        /// Notes that an agreement has failed.
        void onFailed(Pair pair);

        /// Notes that a peer has the secret, but is not who is at its address.
        ///
        /// @param why as its credentials were refused
        void onRefused(Pair pair, String why);

        /// Returns what computes in all agreements.
        X25519 curve();

        /// Returns the judgement of statements, and this end's own.
        Credentials credentials();

        /// Fills an array with unpredictable bytes.
        void draw(byte[] into);
    }

    /// The kinds of event that are counted.
    public enum Count {
        /// Agreements that this end began and the peer has confirmed.
        BEGUN,
        /// Agreements that a peer began.
        ANSWERED,
        /// Agreements without an answer in time.
        FAILED,
        /// Datagrams without a proof of the secret.
        UNPROVEN,
        /// Agreements whose peer has shown nothing that is believed.
        REFUSED,
        /// Datagrams with a proof that belong to nothing here: late, repeated, or out of order.
        STRAY,
        /// First messages for which there was no room.
        OVERFLOWED
    }

    /// An agreement that this end has begun.
    private static final class Begun {
        final byte[] id;
        final long endNanos;
        KeyMessage.Kind last = KeyMessage.Kind.HELLO;
        byte[] message;
        long nextNanos;
        long pauseNanos = RESEND_NANOS;

        @Nullable
        Handshake handshake;

        Begun(byte[] id, byte[] message, long now) {
            this.id = id;
            this.message = message;
            nextNanos = now + RESEND_NANOS;
            endNanos = now + GIVE_UP_NANOS;
        }

        void sends(KeyMessage.Kind kind, byte[] next, long now) {
            last = kind;
            message = next;
            pauseNanos = RESEND_NANOS;
            nextNanos = now + RESEND_NANOS;
        }
    }

    /// An agreement that this end has answered; without handshake when it is over.
    private static final class Answered {
        final Pair pair;
        final long endNanos;
        final int spi;
        /// The second message, until the third has come.
        byte[] message;

        @Nullable
        Handshake handshake;

        boolean isDone;

        /// Returns whether the agreement is under way: as long as the other end repeats its messages.
        boolean isUnderWay(long now) {
            return handshake != null && now - (endNanos - REMEMBER_NANOS) < GIVE_UP_NANOS;
        }

        Answered(Pair pair, int spi, byte[] message, Handshake handshake, long now) {
            this.pair = pair;
            this.spi = spi;
            this.message = message;
            this.handshake = handshake;
            endNanos = now + REMEMBER_NANOS;
        }
    }

    private final Host host;
    private final KeyMessage messages;
    private final byte[] secret;
    private final Handshake.Identity identity;
    /// The statement that goes with the key of this end.
    private final byte[] shown;

    private final Map<Pair, Begun> begun = new HashMap<>();
    /// The answered agreements, by the number that the peer has drawn, in the order in which they are forgotten.
    private final Map<ByteBuffer, Answered> answered = new LinkedHashMap<>();

    /// The last agreement that was answered, for each pair: while it is under way, this end begins none.
    private final Map<Pair, Answered> lastAnswered = new HashMap<>();

    private byte[] cookieKey = new byte[Handshake.KEY_BYTES];
    private byte[] formerCookieKey = new byte[Handshake.KEY_BYTES];
    private long cookieNanos;
    private long unknownNanos;
    private int unknownLeft = UNKNOWN_A_SECOND;
    /// The time by which the answers so far are paid for.
    private long computedNanos;

    private final Consumer<Count> counter;

    /// @param secret that all devices have which may talk with each other, of at least 16 bytes
    /// @param use what the keys are for: devices with another use are strangers, as those with another secret
    /// @param counter is called for each event that is counted
    public KeyExchange(byte[] secret, String use, Host host, Consumer<Count> counter, long now) {
        this.host = host;
        this.counter = counter;
        messages = new KeyMessage(derived(secret, "Verbena PSP secret 1, proofs, " + use));
        this.secret = derived(secret, "Verbena PSP secret 1, agreements, " + use);
        identity = new Handshake.Identity(host.curve(), drawn(Handshake.KEY_BYTES));
        shown = host.credentials().show(identity.known());
        host.draw(cookieKey);
        host.draw(formerCookieKey);
        cookieNanos = now;
        unknownNanos = now;
        computedNanos = now - COMPUTE_BURST * COMPUTE_NANOS;
    }

    /// Agrees on keys with itself, which loads and compiles what an agreement needs. The first one of a process
    /// takes some hundred milliseconds, and would stop an engine for as long.
    ///
    /// @param rounds how often
    public static void rehearse(X25519 curve, int rounds) {
        byte[] key = new byte[Handshake.KEY_BYTES];
        byte[] nothing = new byte[0];
        var identity = new Handshake.Identity(curve, key);
        for (int i = 0; i < rounds; i++) {
            var first = new Handshake(true, nothing, key, identity, key);
            var second = new Handshake(false, nothing, key, identity, key);
            byte[] _ = second.read(first.write(nothing));
            byte[] _ = first.read(second.write(nothing));
            byte[] _ = second.read(first.write(nothing));
            if (!Arrays.equals(first.keys()[0], second.keys()[1])) {
                throw new IllegalStateException("the JDK's cryptography does not agree with itself");
            }
        }
    }

    private static byte[] derived(byte[] secret, String use) {
        return KeyMessage.mac(secret).doFinal(use.getBytes(StandardCharsets.US_ASCII));
    }

    /// Returns whether a datagram belongs to an exchange, by its form alone.
    public static boolean isMessage(MemorySegment packet, long at, int bytes) {
        return KeyMessage.kind(packet, at, bytes) != null;
    }

    // --- this end begins

    /// Begins to agree on keys, unless that is under way.
    public void begin(Pair pair, long now) {
        Answered answer = lastAnswered.get(pair);
        if (begun.containsKey(pair) || (answer != null && answer.isUnderWay(now))) {
            return;
        }
        if (begun.size() == BEGUN_MAX) {
            counter.accept(Count.OVERFLOWED);
            host.onFailed(pair);
            return;
        }
        byte[] id = drawn(KeyMessage.ID_BYTES);
        byte[] hello = write(KeyMessage.Kind.HELLO, pair, id, new byte[KeyMessage.Kind.HELLO.bodyBytes]);
        begun.put(pair, new Begun(id, hello, now));
        host.send(pair, hello, 0);
    }

    /// Notes that the peer has sealed by the keys of the last agreement that this end began.
    public void onConfirmed(Pair pair) {
        Begun one = begun.get(pair);
        if (one != null && one.last == KeyMessage.Kind.THIRD) {
            begun.remove(pair);
            counter.accept(Count.BEGUN);
        }
    }

    /// Returns whether a message about an unknown SPI may go to a peer now, which happens a few times a second.
    public boolean mayTellUnknown(long now) {
        if (now - unknownNanos >= SECOND) {
            unknownNanos = now;
            unknownLeft = UNKNOWN_A_SECOND;
        }
        return unknownLeft > 0;
    }

    /// Sends a peer the message that this end has no keys for an SPI.
    public void tellUnknown(Pair pair, int spi) {
        unknownLeft--;
        host.send(pair, write(KeyMessage.Kind.UNKNOWN, pair, drawn(KeyMessage.ID_BYTES), number(spi)), 0);
    }

    // --- messages

    /// Takes a datagram of the form of an exchange.
    public void onMessage(Pair pair, MemorySegment packet, long at, int bytes, long now) {
        KeyMessage.Kind kind = KeyMessage.kind(packet, at, bytes);
        if (kind == null) {
            throw new IllegalArgumentException("packet: has not the form of an exchange");
        }
        byte[] message = packet.asSlice(at, bytes).toArray(ValueLayout.JAVA_BYTE);
        if (!messages.isProven(message, pair.remote, pair.local)) {
            counter.accept(Count.UNPROVEN);
            return;
        }
        byte[] id = KeyMessage.id(message);
        byte[] body = KeyMessage.body(message);
        boolean isExpected = switch (kind) {
            case HELLO -> onHello(pair, id, now);
            case COOKIE -> onCookie(pair, id, body, now);
            case FIRST -> onFirst(pair, id, body, now);
            case SECOND -> onSecond(pair, id, body, now);
            case THIRD -> onThird(pair, id, body);
            case UNKNOWN -> onUnknown(pair, body, now);
        };
        if (!isExpected) {
            counter.accept(Count.STRAY);
        }
    }

    private boolean onHello(Pair pair, byte[] id, long now) {
        renewCookieKey(now);
        host.send(pair, write(KeyMessage.Kind.COOKIE, pair, id, cookie(cookieKey, pair, id)), 0);
        return true;
    }

    private void renewCookieKey(long now) {
        while (now - cookieNanos >= COOKIE_NANOS) {
            formerCookieKey = cookieKey;
            cookieKey = drawn(Handshake.KEY_BYTES);
            cookieNanos = now - cookieNanos >= REMEMBER_NANOS ? now - COOKIE_NANOS : cookieNanos + COOKIE_NANOS;
        }
    }

    private static byte[] cookie(byte[] key, Pair pair, byte[] id) {
        var mac = KeyMessage.mac(key);
        mac.update(pair.local.bytes());
        mac.update(pair.remote.bytes());
        return Arrays.copyOf(mac.doFinal(id), KeyMessage.MAC_BYTES);
    }

    private boolean onCookie(Pair pair, byte[] id, byte[] cookie, long now) {
        Begun one = begun(pair, id, KeyMessage.Kind.HELLO);
        if (one == null) {
            return false;
        }
        Handshake handshake = handshake(true, pair.local, pair.remote);
        one.handshake = handshake;
        one.sends(
                KeyMessage.Kind.FIRST,
                write(KeyMessage.Kind.FIRST, pair, id, Handshake.joined(cookie, handshake.write(new byte[0]))),
                now);
        host.send(pair, one.message, 0);
        return true;
    }

    private boolean onFirst(Pair pair, byte[] id, byte[] body, long now) {
        renewCookieKey(now);
        byte[] returned = Arrays.copyOf(body, KeyMessage.MAC_BYTES);
        if (!MessageDigest.isEqual(returned, cookie(cookieKey, pair, id))
                && !MessageDigest.isEqual(returned, cookie(formerCookieKey, pair, id))) {
            return false;
        }
        Answered known = answered.get(ByteBuffer.wrap(id));
        if (known != null) {
            if (known.handshake != null) {
                host.send(pair, known.message, 0); // the answer was lost
            }
            return known.handshake != null;
        }
        if (begun.containsKey(pair) && isGreater(pair.local, pair.remote)) {
            return false; // both have begun: the peer answers ours
        }
        boolean isFull = answered.size() == ANSWERED_MAX || !hasRoomFor(pair.remote);
        int spi = isFull || !mayCompute(now) ? 0 : host.chooseSpi(pair);
        if (spi == 0) {
            counter.accept(Count.OVERFLOWED);
            return true;
        }
        Handshake handshake = handshake(false, pair.remote, pair.local);
        if (handshake.read(Arrays.copyOfRange(body, KeyMessage.MAC_BYTES, body.length)) == null) {
            return false;
        }
        begun.remove(pair);
        byte[] told = ByteBuffer.allocate(PORT_AT + Short.BYTES)
                .putInt(spi)
                .putShort((short) host.port())
                .array();
        byte[] second = write(KeyMessage.Kind.SECOND, pair, id, handshake.write(Handshake.joined(told, shown)));
        var answer = new Answered(pair, spi, second, handshake, now);
        answered.put(ByteBuffer.wrap(id), answer);
        lastAnswered.put(pair, answer);
        host.send(pair, second, 0);
        return true;
    }

    /// Returns whether a peer may have one more agreement without an end: those who have no secret to prove would
    /// take all places.
    private boolean hasRoomFor(Gid remote) {
        int open = 0;
        for (Answered one : answered.values()) {
            Gid other = one.pair.remote;
            boolean isNear = other.high() == remote.high() && (!remote.isIpv4() || other.low() == remote.low());
            open += isNear && !one.isDone ? 1 : 0;
        }
        return open < OPEN_MAX;
    }

    /// Returns whether there is time to answer now: agreements get a small share of it, and packets the rest. The
    /// peer asks again.
    private boolean mayCompute(long now) {
        long earliest = now - COMPUTE_BURST * COMPUTE_NANOS;
        if (computedNanos - earliest < 0) {
            computedNanos = earliest;
        }
        if (computedNanos - now > 0) {
            return false;
        }
        computedNanos += COMPUTE_NANOS;
        return true;
    }

    private static boolean isGreater(Gid one, Gid other) {
        int high = Long.compareUnsigned(one.high(), other.high());
        return high > 0 || (high == 0 && Long.compareUnsigned(one.low(), other.low()) > 0);
    }

    private boolean onSecond(Pair pair, byte[] id, byte[] body, long now) {
        Begun one = begun(pair, id, KeyMessage.Kind.FIRST);
        Handshake handshake = one == null ? null : one.handshake;
        if (one == null || handshake == null) {
            return false;
        }
        byte[] theirs = handshake.read(body);
        if (theirs == null || !PspHeader.isSpi(number(theirs))) {
            fail(pair);
            return false;
        }
        if (!isBelieved(pair, handshake, theirs, PORT_AT + Short.BYTES)) {
            fail(pair);
            return true;
        }
        int spi = host.chooseSpi(pair);
        if (spi == 0) {
            fail(pair);
            return true;
        }
        byte[] third = handshake.write(Handshake.joined(number(spi), shown));
        byte[][] keys = handshake.keys();
        one.sends(KeyMessage.Kind.THIRD, write(KeyMessage.Kind.THIRD, pair, id, third), now);
        host.onAgreed(pair, new Agreed(false, keys[0], number(theirs), keys[1], spi));
        int port = Short.toUnsignedInt(ByteBuffer.wrap(theirs).getShort(PORT_AT));
        host.send(pair, one.message, port == host.port() ? port : 0); // repeated at the port where the others came
        return true;
    }

    private boolean onThird(Pair pair, byte[] id, byte[] body) {
        Answered one = answered.get(ByteBuffer.wrap(id));
        if (one == null || !one.pair.equals(pair)) {
            return false;
        }
        Handshake handshake = one.handshake;
        if (handshake == null && !one.isDone) {
            return false;
        }
        if (handshake != null) {
            byte[] theirs = handshake.read(body);
            one.handshake = null;
            one.message = NOTHING;
            if (theirs == null || !PspHeader.isSpi(number(theirs))) {
                return false;
            }
            if (!isBelieved(pair, handshake, theirs, Integer.BYTES)) {
                return true;
            }
            byte[][] keys = handshake.keys();
            one.isDone = true;
            counter.accept(Count.ANSWERED);
            host.onAgreed(pair, new Agreed(true, keys[0], number(theirs), keys[1], one.spi));
        }
        host.confirm(pair);
        return true;
    }

    /// Returns whether the peer is who is at its address.
    ///
    /// @param payload what the peer shows, from `at` on
    private boolean isBelieved(Pair pair, Handshake handshake, byte[] payload, int at) {
        byte[] theirs = Arrays.copyOfRange(payload, at, payload.length);
        String why = host.credentials().refusal(pair.remote, handshake.peerIdentity(), theirs);
        if (why != null) {
            counter.accept(Count.REFUSED);
            host.onRefused(pair, why);
        }
        return why == null;
    }

    private boolean onUnknown(Pair pair, byte[] body, long now) {
        boolean isTrue = host.sealsUnder(pair, number(body));
        if (isTrue) {
            begin(pair, now);
        }
        return isTrue;
    }

    // --- time

    /// Returns the time at which [#onDeadline] is to be called; [#NEVER] when nothing is under way.
    public long deadlineNanos() {
        long earliest = NEVER;
        for (Begun one : begun.values()) {
            earliest = earliest == NEVER || one.nextNanos - earliest < 0 ? one.nextNanos : earliest;
        }
        if (!answered.isEmpty()) {
            long end = answered.values().iterator().next().endNanos;
            earliest = earliest == NEVER || end - earliest < 0 ? end : earliest;
        }
        return earliest;
    }

    /// Repeats messages without an answer, and forgets agreements that are over.
    public void onDeadline(long now) {
        for (Iterator<Answered> all = answered.values().iterator(); all.hasNext(); ) {
            Answered oldest = all.next();
            if (now - oldest.endNanos < 0) {
                break;
            }
            all.remove();
            boolean _ = lastAnswered.remove(oldest.pair, oldest);
        }
        for (Pair pair : begun.keySet().toArray(Pair[]::new)) {
            Begun one = begun.get(pair);
            if (one == null || now - one.nextNanos < 0) {
                continue;
            }
            if (now - one.endNanos >= 0) {
                fail(pair);
                continue;
            }
            one.pauseNanos = Math.min(2 * one.pauseNanos, RESEND_NANOS_MAX);
            one.nextNanos = now + one.pauseNanos;
            host.send(pair, one.message, 0);
        }
    }

    private void fail(Pair pair) {
        begun.remove(pair);
        counter.accept(Count.FAILED);
        host.onFailed(pair);
    }

    // --- parts

    private @Nullable Begun begun(Pair pair, byte[] id, KeyMessage.Kind last) {
        Begun one = begun.get(pair);
        return one != null && one.last == last && Arrays.equals(one.id, id) ? one : null;
    }

    private Handshake handshake(boolean isFirst, Gid first, Gid second) {
        byte[] ends = Handshake.joined(first.bytes(), second.bytes());
        return new Handshake(isFirst, Handshake.joined(PROLOGUE, ends), secret, identity, drawn(Handshake.KEY_BYTES));
    }

    private byte[] write(KeyMessage.Kind kind, Pair pair, byte[] id, byte[] body) {
        return messages.write(kind, pair.local, pair.remote, id, body);
    }

    private byte[] drawn(int bytes) {
        byte[] made = new byte[bytes];
        host.draw(made);
        return made;
    }

    private static byte[] number(int spi) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(spi).array();
    }

    private static int number(byte[] bytes) {
        return ByteBuffer.wrap(bytes).getInt();
    }
}
