package verbena.tools.files;

import java.net.InetAddress;
import java.nio.BufferUnderflowException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import verbena.tools.CommandFailed;

/// The first messages: what is spoken here, how much may be under way, and that both know the secret. The client
/// proves it first, so a server tells nothing to clients that do not.
final class Handshake {
    static final int VERSION = 3;

    private static final byte[] MAGIC = "VRBFILES".getBytes(StandardCharsets.US_ASCII);
    private static final int NONCE = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    private Handshake() {}

    /// Client: all of it; the terms to go on with.
    ///
    /// @throws CommandFailed when the server is none, or the secrets differ
    static Terms asClient(Mailbox mailbox, Terms wish, Optional<Secret> secret, Duration patience)
            throws InterruptedException {
        try {
            Letter hello = mailbox.write(Kind.HELLO).put(MAGIC);
            hello.bytes().putShort((short) VERSION);
            hello.int32(wish.chunkBytes()).int32(wish.slots());
            hello.int8(wish.mode().ordinal()).int8(wish.checksum().ordinal()).put(nonce());
            byte[] saidHello = hello.written();
            mailbox.send(hello);

            Letter challenge = mailbox.expect(Kind.CHALLENGE, patience);
            byte[] saidChallenge = challenge.whole();
            int version = challenge.bytes().getShort();
            if (version != VERSION) {
                throw new CommandFailed(
                        "the server speaks version " + version + " of the protocol, this is " + VERSION);
            }
            boolean wantsSecret = challenge.bytes().get() != 0;
            Terms terms =
                    new Terms(challenge.bytes().getInt(), challenge.bytes().getInt(), wish.mode(), wish.checksum());
            if (terms.chunkBytes() > wish.chunkBytes() || terms.slots() > wish.slots()) {
                throw new CommandFailed("the server wants more under way than was offered");
            }
            if (wantsSecret && secret.isEmpty()) {
                throw new CommandFailed("the server wants a secret: give it by --secret-file or $" + Secret.VARIABLE);
            }
            if (!wantsSecret && secret.isPresent()) {
                throw new CommandFailed("the server asks for no secret, so it may be anybody; go on without one"
                        + " if that does not matter");
            }
            mailbox.send(mailbox.write(Kind.PROOF)
                    .put(secret.map(s -> s.proof(true, saidHello, saidChallenge))
                            .orElse(new byte[Secret.PROOF])));
            byte[] proof = mailbox.expect(Kind.WELCOME, patience).take(Secret.PROOF);
            if (secret.isPresent() && !secret.get().isProof(proof, false, saidHello, saidChallenge)) {
                throw new CommandFailed("the server does not know the secret");
            }
            return terms;
        } catch (BufferUnderflowException e) {
            throw Mailbox.malformed(e);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed("the server answers with what it may not: " + e.getMessage(), e);
        }
    }

    /// Server: all of it.
    ///
    /// @param windowBytes that one client may have under way
    /// @throws CommandFailed when the client is none, or does not know the secret; it has been told then
    static Terms asServer(
            Mailbox mailbox,
            long windowBytes,
            Optional<Secret> secret,
            GuessLimit guesses,
            InetAddress from,
            Duration patience)
            throws InterruptedException {
        try {
            if (!guesses.allows(from)) {
                throw refused(mailbox, "too many wrong secrets from this address; try again later");
            }
            Letter hello = mailbox.expect(Kind.HELLO, patience);
            byte[] saidHello = hello.whole();
            if (!Arrays.equals(hello.take(MAGIC.length), MAGIC)) {
                throw refused(mailbox, "this is a server of 'verbena serve'");
            }
            int version = hello.bytes().getShort();
            if (version != VERSION) {
                throw refused(mailbox, "this server speaks version " + VERSION + " of the protocol");
            }
            Terms terms = wish(hello).within(windowBytes);

            Letter challenge = mailbox.write(Kind.CHALLENGE);
            challenge.bytes().putShort((short) VERSION);
            challenge.int8(secret.isPresent() ? 1 : 0);
            challenge.int32(terms.chunkBytes()).int32(terms.slots()).put(nonce());
            byte[] saidChallenge = challenge.written();
            mailbox.send(challenge);

            byte[] proof = mailbox.expect(Kind.PROOF, patience).take(Secret.PROOF);
            if (secret.isPresent() && !secret.get().isProof(proof, true, saidHello, saidChallenge)) {
                guesses.wrong(from);
                throw refused(mailbox, "wrong secret");
            }
            mailbox.send(mailbox.write(Kind.WELCOME)
                    .put(secret.map(s -> s.proof(false, saidHello, saidChallenge))
                            .orElse(new byte[Secret.PROOF])));
            return terms;
        } catch (BufferUnderflowException e) {
            throw Mailbox.malformed(e);
        } catch (IllegalArgumentException e) {
            throw refused(mailbox, "HELLO: " + e.getMessage());
        }
    }

    private static Terms wish(Letter hello) {
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

    private static CommandFailed refused(Mailbox mailbox, String why) throws InterruptedException {
        mailbox.abort(why);
        return new CommandFailed(why);
    }

    private static byte[] nonce() {
        var nonce = new byte[NONCE];
        RANDOM.nextBytes(nonce);
        return nonce;
    }
}
