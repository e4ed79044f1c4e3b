package verbena.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// Checks of datagrams over rsockets in C. rdma-core's own rsockets do not know RoCE: a preloaded library of ours
/// adds that.
final class Datagrams {
    private Datagrams() {}

    /// @param pair made of what stands before the guest's command
    static Check.Act over(Function<String, ServerAndClient> pair) {
        return attempt -> {
            Path root = attempt.lab().root();
            Path library = root.resolve(".verbena/roce_ah.so");
            try {
                Files.createDirectories(library.getParent());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            Running compiler = attempt.started(Running.start(
                    "cc",
                    Map.of(),
                    List.of(
                            "cc",
                            "-shared",
                            "-fPIC",
                            "-o",
                            library.toString(),
                            root.resolve("verbena.abi/src/test/c/roce_ah.c").toString(),
                            "-libverbs",
                            "-ldl")));
            if (compiler.await(60) != 0) {
                throw new AssertionError("the preloaded library cannot be built");
            }
            pair.apply("env VERBENA_GID_INDEX=1 LD_PRELOAD=" + library).run(attempt);
        };
    }
}
