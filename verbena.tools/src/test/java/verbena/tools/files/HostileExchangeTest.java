package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.tools.files.CopyTest.SMALL;
import static verbena.tools.files.CopyTest.write;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.files.Request.Option;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// Exchanges of which one end breaks the rules, from a seed. Around what is copied is a tree that may not change,
/// and links in what is copied lead there. `-Dverbena.seed=N` plays one seed, `-Dverbena.deep=true` many.
class HostileExchangeTest {
    private static final Duration SHORT = Duration.ofMillis(400);
    /// An end takes at most so long to give up: its silence and two farewells, on a machine that has other work
    /// too.
    private static final Duration GIVES_UP = Duration.ofSeconds(20);

    /// Links that lead out, which were there before.
    private static final Set<String> PLANTED = Set.of("../../outside", "../../../outside/file", "../outside");

    @TempDir
    private Path folder;

    private static long[] seeds(int usual, int deep) {
        Long one = Long.getLong("verbena.seed");
        int count = Boolean.getBoolean("verbena.deep") ? deep : usual;
        return one == null ? LongStream.range(1, 1 + count).toArray() : new long[] {one};
    }

    // ---- the tree around

    /// A folder to copy into, with links that lead out of it, and canaries beside it.
    private static Path scene(Path folder, long seed) throws IOException {
        Path scene = Files.createDirectory(folder.resolve("scene " + seed));
        write(scene.resolve("outside/file"), 10);
        write(scene.resolve("here/.bashrc"), 11);
        write(scene.resolve("here/b"), 12);
        write(scene.resolve("here/tree/b/file"), 13);
        write(scene.resolve("here/inside/file"), 14);
        Files.createSymbolicLink(scene.resolve("here/tree/old"), Path.of("../../outside"));
        Files.createSymbolicLink(scene.resolve("here/tree/b/old"), Path.of("../../../outside/file"));
        Files.createSymbolicLink(scene.resolve("here/old"), Path.of("../outside"));
        return scene;
    }

