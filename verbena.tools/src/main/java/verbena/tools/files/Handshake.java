package verbena.tools.files;

import java.net.InetAddress;
import java.nio.BufferUnderflowException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import verbena.tools.kit.CommandFailed;

/// The first messages: what is spoken here, how much may be under way, and that both know the secret. The client
/// proves it first, so a server tells nothing to clients that do not.
final class Handshake {
    private static final byte[] MAGIC = "VRBFILES".getBytes(StandardCharsets.US_ASCII);
    private static final int NONCE = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    private Handshake() {}

    /// Does the whole handshake as the client, and returns the agreed terms.
    ///
    /// @throws CommandFailed when the server is none, or the secrets differ
    static Terms asClient(MessageChannel channel, Terms wish, Optional<Secret> secret, Duration timeout)
            throws InterruptedException {
        try {
            Message hello = channel.write(Kind.HELLO).put(MAGIC);
            hello.bytes().putShort((short) Terms.VERSION);
            hello.int32(wish.chunkBytes()).int32(wish.slots());
            hello.int8(wish.mode().ordinal()).int8(wish.checksum().ordinal()).put(nonce());
            byte[] saidHello = hello.written();
            channel.send(hello);

            Message challenge = channel.expect(Kind.CHALLENGE, timeout);
            byte[] saidChallenge = challenge.whole();
            int version = challenge.bytes().getShort();
            if (version != Terms.VERSION) {
                throw new CommandFailed(
                        "the server speaks version " + version + " of the protocol, this is " + Terms.VERSION);
            }
            boolean wantsSecret = challenge.bytes().get() != 0;
            Terms terms =
                    new Terms(challenge.bytes().getInt(), challenge.bytes().getInt(), wish.mode(), wish.checksum());
            if (terms.chunkBytes() > wish.chunkBytes() || terms.slots() > wish.slots()) {
                throw new CommandFailed("the server wants more outstanding chunks, or longer ones, than were offered");
            }
            if (wantsSecret && secret.isEmpty()) {
                throw new CommandFailed("the server wants a secret: give it by --secret-file or $" + Secret.VARIABLE);
            }
            if (!wantsSecret && secret.isPresent()) {
                throw new CommandFailed("the server asks for no secret, so it may be any program; go on without one"
                        + " if that does not matter");
            }
            channel.send(channel.write(Kind.PROOF)
                    .put(secret.map(s -> s.proof(true, saidHello, saidChallenge))
                            .orElse(new byte[Secret.PROOF])));
            byte[] proof = channel.expect(Kind.WELCOME, timeout).take(Secret.PROOF);
            if (secret.isPresent() && !secret.get().isProof(proof, false, saidHello, saidChallenge)) {
                throw new CommandFailed("the server does not know the secret");
            }
            return terms;
        } catch (BufferUnderflowException e) {
            throw MessageChannel.malformed(e);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed("the server answers with what it may not: " + e.getMessage(), e);
        }
    }

    /// Does the whole handshake as the server, and returns the agreed terms.
    ///
    /// @param windowBytes that one client may have under way
    /// @throws CommandFailed when the client is none, or does not know the secret; it has been told then
    static Terms asServer(
            MessageChannel channel,
            long windowBytes,
            Optional<Secret> secret,
            GuessLimit guesses,
            InetAddress from,
            Duration timeout)
            throws InterruptedException {
        try {
            if (!guesses.allows(from)) {
                throw refused(channel, "too many wrong secrets from this address; try again later");
            }
            Message hello = channel.expect(Kind.HELLO, timeout);
            byte[] saidHello = hello.whole();
            if (!Arrays.equals(hello.take(MAGIC.length), MAGIC)) {
                throw refused(channel, "this is a server of 'verbena serve'");
            }
            int version = hello.bytes().getShort();
            if (version != Terms.VERSION) {
                throw refused(channel, "this server speaks version " + Terms.VERSION + " of the protocol");
            }
            Terms terms = wish(hello).within(windowBytes);

            Message challenge = channel.write(Kind.CHALLENGE);
            challenge.bytes().putShort((short) Terms.VERSION);
            challenge.int8(secret.isPresent() ? 1 : 0);
            challenge.int32(terms.chunkBytes()).int32(terms.slots()).put(nonce());
            byte[] saidChallenge = challenge.written();
            channel.send(challenge);

            byte[] proof = channel.expect(Kind.PROOF, timeout).take(Secret.PROOF);
            if (secret.isPresent() && !secret.get().isProof(proof, true, saidHello, saidChallenge)) {
                guesses.wrong(from);
                throw refused(channel, "wrong secret");
            }
            channel.send(channel.write(Kind.WELCOME)
                    .put(secret.map(s -> s.proof(false, saidHello, saidChallenge))
                            .orElse(new byte[Secret.PROOF])));
            return terms;
        } catch (BufferUnderflowException e) {
            throw MessageChannel.malformed(e);
        } catch (IllegalArgumentException e) {
            throw refused(channel, "HELLO: " + e.getMessage());
        }
    }

    private static Terms wish(Message hello) {
        int chunkBytes = hello.bytes().getInt();
        int slots = hello.bytes().getInt();
        Mode mode = choice(Mode.values(), hello.bytes().get());
        return new Terms(
                chunkBytes, slots, mode, choice(Checksum.values(), hello.bytes().get()));
    }

    private static <T> T choice(T[] values, int code) {
        if (code < 0 || code >= values.length) {
            throw new IllegalArgumentException("no choice has the number " + code);
        }
        return values[code];
    }

    private static CommandFailed refused(MessageChannel channel, String why) throws InterruptedException {
        channel.abort(why);
        return new CommandFailed(why);
    }

    private static byte[] nonce() {
        var nonce = new byte[NONCE];
        RANDOM.nextBytes(nonce);
        return nonce;
    }
}
