package verbena.tools.files;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import verbena.verbs.RemoteMemory;

/// Plays a sender or a receiver from a seed: mostly as it should, and at some messages not. Names, links, types,
/// sizes and orders are chosen, a message is damaged, doubled, cut, exchanged for another, or left out.
final class HostilePeer {
    private static final String[] PARTS = {
        "a",
        "b",
        "c",
        "d",
        "old",
        "tree",
        "served",
        "photo.jpg",
        "..",
        ".",
        "",
        "/",
        "../..",
        ".ssh",
        ".bashrc",
        "outside",
        "a/../b",
        "a//b",
        "/etc",
        "\u001b[2Jx",
        "x\nverbena cp: done",
        ".a.verbena-part",
        ".tree.verbena-journal",
        ".verbena-new-0000000000000000",
        "z\u0000z",
        "n".repeat(255),
        "n".repeat(300)
    };
    private static final String[] TARGETS = {
        "..",
        "../..",
        "../../..",
        "../../../outside",
        ".",
        "",
        "/",
        "/etc",
        "a",
        "b",
        "b/c",
        "old",
        "old/file",
        "../old",
        "a/..",
        "a/../..",
        "b/../../..",
        "a/b/../../../outside",
        "d/d/d",
        "../tree/a",
        "../../tree/old/file"
    };
    /// Shorter than that of the other end, which is heard first where it gives up.
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private static final int[] NUMBERS = {0, 1, 2, -1, 3, 64, 4096, Integer.MAX_VALUE, Integer.MIN_VALUE};

    private final MessageChannel peer;
    private final Terms terms;
    private final RemoteMemory theirs;
    private final Window window;
    private final Random random;
    private final boolean isTree;

    /// @param isTree whether the other end wants a tree, else a file
    HostilePeer(MessageChannel peer, Terms terms, RemoteMemory theirs, Window window, Random random, boolean isTree) {
        this.peer = peer;
        this.terms = terms;
        this.theirs = theirs;
        this.window = window;
        this.random = random;
        this.isTree = isTree;
    }

    private record Offer(Attributes.Type type, String name, String target, long size) {}

    /// As a sender, until it has sent all or the other end has had enough.
    ///
    /// @throws verbena.verbs.VerbsException when the other end has ended it; and [verbena.tools.kit.CommandFailed]
    void send(String source) throws InterruptedException {
        say(peer.write(Kind.TOTAL).int64(3).int64(chance(40) ? random.nextLong() : 100));
        List<Offer> offers = new ArrayList<>();
        if (isTree) {
            tree(source, 0, offers);
        } else {
            offers.add(file(source));
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            vary(offers, source);
        }
        for (int id = 0; id < offers.size(); id++) {
            offer(id, offers.get(id));
        }
        say(peer.write(Kind.FINISH));
        peer.expect(Kind.BYE, TIMEOUT);
    }

