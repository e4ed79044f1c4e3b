package verbena.cm.mpa;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmGuard;
import verbena.cm.CmProof;
import verbena.cm.CmRefusal;
import verbena.cm.CmRoute;
import verbena.verbs.Gid;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;
import verbena.wire.iwarp.MpaFrame;

/// The proof of the two ends of an iWARP connection to each other that they know a secret ([decision
/// 48](../../../../../../../docs/decisions/48-keys-and-secrets.md)). A request without a proof is rejected with a
/// challenge; the active side asks again, over another TCP connection, with the proof. The reply has a proof too.
/// Each proof covers the whole frames up to it. Without a secret nothing is added, and nothing with a proof is taken.
///
/// A request has [#REQUEST_BYTES] before the application's private data: a mark, a nonce, and a proof, which is zero
/// while the challenge is not known. A reply has [#REPLY_BYTES]: the mark and a proof. For one thread at a time.
public final class MpaSecret {
    /// Bytes of a request's private data that are not the application's.
    static final int REQUEST_BYTES = 40;
    /// Bytes of a reply's.
    static final int REPLY_BYTES = 24;

    private static final byte[] MARK = "Verbena1".getBytes(StandardCharsets.US_ASCII);
    private static final int NONCE_AT = MARK.length;
    private static final int PROOF_AT = NONCE_AT + CmProof.NONCE_BYTES;
    private static final byte[] ACTIVE = "Verbena MPA secret 1, active".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] PASSIVE = "Verbena MPA secret 1, passive".getBytes(StandardCharsets.US_ASCII);
    /// A challenge comes twice when a proof was late.
    private static final int CHALLENGES_MAX = 6;

    private static final byte[] NOTHING = {};

    /// The part of a passive side.
    private record Passive(CmGuard guard, int port, long now, Consumer<CmRefusal> onUnproven) {}

    private final Secret secret;
    private final Gid active;
    private final Gid passive;
    private final @Nullable RandomGenerator random;
    private final @Nullable Passive judge;

    private byte[] nonce = NOTHING;
    /// The challenge that the secret is proven for; empty while it is not known.
    private byte[] challenge = NOTHING;
    /// The request, without its proof.
    private byte[] request = NOTHING;
    /// Active: how often the peer has challenged.
    private int challenges;

    private MpaSecret(
            Secret secret, Gid active, Gid passive, @Nullable RandomGenerator random, @Nullable Passive judge) {
        this.secret = secret;
        this.active = active;
        this.passive = passive;
        this.random = random;
        this.judge = judge;
        restart();
    }

    /// Makes that of an active side.
    ///
    /// @param random unpredictable to anybody
    public static MpaSecret active(Secret secret, CmRoute route, RandomGenerator random) {
        return new MpaSecret(secret, route.local(), route.remote(), random, null);
    }

    /// Makes that of a passive side.
    ///
    /// @param port that the peer has connected to
    /// @param onUnproven called with the reason when the peer proves nothing
    public static MpaSecret passive(
            Secret secret, CmRoute route, int port, CmGuard guard, long now, Consumer<CmRefusal> onUnproven) {
        return new MpaSecret(secret, route.remote(), route.local(), null, new Passive(guard, port, now, onUnproven));
    }

    private void restart() {
        challenge = NOTHING;
        if (random != null) {
            nonce = new byte[CmProof.NONCE_BYTES];
            random.nextBytes(nonce);
        }
    }

    /// Returns the bytes that requests have for it.
    int requestBytes() {
        return secret.isNone() ? 0 : REQUEST_BYTES;
    }

    /// Returns the bytes that replies have for it.
    int replyBytes() {
        return secret.isNone() ? 0 : REPLY_BYTES;
    }

    // ---- the active side's

    /// Returns a request with its proof. One without it, which asks for a challenge, is for a connection without a
    /// first message. A peer that knows no secret accepts it, and is left at once. Linux's soft-iWARP stops the
    /// whole kernel (BUG in `cm_close_handler`) when an initiator leaves between reply and first message.
    MemorySegment prove(MpaTerms terms, PrivateData data) {
        if (secret.isNone()) {
            return terms.frame(false, false, data);
        }
        byte[] marked = ByteBuffer.allocate(REQUEST_BYTES + data.length())
                .put(MARK)
                .put(nonce)
                .put(REQUEST_BYTES, data.bytes())
                .array();
        MpaTerms how = challenge.length > 0 ? terms : terms.withoutFirstMessage();
        MemorySegment frame = how.frame(false, false, PrivateData.of(marked));
        request = bytes(frame);
        if (challenge.length > 0) {
            put(frame, PROOF_AT, proof(ACTIVE, request));
        }
        return frame;
    }

    /// Takes the challenge of a peer, so that the next request proves the secret. Returns false when it is one too
    /// many,
    /// or there is nothing to prove.
    boolean takesChallenge(byte[] asked) {
        if (secret.isNone() || ++challenges > CHALLENGES_MAX) {
            return false;
        }
        if (challenge.length == 0) {
            challenge = asked;
        } else {
            restart(); // the proof was late
        }
        return true;
    }

    /// Returns whether a reply proves the secret, or neither side has one.
    boolean isProven(MemorySegment reply, PrivateData data) {
        if (isMarked(data, REPLY_BYTES) == secret.isNone()) {
            return false;
        }
        return secret.isNone()
                || MessageDigest.isEqual(
                        proof(PASSIVE, request, without(reply, NONCE_AT)), part(data, NONCE_AT, CmProof.PROOF_BYTES));
    }

    // ---- the passive side's

    /// Returns the private data of the rejection of a request that proves nothing; null when it has proven the
    /// secret, or neither side has one.
    @Nullable
    PrivateData refusal(MemorySegment frame, PrivateData data) {
        boolean isMarked = isMarked(data, REQUEST_BYTES);
        Passive here = judge;
        if (isMarked == secret.isNone()) {
            return refused(isMarked ? CmRefusal.SECRET_UNWANTED : CmRefusal.SECRET_WANTED);
        }
        if (here == null || secret.isNone()) {
            return null;
        }
        request = without(frame, PROOF_AT);
        byte[] proof = part(data, PROOF_AT, CmProof.PROOF_BYTES);
        var asking = new CmGuard.Request() {
            @Override
            public byte[] nonce() {
                return part(data, NONCE_AT, CmProof.NONCE_BYTES);
            }

            @Override
            public boolean asks() {
                return Arrays.equals(proof, new byte[CmProof.PROOF_BYTES]);
            }

            @Override
            public boolean isProven(byte[] by) {
                challenge = by;
                return MessageDigest.isEqual(proof(ACTIVE, request), proof);
            }
        };
        var route = new CmRoute(passive, active);
        CmGuard.Verdict verdict = here.guard.judge(asking, route, here.port, here.now);
        challenge = here.guard.challenge();
        return switch (verdict) {
            case PROVEN -> null;
            case CHALLENGED -> of(CmRefusal.CHALLENGE.info(challenge));
            case WRONG -> refused(CmRefusal.SECRET_WRONG);
            case FULL -> PrivateData.NONE;
        };
    }

    private PrivateData refused(CmRefusal why) {
        if (judge != null) {
            judge.onUnproven.accept(why);
        }
        return of(why.info());
    }

    /// Returns a reply with its proof.
    MemorySegment proveReply(MpaTerms terms, PrivateData data) {
        if (secret.isNone()) {
            return terms.frame(true, false, data);
        }
        byte[] marked = ByteBuffer.allocate(REPLY_BYTES + data.length())
                .put(MARK)
                .put(REPLY_BYTES, data.bytes())
                .array();
        MemorySegment frame = terms.frame(true, false, PrivateData.of(marked));
        put(frame, NONCE_AT, proof(PASSIVE, request, bytes(frame)));
        return frame;
    }

    // ---- leaves

    /// Returns the application's part of private data that begin with so many bytes of ours.
    static PrivateData rest(PrivateData data, int own) {
        byte[] bytes = data.bytes();
        return PrivateData.of(Arrays.copyOfRange(bytes, own, bytes.length));
    }

    private static boolean isMarked(PrivateData data, int least) {
        byte[] bytes = data.bytes();
        return bytes.length >= least && Arrays.equals(bytes, 0, MARK.length, MARK, 0, MARK.length);
    }

    private byte[] proof(byte[] role, byte[]... frames) {
        Mac mac = CmProof.mac(secret.bytes());
        mac.update(role);
        mac.update(active.bytes());
        mac.update(passive.bytes());
        mac.update(challenge);
        for (byte[] frame : frames) {
            mac.update(frame);
        }
        return Arrays.copyOf(mac.doFinal(), CmProof.PROOF_BYTES);
    }

    private static PrivateData of(verbena.wire.cm.PrivateData info) {
        return PrivateData.of(info.bytes());
    }

    private static byte[] part(PrivateData data, int at, int length) {
        return Arrays.copyOfRange(data.bytes(), at, at + length);
    }

    private static byte[] bytes(MemorySegment frame) {
        return frame.toArray(ValueLayout.JAVA_BYTE);
    }

    /// Returns a copy of a frame, with zeroes in the place of its proof.
    private static byte[] without(MemorySegment frame, int at) {
        MemorySegment copy = MemorySegment.ofArray(bytes(frame));
        put(copy, at, new byte[CmProof.PROOF_BYTES]);
        return bytes(copy);
    }

    private static void put(MemorySegment frame, int at, byte[] bytes) {
        long to = (long) MpaFrame.privateDataOffset(frame, 0) + at;
        MemorySegment.copy(bytes, 0, frame, ValueLayout.JAVA_BYTE, to, bytes.length);
    }
}
