package verbena.tools.decode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import verbena.tools.kit.CommandFailed;
import verbena.wire.pcap.PspUnwrapper;

/// The options of `decode` about PSP.
final class PspOptions {
    @Option(
            names = "--keys",
            paramLabel = "FILE",
            description =
                    "Open packets of PSP with the keys of this file: lines of SPI KEY, or of master0 KEY and master1"
                            + " KEY, in hexadecimal.")
    private @Nullable Path keys;

    @Option(
            names = "--write-clear",
            paramLabel = "FILE",
            description = "Also write all that is read into a pcapng file, without PSP where it was opened.")
    private @Nullable Path clear;

    @Option(
            names = "--psp-port",
            paramLabel = "P",
            defaultValue = "1000",
            description = "UDP port of PSP (default ${DEFAULT-VALUE}); port 4791 is tried too.")
    private int port;

    int port() {
        return port;
    }

    /// Makes an unwrapper that has seen no packet yet.
    PspUnwrapper unwrapper() {
        return new PspUnwrapper(keys == null ? PspKeyFile.empty() : PspKeyFile.read(keys), port);
    }

    /// Returns the file that the packets are written into; empty when they are not written.
    ///
    /// @param file the capture that is read
    @Nullable
    ClearCapture clearCapture(String file) {
        if (clear == null) {
            return null;
        }
        try {
            if (!file.equals("-") && Files.exists(clear) && Files.isSameFile(clear, Path.of(file))) {
                throw new CommandFailed("--write-clear: " + clear + " is the capture that is read");
            }
            return new ClearCapture(clear);
        } catch (IOException e) {
            throw CommandFailed.io("--write-clear: cannot write " + clear, e);
        }
    }
}