    /// What is in a folder, but for what may have been copied, which is `mine`, and its part.
    private static Map<String, String> canaries(Path folder, @Nullable Path mine) throws IOException {
        var found = new TreeMap<String, String>();
        String part = mine == null ? "/" : "." + mine.getFileName() + ".verbena-";
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path at, BasicFileAttributes a) throws IOException {
                if (at.equals(mine)) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                // A folder's time tells that something was put into it, which may be.
                found.put(at.toString(), PosixFilePermissions.toString(Files.getPosixFilePermissions(at)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path at, BasicFileAttributes a) throws IOException {
                if (at.equals(mine) || at.getFileName().toString().startsWith(part)) {
                    return FileVisitResult.CONTINUE;
                }
                found.put(
                        at.toString(),
                        a.isSymbolicLink()
                                ? "-> " + Files.readSymbolicLink(at)
                                : Files.getPosixFilePermissions(at) + " " + a.lastModifiedTime() + " "
                                        + new String(
                                                Files.readAllBytes(at), java.nio.charset.StandardCharsets.ISO_8859_1));
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }

    /// The links of a tree lead to somewhere in it, but for those that were there before.
    private static void assertLinksStayIn(Path tree, long seed) throws IOException {
        if (!Files.isDirectory(tree, LinkOption.NOFOLLOW_LINKS)) {
            assertThat(Files.isSymbolicLink(tree)).as("seed " + seed).isFalse();
            return;
        }
        Path real = tree.toRealPath();
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path at, BasicFileAttributes a) throws IOException {
                if (a.isSymbolicLink()
                        && !PLANTED.contains(Files.readSymbolicLink(at).toString())) {
                    try {
                        assertThat(at.toRealPath())
                                .as("seed " + seed + ": " + at)
                                .startsWith(real);
                    } catch (FileSystemException _) {
                        // It leads nowhere.
                    }
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /// Runs what has to end, and to say why when it fails.
    private static void ended(long seed, Attempt attempt) throws Exception {
        var failure = new AtomicReference<Throwable>();
        Thread end = Thread.ofPlatform().start(() -> {
            try {
                attempt.run();
            } catch (CommandFailed | VerbsException e) {
                String why = String.valueOf(e.getMessage());
                if (why.isBlank() || why.chars().anyMatch(Character::isISOControl)) {
                    failure.set(new AssertionError("seed " + seed + ": a message that is none", e));
                }
            } catch (Exception e) {
                failure.set(new AssertionError("seed " + seed, e));
            }
        });
        assertThat(end.join(GIVES_UP)).as("seed " + seed + " ends").isTrue();
        assertThat(failure.get()).as("seed " + seed).isNull();
    }

    private interface Attempt {
        void run() throws Exception;
    }

    // ---- a server that breaks the rules

    @Test
    void aServerThatSendsWhatItLikes() throws Exception {
        var random = new AtomicReference<>(new Random());
        try (var server = new FakeServer(client -> sendTo(client, random.get()))) {
            for (long seed : seeds(60, 700)) {
                var own = new Random(seed);
                boolean isTree = own.nextInt(4) > 0;
                String source = isTree ? "tree" : "photo.jpg";
                Path scene = scene(folder, seed);
                Path here = scene.resolve("here");
                Map<String, String> before = canaries(scene, here.resolve(source));
                random.set(own);

                ended(seed, () -> {
                    if (isTree) {
                        server.get(source, here, SHORT, Option.RECURSIVE);
                    } else {
                        server.get(source, here, SHORT);
                    }
                });

                assertThat(canaries(scene, here.resolve(source)))
                        .as("seed " + seed)
                        .isEqualTo(before);
                assertLinksStayIn(here.resolve(source), seed);
            }
        }
    }

    private static void sendTo(MessageChannel client, Random random) throws InterruptedException {
        FakeServer.Asked asked = FakeServer.request(client);
        boolean isTree = asked.request().options().contains(Option.RECURSIVE);
        try (var window = new Window(client.connection(), SMALL, true)) {
            new HostilePeer(client, SMALL, asked.theirs(), window, random, isTree).send(isTree ? "tree" : "photo.jpg");
        }
    }

    @Test
    void aServerThatAnswersWhatItLikes() throws Exception {
        var random = new AtomicReference<>(new Random());
        Path scene = scene(folder, 0);
        write(scene.resolve("here/tree/big"), 40_000);
        Map<String, String> before = canaries(scene, null);
        try (var server = new FakeServer(client -> receiveFrom(client, random.get()))) {
            for (long seed : seeds(30, 700)) {
                random.set(new Random(seed));
                ended(seed, () -> server.put(scene.resolve("here/tree"), SHORT));
            }
        }
        assertThat(canaries(scene, null)).isEqualTo(before);
    }

    private static void receiveFrom(MessageChannel client, Random random) throws InterruptedException {
        try (var window = new Window(client.connection(), SMALL, false)) {
            FakeServer.Asked asked = FakeServer.request(client, window);
            new HostilePeer(client, SMALL, asked.theirs(), window, random, true).receive();
        }
    }

    // ---- clients that break the rules

    @Test
    void aClientThatSendsWhatItLikes() throws Exception {
        Path served = Files.createDirectory(folder.resolve("served"));
        try (FilesFixture fixture = FilesFixture.serving(served, settings(served), new GuessLimit(System::nanoTime))) {
            for (long seed : seeds(40, 700)) {
                var random = new Random(seed);
                boolean isTree = random.nextInt(4) > 0;
                Set<Option> options = FilesFixture.set();
                if (isTree) {
                    options.add(Option.RECURSIVE);
                }
                if (random.nextBoolean()) {
                    options.add(Option.INTO_FOLDER);
                }
                Path scene = scene(served, seed);
                Map<String, String> before = canaries(folder, scene.resolve("here"));

                ended(seed, () -> {
                    try (MessageChannel peer = fixture.stranger();
                            var window = new Window(peer.connection(), SMALL, true)) {
                        Handshake.asClient(peer, SMALL, Optional.empty(), FilesFixture.TIMEOUT);
                        var request = new Request(true, options, served.relativize(scene.resolve("here")));
                        RemoteMemory theirs = ask(peer, request, window);
                        new HostilePeer(peer, SMALL, theirs, window, random, isTree).send("tree");
                    }
                });

                assertThat(canaries(folder, scene.resolve("here")))
                        .as("seed " + seed)
                        .isEqualTo(before);
                assertLinksStayIn(scene.resolve("here"), seed);
                assertServes(fixture, seed);
            }
        }
    }

    @Test
    void aClientThatAnswersWhatItLikes() throws Exception {
        Path served = Files.createDirectory(folder.resolve("served"));
        try (FilesFixture fixture = FilesFixture.serving(served, settings(served), new GuessLimit(System::nanoTime))) {
            for (long seed : seeds(20, 700)) {
                Path scene = scene(served, seed);
                write(scene.resolve("here/tree/big"), 40_000);
                Map<String, String> before = canaries(folder, null);

                ended(seed, () -> {
                    try (MessageChannel peer = fixture.stranger();
                            var window = new Window(peer.connection(), SMALL, false)) {
                        Handshake.asClient(peer, SMALL, Optional.empty(), FilesFixture.TIMEOUT);
                        Path tree = served.relativize(scene.resolve("here/tree"));
                        RemoteMemory theirs =
                                ask(peer, new Request(false, FilesFixture.set(Option.RECURSIVE), tree), window);
                        new HostilePeer(peer, SMALL, theirs, window, new Random(seed), true).receive();
                    }
                });

                assertThat(canaries(folder, null)).as("seed " + seed).isEqualTo(before);
                assertServes(fixture, seed);
            }
        }
    }

    private static FileServer.Settings settings(Path served) {
        return new FileServer.Settings(
                Folder.at(served), true, Optional.empty(), false, 2, 1 << 20, false, Duration.ofSeconds(3));
    }

    private static RemoteMemory ask(MessageChannel peer, Request request, Window window) throws InterruptedException {
        peer.send(request.writeTo(peer.write(Kind.REQUEST)).memory(window.exposed()));
        return peer.expect(Kind.READY, FilesFixture.TIMEOUT).takeMemory();
    }

    /// The next client, an honest one, is served.
    private void assertServes(FilesFixture fixture, long seed) throws Exception {
        Path here = Files.createTempDirectory("honest");
        try {
            String file = "scene " + seed + "/here/inside/file";
            assertThat(fixture.get(SMALL, file, here).said).as("seed " + seed).containsEntry("file", "done");
        } finally {
            Files.deleteIfExists(here.resolve("file"));
            Files.delete(here);
        }
    }
}
