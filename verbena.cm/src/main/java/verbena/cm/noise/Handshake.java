package verbena.cm.noise;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// One end of an agreement on keys: Noise_XXpsk3_25519_AESGCM_SHA256. Three messages go there, back and there.
/// Each end shows that it has the private key of its identity, and that it knows a secret which both have.
/// An eavesdropper without the secret reads two ephemeral public keys and learns no identity. Ephemeral keys are
/// thrown away, so a secret that is learnt later opens nothing that was recorded.
///
/// A function of messages: the caller draws keys, sends, and repeats what is lost. One owner.
public final class Handshake {
    /// Bytes of a key, private or public, and of a secret.
    public static final int KEY_BYTES = X25519.BYTES;

    private static final String NAME = "Noise_XXpsk3_25519_AESGCM_SHA256";
    private static final int MESSAGES = 3;

    private final boolean isFirst;
    private final SymmetricState state = new SymmetricState(NAME);
    private final byte[] secret;
    private final Identity identity;
    private final byte[] moment;
    private byte @Nullable [] peerIdentity;
    /// The secret that both ephemeral keys agree on.
    private byte @Nullable [] momentShared;

    private byte @Nullable [] peerMoment;
    /// The number of messages that have been written or read.
    private int messages;

    private boolean isBroken;

    /// The lasting key pair of an end, whose public key is computed once.
    public static final class Identity {
        private final X25519 curve;
        private final byte[] secret;
        private final byte[] known;

        /// @param curve computes in all agreements of this identity
        /// @param secret the private key, which others cannot guess
        public Identity(X25519 curve, byte[] secret) {
            this.curve = curve;
            this.secret = key("identity", secret);
            known = curve.publicKey(this.secret);
        }

        /// Returns the public key.
        byte[] known() {
            return known.clone();
        }
    }

    /// @param isFirst whether this end writes the first message
    /// @param prologue what both ends have to think alike of
    /// @param secret that both ends have
    /// @param identity of this end
    /// @param moment a private key that was drawn for this agreement alone
    public Handshake(boolean isFirst, byte[] prologue, byte[] secret, Identity identity, byte[] moment) {
        this.isFirst = isFirst;
        this.secret = key("secret", secret);
        this.identity = identity;
        this.moment = key("moment", moment);
        state.mixHash(prologue);
    }

    private static byte[] key(String name, byte[] bytes) {
        if (bytes.length != KEY_BYTES) {
            throw new IllegalArgumentException(name + ": has " + KEY_BYTES + " bytes, got " + bytes.length);
        }
        return bytes.clone();
    }

    /// Returns whether the next message is this end's.
    public boolean writes() {
        return !isOver() && isFirst == (messages % 2 == 0);
    }

    /// Returns whether all messages have been written and read, and all were right.
    public boolean isDone() {
        return !isBroken && messages == MESSAGES;
    }

    private boolean isOver() {
        return isBroken || messages == MESSAGES;
    }

    /// Writes the next message.
    ///
    /// @param payload data that goes with it. The first one is hidden from those without the secret only, the
    ///     second from those who pretend to be the peer not, the third from all but the peer
    /// @throws IllegalStateException when it is not this end's turn
    public byte[] write(byte[] payload) {
        if (!writes()) {
            throw new IllegalStateException("it is the peer's turn, or the agreement is over");
        }
        byte[] head = new byte[0];
        switch (messages) {
            case 0 -> head = writeMoment();
            case 1 -> {
                head = writeMoment();
                state.mixKey(Objects.requireNonNull(momentShared, "the first message was read")); // ee
                head = joined(head, state.seal(identity.known));
                mixKnown(); // es
            }
            default -> {
                head = state.seal(identity.known);
                mixKnown(); // se
                state.mixKeyAndHash(secret);
            }
        }
        messages++;
        return joined(head, state.seal(payload));
    }

    private byte[] writeMoment() {
        byte[] key = identity.curve.publicKey(moment);
        mixMoment(key);
        return key;
    }

    /// Mixes an ephemeral key also into the key, because the protocol has a secret (Noise, 9.2).
    private void mixMoment(byte[] key) {
        state.mixHash(key);
        state.mixKey(key);
    }

    /// Mixes in the secret that the identity and the peer's ephemeral key agree on. That key was tried when it
    /// came.
    private void mixKnown() {
        boolean isMixed = mix(identity.secret, peerMoment);
        assert isMixed : "a key of small order was refused";
    }

    private boolean mix(byte[] own, byte @Nullable [] peer) {
        byte[] shared = peer == null ? null : identity.curve.agree(own, peer);
        if (shared == null) {
            return false;
        }
        state.mixKey(shared);
        return true;
    }

    /// Reads the peer's next message; null when it is not what such a peer writes. Then the agreement has failed,
    /// and nothing more is written or read.
    ///
    /// @throws IllegalStateException when it is this end's turn
    public byte @Nullable [] read(byte[] message) {
        if (isOver() || writes()) {
            throw new IllegalStateException("it is this end's turn, or the agreement is over");
        }
        byte[] payload = opened(message);
        if (payload == null) {
            isBroken = true;
            return null;
        }
        messages++;
        return payload;
    }

    private byte @Nullable [] opened(byte[] message) {
        int at = 0;
        if (messages < 2) {
            if (message.length < KEY_BYTES) {
                return null;
            }
            byte[] key = Arrays.copyOf(message, KEY_BYTES);
            byte[] shared = identity.curve.agree(moment, key);
            if (shared == null) {
                return null;
            }
            momentShared = shared;
            peerMoment = key;
            mixMoment(key);
            at = KEY_BYTES;
        }
        if (messages == 1) {
            state.mixKey(Objects.requireNonNull(momentShared, "it is of this message")); // ee
        }
        if (messages > 0) {
            int end = at + KEY_BYTES + SymmetricState.TAG_BYTES;
            if (message.length < end) {
                return null;
            }
            peerIdentity = state.open(Arrays.copyOfRange(message, at, end));
            if (!mix(moment, peerIdentity)) { // es, se
                return null;
            }
            at = end;
        }
        if (messages == 2) {
            state.mixKeyAndHash(secret);
        }
        return message.length < at + SymmetricState.TAG_BYTES
                ? null
                : state.open(Arrays.copyOfRange(message, at, message.length));
    }

    /// Returns the public key of the peer's identity, whose private key the message has proved in which it came. The
    /// caller decides whether that is welcome.
    ///
    /// @throws IllegalStateException when no such message has come
    public byte[] peerIdentity() {
        byte[] found = peerIdentity;
        if (isBroken || found == null) {
            throw new IllegalStateException("the peer has shown no key");
        }
        return found.clone();
    }

    /// Returns a hash of the whole exchange, the same at both ends.
    ///
    /// @throws IllegalStateException when the agreement is not done
    public byte[] hash() {
        if (!isDone()) {
            throw new IllegalStateException("the agreement is not done");
        }
        return state.hash();
    }

    /// Returns the two keys, of 32 bytes each: of what this end sends, and of what the peer sends.
    ///
    /// @throws IllegalStateException when the agreement is not done
    public byte[][] keys() {
        if (!isDone()) {
            throw new IllegalStateException("the agreement is not done");
        }
        byte[][] keys = state.split();
        return isFirst ? keys : new byte[][] {keys[1], keys[0]};
    }

    static byte[] joined(byte[] one, byte[] other) {
        byte[] both = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, both, one.length, other.length);
        return both;
    }
}
