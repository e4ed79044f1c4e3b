package verbena.nic.roce;

import java.util.random.RandomGenerator;
import verbena.cm.CmExtension;
import verbena.cm.CmProof;
import verbena.cm.CmRefusal;
import verbena.cm.CmRoute;
import verbena.verbs.cm.Secret;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.Rej;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;

/// The proof of the two ends of one connection to each other that they know a secret ([decision
/// 48](../../../../../../../docs/decisions/48-keys-and-secrets.md)). With no secret it adds nothing
/// to the messages. Engine-confined.
final class SecretProof {
    /// A challenge comes twice when a proof was late, or its answer got lost.
    private static final int CHALLENGES_MAX = 6;

    private static final byte[] NOTHING = {};

    private final CmRoute route;
    private final RandomGenerator random;
    private Secret secret = Secret.NONE;
    /// The challenge that the secret is proven for; empty while it is not known, or there is no secret.
    private byte[] challenge = NOTHING;
    /// The nonce that the peer's challenge is for, on the active side.
    private byte[] nonce = NOTHING;
    /// Active: how often the peer has challenged.
    private int challenges;

    SecretProof(CmRoute route, RandomGenerator random) {
        this.route = route;
        this.random = random;
    }

    /// Sets, on the active side, the secret that this end has to prove.
    void begin(Secret with) {
        secret = with;
        restart();
    }

    /// Begins a new attempt, on the active side, with the next request.
    void restart() {
        challenge = NOTHING;
        nonce = NOTHING;
        if (!secret.isNone()) {
            nonce = new byte[CmProof.NONCE_BYTES];
            random.nextBytes(nonce);
        }
    }

    /// Notes, on the passive side, the secret that the peer has proven and the bytes that prove it.
    void proven(Secret with, byte[] by) {
        secret = with;
        challenge = by;
    }

    boolean hasSecret() {
        return !secret.isNone();
    }

    /// Returns how many bytes of a REP's private data the proof takes.
    int replyBytes() {
        return secret.isNone() ? 0 : CmProof.REP_BYTES;
    }

    /// Returns a REQ with its proof; on the active side.
    Req prove(Req req) {
        return secret.isNone()
                ? req
                : CmProof.prove(req, IpCmHeader.BYTES, secret.bytes(), route.local(), route.remote(), nonce, challenge);
    }

    /// Returns a REP with its proof, which answers `req`; on the passive side.
    Rep prove(Rep rep, Req req) {
        return secret.isNone()
                ? rep
                : CmProof.prove(rep, secret.bytes(), route.remote(), route.local(), challenge, req);
    }

    /// Returns whether the peer's REP to `req` proves the secret, or neither side has one; on the active side.
    boolean isProven(Rep rep, Req req) {
        boolean isSaid = CmExtension.of(rep.localQkey()).hasSecret();
        if (secret.isNone() || !isSaid) {
            return secret.isNone() && !isSaid;
        }
        return CmProof.isProven(rep, secret.bytes(), route.local(), route.remote(), challenge, req);
    }

    /// Takes, on the active side, the challenge of a peer, so that the next request proves the secret. Returns
    /// false when this is no challenge, or one too many.
    boolean takesChallenge(Rej rej) {
        if (CmRefusal.of(rej) != CmRefusal.CHALLENGE || secret.isNone() || ++challenges > CHALLENGES_MAX) {
            return false;
        }
        if (challenge.length == 0) {
            challenge = CmRefusal.challenge(rej.info());
        } else {
            restart(); // the proof was late, or has been taken
        }
        return true;
    }
}
