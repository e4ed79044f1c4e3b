package verbena.tools.pingpong;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import verbena.tools.kit.Size;
import verbena.verbs.Mtu;

/// The sizes that a ping-pong over a connection asks for.
final class PingpongSizes {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            defaultValue = "4096",
            converter = Size.class,
            description = "Size of a message (default ${DEFAULT-VALUE}).")
    int size;

    @Option(
            names = {"-m", "--mtu"},
            paramLabel = "BYTES",
            defaultValue = "1024",
            converter = Size.class,
            description = "Path MTU: 256, 512, 1024, 2048, 4096 (default ${DEFAULT-VALUE}).")
    private int mtu;

    /// @throws ParameterException when it is none
    Mtu mtu() {
        if (mtu < 256 || mtu > 4096 || Integer.bitCount(mtu) != 1) {
            throw new ParameterException(command.commandLine(), "-m: 256, 512, 1024, 2048 or 4096, got " + mtu);
        }
        return Mtu.ofBytes(mtu);
    }
}
