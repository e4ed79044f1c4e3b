package verbena.tools.network;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import verbena.tools.kit.CommandFailed;

/// A file of this user that tells which hosts a network has that runs, and which process holds each. Other users
/// neither read nor write it.
record RunningNetwork(Path file) {
    /// A host, and the process that holds it.
    ///
    /// @param began when that process began: another may have its number later
    record Member(String name, long pid, String began, String address) {
        private static final int WORDS = 4;

        private static Member of(String line) {
            String[] words = line.split(" ", -1);
            if (words.length != WORDS || !words[1].matches("\\d{1,10}")) {
                throw new CommandFailed("a line that no network writes: " + line);
            }
            return new Member(words[0], Long.parseLong(words[1]), words[2], words[3]);
        }

        static Member of(String name, long pid, String address) {
            return new Member(name, pid, began(pid), address);
        }

        private static String began(long pid) {
            return ProcessHandle.of(pid)
                    .flatMap(process -> process.info().startInstant())
                    .map(Instant::toString)
                    .orElse("never");
        }

        boolean isThere() {
            return !began.equals("never") && began.equals(began(pid));
        }
    }

    /// Returns the file of the network with this name, in the runtime folder of the user.
    static RunningNetwork named(String name) {
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        Path folder = runtime == null || runtime.isEmpty()
                ? Path.of(System.getProperty("java.io.tmpdir"), "verbena-networks-" + System.getProperty("user.name"))
                : Path.of(runtime, "verbena-networks");
        return new RunningNetwork(folder.resolve(name));
    }

    /// Makes the folder, and takes the name.
    ///
    /// @throws CommandFailed when a network with this name runs, or another user has the folder
    void begin() {
        try {
            try {
                Files.createDirectory(
                        folder(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } catch (FileAlreadyExistsException _) {
                checkFolder();
            }
            if (members().stream().anyMatch(Member::isThere)) {
                throw new CommandFailed(
                        "a network '" + file.getFileName() + "' runs already: --name gives this one another name");
            }
        } catch (IOException e) {
            throw CommandFailed.io(file.toString(), e);
        }
    }

    private void checkFolder() throws IOException {
        boolean isOwn = Files.getOwner(folder()).getName().equals(System.getProperty("user.name"))
                && PosixFilePermissions.toString(Files.getPosixFilePermissions(folder()))
                        .equals("rwx------");
        if (!isOwn) {
            throw new CommandFailed(folder() + " is not a folder of this user alone");
        }
    }

    private Path folder() {
        return Optional.ofNullable(file.toAbsolutePath().getParent()).orElseThrow();
    }

    /// Writes the hosts into the file.
    void write(List<Member> members) throws IOException {
        var lines = new ArrayList<String>();
        for (Member each : members) {
            lines.add(each.name() + " " + each.pid() + " " + each.began() + " " + each.address());
        }
        Files.write(file, lines);
    }

    /// Returns the hosts; none when there is no file.
    private List<Member> members() throws IOException {
        try {
            return Files.readAllLines(file).stream().map(Member::of).toList();
        } catch (NoSuchFileException _) {
            return List.of();
        }
    }

    /// Returns a host of the network.
    ///
    /// @throws CommandFailed when there is none, or the network does not run
    Member member(String name) {
        List<Member> members;
        try {
            if (Files.exists(folder())) {
                checkFolder();
            }
            members = members().stream().filter(Member::isThere).toList();
        } catch (IOException e) {
            throw CommandFailed.io(file.toString(), e);
        }
        if (members.isEmpty()) {
            throw new CommandFailed(
                    "no network '" + file.getFileName() + "' runs: 'verbena network up NETWORK' runs one");
        }
        return members.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new CommandFailed("there is no host '" + name + "': "
                        + String.join(", ", members.stream().map(Member::name).toList())));
    }

    /// Ends the network.
    void end() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
