package verbena.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The entry points for Jazzer, and a program that gives files to a target without it.
public final class Fuzz {
    private static Target target = Target.PACKET;

    private Fuzz() {}

    /// Gives files to a target, and ends with the first failure.
    ///
    /// @param args a target and files; each is an input
    public static void main(String[] args) throws IOException {
        target = Target.of(args[0]);
        for (int i = 1; i < args.length; i++) {
            target.run(Files.readAllBytes(Path.of(args[i])));
            System.out.println(args[i] + " keeps the contract of " + target.label());
        }
    }

    /// Takes the target's name, which Jazzer passes from `--target_args`.
    public static void fuzzerInitialize(String[] args) {
        target = Target.of(args[0]);
    }

    /// Runs the target with an input of Jazzer's.
    public static void fuzzerTestOneInput(byte[] data) {
        target.run(data);
    }
}
