package verbena.cm;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.random.RandomGenerator;
import javax.crypto.Mac;
import verbena.wire.cm.Req;

/// The passive side's check of requests that have to prove a secret. A request without a proof gets a
/// challenge and leaves nothing behind. The challenge is computed from the request's nonce and a key of
/// this side; it is computed again when the proof comes. A proof is taken once: its nonce is kept as long
/// as its challenge is good. Confined to its owner.
public final class CmGuard {
    /// A challenge is good for this long at least, and twice as long at most.
    static final long EPOCH_NANOS = 30_000_000_000L;
    /// Proofs that can be taken in that time. Only those that know the secret use these up.
    static final int TAKEN_MAX = 65_536;

    private static final int KEY_BYTES = 32;

    private record Nonce(long high, long low) {}

    /// The verdict on a request.
    public enum Verdict {
        /// The request has to be proven: [#challenge()].
        CHALLENGED,
        /// The request is proven by the answer to [#challenge()], and that was its only time.
        PROVEN,
        /// Its sender does not know the secret, or the request was changed on the way.
        WRONG,
        /// Too many proofs have been taken.
        FULL
    }

    /// A request that asks for a challenge, or proves the secret.
    public interface Request {
        byte[] nonce();

        /// Returns whether there is no proof yet.
        boolean asks();

        boolean isProven(byte[] challenge);
    }

    private final byte[] key = new byte[KEY_BYTES];
    /// The proofs that were taken, and their times; the oldest first.
    private final LinkedHashMap<Nonce, Long> taken = new LinkedHashMap<>();

    private byte[] challenge = new byte[0];

    /// @param random unpredictable to peers; in a simulation, seeded
    public CmGuard(RandomGenerator random) {
        random.nextBytes(key);
    }

    /// Judges a request.
    ///
    /// @param route to the sender
    /// @param at where its private data have nonce and proof
    public Verdict judge(Req req, CmRoute route, int at, byte[] secret, long now) {
        var request = new Request() {
            @Override
            public byte[] nonce() {
                return CmProof.nonce(req, at);
            }

            @Override
            public boolean asks() {
                return CmProof.asks(req, at);
            }

            @Override
            public boolean isProven(byte[] by) {
                return CmProof.isProven(req, at, secret, route.remote(), route.local(), by);
            }
        };
        return judge(request, route, req.serviceId(), now);
    }

    /// Judges a request of any protocol.
    ///
    /// @param route to the sender
    /// @param service that it asks for
    public Verdict judge(Request request, CmRoute route, long service, long now) {
        byte[] bytes = request.nonce();
        var nonce = new Nonce(
                ByteBuffer.wrap(bytes).getLong(0), ByteBuffer.wrap(bytes).getLong(Long.BYTES));
        long epoch = Math.floorDiv(now, EPOCH_NANOS);
        challenge = challenge(bytes, route, service, epoch);
        if (request.asks()) {
            return Verdict.CHALLENGED;
        }
        byte[] former = challenge(bytes, route, service, epoch - 1);
        boolean isProven = request.isProven(challenge);
        if (!isProven && request.isProven(former)) {
            isProven = true;
            challenge = former;
        }
        if (!isProven) {
            return Verdict.WRONG;
        }
        while (!taken.isEmpty() && taken.firstEntry().getValue() < now - 2 * EPOCH_NANOS) {
            taken.pollFirstEntry();
        }
        if (taken.containsKey(nonce)) { // replayed, or its connection is forgotten already
            challenge = challenge(bytes, route, service, epoch);
            return Verdict.CHALLENGED;
        }
        if (taken.size() >= TAKEN_MAX) {
            return Verdict.FULL;
        }
        taken.put(nonce, now);
        return Verdict.PROVEN;
    }

    /// Returns the challenge of the last request.
    public byte[] challenge() {
        return challenge.clone();
    }

    private byte[] challenge(byte[] nonce, CmRoute route, long serviceId, long epoch) {
        Mac mac = CmProof.mac(key);
        mac.update(route.local().bytes());
        mac.update(route.remote().bytes());
        mac.update(ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(serviceId)
                .putLong(epoch)
                .flip());
        mac.update(nonce);
        return Arrays.copyOf(mac.doFinal(), CmProof.NONCE_BYTES);
    }
}