    private void tree(String name, int depth, List<Offer> offers) {
        offers.add(new Offer(Attributes.Type.FOLDER, name, "", 0));
        TreeSet<String> names = new TreeSet<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            names.add(PARTS[random.nextInt(5)]);
        }
        for (String each : names) {
            String child = name + "/" + each;
            switch (random.nextInt(3)) {
                case 0 ->
                    offers.add(new Offer(Attributes.Type.LINK, child, TARGETS[random.nextInt(TARGETS.length)], 0));
                case 1 -> offers.add(file(child));
                default -> {
                    if (depth < 3) {
                        tree(child, depth + 1, offers);
                    }
                }
            }
        }
    }

    private Offer file(String name) {
        return new Offer(Attributes.Type.FILE, name, "", random.nextInt(3) * 4000L);
    }

    /// One offer is not what it should be.
    private void vary(List<Offer> offers, String source) {
        int at = random.nextInt(offers.size());
        Offer offer = offers.get(at);
        String part = PARTS[random.nextInt(PARTS.length)];
        switch (random.nextInt(7)) {
            case 0 -> offers.set(at, new Offer(offer.type(), part, offer.target(), offer.size()));
            case 1 -> offers.set(at, new Offer(offer.type(), source + "/" + part, offer.target(), offer.size()));
            case 2 -> offers.set(at, new Offer(offer.type(), offer.name() + "/" + part, offer.target(), offer.size()));
            case 3 -> offers.set(at, new Offer(type(), offer.name(), TARGETS[random.nextInt(TARGETS.length)], 5));
            case 4 -> offers.add(random.nextInt(offers.size() + 1), new Offer(type(), part, "", 5));
            case 5 -> offers.add(random.nextInt(offers.size() + 1), offer);
            default -> offers.add(at, offers.remove(random.nextInt(offers.size())));
        }
    }

    private Attributes.Type type() {
        return Attributes.Type.values()[random.nextInt(Attributes.Type.values().length)];
    }

    private void offer(int id, Offer offer) throws InterruptedException {
        Message message = peer.write(Kind.ENTRY).int32(id).int8(offer.type().ordinal());
        message.int32(chance(20) ? random.nextInt() : 0700);
        message.int64(offer.size())
                .int64(chance(20) ? random.nextInt() : 0)
                .int32(0)
                .int64(0);
        say(message.counted(offer.name().getBytes(StandardCharsets.UTF_8))
                .counted(offer.target().getBytes(StandardCharsets.UTF_8)));
        if (verdict() != Verdict.SEND) {
            return;
        }
        var digest = Checksum.fileDigest(offer.size());
        for (long chunk = 0; chunk < terms.chunks(offer.size()); chunk++) {
            ByteBuffer bytes = window.slot(0);
            int length = terms.length(offer.size(), chunk);
            bytes.clear().limit(length);
            var sum = new byte[Checksum.MAX];
            terms.checksum().computer().compute(bytes, sum);
            digest.update(sum, 0, terms.checksum().bytes());
            Message told =
                    peer.write(Kind.CHUNK).int32(0).int32(id).int64(chunk).int32(length);
            told.bytes().put(sum, 0, terms.checksum().bytes());
            damage(told);
            peer.send(told, window.region(), 0, length, theirs);
            peer.expect(Kind.FREE, TIMEOUT);
        }
        say(peer.write(Kind.END).int32(id).put(digest.digest()));
        peer.expect(Kind.DONE, TIMEOUT);
    }

    /// As a receiver, until the other end has finished or had enough.
    void receive() throws InterruptedException {
        peer.expect(Kind.TOTAL, TIMEOUT);
        while (true) {
            Message message = peer.receive(TIMEOUT);
            ByteBuffer in = message.bytes();
            switch (message.kind()) {
                case ENTRY -> {
                    do {
                        Entry entry = Entry.readFrom(message);
                        boolean isFile = entry.attributes().type() == Attributes.Type.FILE;
                        Verdict verdict = isFile ? Verdict.SEND : Verdict.MADE;
                        say(peer.write(Kind.WANT)
                                .int32(entry.id())
                                .int64(isFile ? 0 : -1)
                                .int8(verdict.ordinal())
                                .text(""));
                    } while (message.hasMore());
                }
                case PACK -> {
                    Message answer =
                            peer.write(chance(5) ? Kind.AGAIN : Kind.STORED).int32(in.getInt());
                    in.position(in.position() + Integer.BYTES + terms.checksum().bytes());
                    do {
                        in.getInt();
                        message.takeText();
                        answer.text(chance(5) ? "full" : "");
                    } while (message.hasMore());
                    say(answer);
                }
                case NOTE, FAILED -> say(peer.write(Kind.DROPPED).int32(in.getInt()));
                case CHUNK -> say(peer.write(chance(5) ? Kind.AGAIN : Kind.FREE).int32(in.getInt()));
                case END -> say(peer.write(Kind.DONE).int32(in.getInt()).text(""));
                case FINISH -> {
                    say(peer.write(Kind.BYE));
                    return;
                }
                case BUSY -> {}
                default -> throw MessageChannel.unexpected(message);
            }
            if (chance(6)) {
                Kind[] kinds = {
                    Kind.WANT, Kind.FREE, Kind.AGAIN, Kind.FAULT, Kind.DONE, Kind.DROPPED, Kind.BYE, Kind.STORED
                };
                Message more = peer.write(kinds[random.nextInt(kinds.length)]).int32(random.nextInt(4));
                say(more.int64(random.nextInt(3)).int8(random.nextInt(5)).text("\u001b]0;x\u0007"));
            }
        }
    }

    private Verdict verdict() throws InterruptedException {
        Message want = peer.expect(Kind.WANT, TIMEOUT);
        return Verdict.values()[want.bytes().position(1 + 4 + 8).get()];
    }

    private boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    /// Sends a message, or what has become of it.
    private void say(Message message) throws InterruptedException {
        if (chance(12)) {
            damage(message);
        }
        if (chance(40)) {
            return; // silence
        }
        if (chance(40)) {
            Message twice = peer.write(Kind.ABORT);
            twice.bytes().clear().put(message.written());
            peer.send(twice);
        }
        peer.send(message);
    }

    private void damage(Message message) {
        ByteBuffer bytes = message.bytes();
        int length = bytes.position();
        switch (random.nextInt(5)) {
            case 0 -> bytes.put(0, (byte) random.nextInt(Kind.values().length + 2));
            case 1 -> bytes.put(random.nextInt(length), (byte) random.nextInt());
            case 2 -> bytes.position(1 + random.nextInt(length));
            case 3 -> {
                if (length > 5) {
                    bytes.putInt(1 + random.nextInt(length - 5), NUMBERS[random.nextInt(NUMBERS.length)]);
                }
            }
            default -> {}
        }
    }
}
