package verbena.cm;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import verbena.verbs.Gid;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.mad.Mad;

/// The proof that one end of a connection knows the secret of both, and means just this connection: HMAC-SHA256, of
/// which half is sent (RFC 2104, 5), over the prover's role, both GIDs, the passive side's challenge, and the whole
/// messages up to the proof. Therefore a change of a queue pair number, a PSN or anything else on the way is noticed
/// (decision 48).
///
/// A REQ has its nonce and its proof in its private data, a REP its proof.
public final class CmProof {
    /// Bytes of a nonce, and of a challenge.
    public static final int NONCE_BYTES = 16;
    /// Bytes of a proof.
    public static final int PROOF_BYTES = 16;
    /// Bytes of a REQ's private data that are not the application's.
    public static final int REQ_BYTES = NONCE_BYTES + PROOF_BYTES;
    /// Bytes of a REP's.
    public static final int REP_BYTES = PROOF_BYTES;

    private static final byte[] ACTIVE = "Verbena CM secret 1, active".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] PASSIVE = "Verbena CM secret 1, passive".getBytes(StandardCharsets.US_ASCII);
    private static final String ALGORITHM = "HmacSHA256";

    private CmProof() {}

    // ---- the active side's

    /// Writes nonce and proof into a REQ.
    ///
    /// @param at where its private data have room for them
    /// @param challenge of the passive side; empty when it is not known: then there is no proof, and the REQ
    ///     asks for it
    public static Req prove(Req req, int at, byte[] secret, Gid active, Gid passive, byte[] nonce, byte[] challenge) {
        Req asking =
                req.withPrivateData(put(put(req.privateData(), at, nonce), at + NONCE_BYTES, new byte[PROOF_BYTES]));
        return challenge.length == 0
                ? asking
                : asking.withPrivateData(put(
                        asking.privateData(),
                        at + NONCE_BYTES,
                        proof(secret, ACTIVE, active, passive, challenge, asking)));
    }

    /// Returns the nonce of a REQ.
    static byte[] nonce(Req req, int at) {
        return get(req.privateData(), at, NONCE_BYTES);
    }

    /// Returns whether a REQ asks for a challenge.
    static boolean asks(Req req, int at) {
        return Arrays.equals(get(req.privateData(), at + NONCE_BYTES, PROOF_BYTES), new byte[PROOF_BYTES]);
    }

    /// Returns whether a REQ proves the secret.
    static boolean isProven(Req req, int at, byte[] secret, Gid active, Gid passive, byte[] challenge) {
        Req unproven = req.withPrivateData(put(req.privateData(), at + NONCE_BYTES, new byte[PROOF_BYTES]));
        return MessageDigest.isEqual(
                proof(secret, ACTIVE, active, passive, challenge, unproven),
                get(req.privateData(), at + NONCE_BYTES, PROOF_BYTES));
    }

    // ---- the passive side's

    /// Writes the proof to the beginning of a REP's private data, which have room for it.
    ///
    /// @param req the REQ that is answered, with its proof
    public static Rep prove(Rep rep, byte[] secret, Gid active, Gid passive, byte[] challenge, Req req) {
        Rep unproven = rep.withPrivateData(put(rep.privateData(), 0, new byte[PROOF_BYTES]));
        return unproven.withPrivateData(
                put(unproven.privateData(), 0, proof(secret, PASSIVE, active, passive, challenge, req, unproven)));
    }

    /// Returns whether a REP proves the secret.
    public static boolean isProven(Rep rep, byte[] secret, Gid active, Gid passive, byte[] challenge, Req req) {
        Rep unproven = rep.withPrivateData(put(rep.privateData(), 0, new byte[PROOF_BYTES]));
        return MessageDigest.isEqual(
                proof(secret, PASSIVE, active, passive, challenge, req, unproven),
                get(rep.privateData(), 0, PROOF_BYTES));
    }

    // ---- leaves

    private static byte[] proof(
            byte[] secret, byte[] role, Gid active, Gid passive, byte[] challenge, CmMessage... messages) {
        Mac mac = mac(secret);
        mac.update(role);
        mac.update(active.bytes());
        mac.update(passive.bytes());
        mac.update(challenge);
        for (CmMessage message : messages) {
            byte[] mad = new byte[Mad.BYTES];
            message.write(MemorySegment.ofArray(mad));
            mac.update(mad);
        }
        return Arrays.copyOf(mac.doFinal(), PROOF_BYTES);
    }

    /// Returns the HMAC of all proofs.
    public static Mac mac(byte[] key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac;
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has " + ALGORITHM, e);
        }
    }

    private static PrivateData put(PrivateData into, int at, byte[] bytes) {
        byte[] all = into.bytes();
        byte[] room = Arrays.copyOf(all, Math.max(all.length, at + bytes.length));
        System.arraycopy(bytes, 0, room, at, bytes.length);
        return PrivateData.of(room);
    }

    private static byte[] get(PrivateData from, int at, int length) {
        return Arrays.copyOfRange(from.bytes(), at, at + length);
    }
}
