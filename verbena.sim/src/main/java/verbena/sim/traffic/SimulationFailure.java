package verbena.sim.traffic;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import verbena.sim.World;

/// A world in which something is wrong: which seed, how to see it again, the last packets, and where a capture of
/// them is.
public final class SimulationFailure extends AssertionError {
    private static final int LINES = 40;

    private SimulationFailure(String message, Throwable cause) {
        super(message, cause);
    }

    /// Describes the events in `world`, and writes a capture into `folder`.
    ///
    /// @param what what was found
    /// @param repeat the command that shows it again
    public static SimulationFailure of(World world, Throwable what, String repeat, Path folder) {
        var text = new StringBuilder();
        text.append("seed ").append(world.seed()).append(": ").append(what.getMessage());
        text.append("\n  repeat:  ").append(repeat);
        text.append("\n  capture: ").append(capture(world, folder));
        text.append(String.format(Locale.ROOT, "%n  until %.6f ms of virtual time:%n", world.nowNanos() / 1e6));
        world.trace()
                .last(LINES)
                .forEach(line -> text.append("    ").append(line).append('\n'));
        return new SimulationFailure(text.toString(), what);
    }

    private static String capture(World world, Path folder) {
        Path file = folder.resolve("verbena-sim-" + world.seed() + ".pcapng");
        try {
            world.trace().writeCapture(file);
            return file.toString();
        } catch (IOException e) {
            return "could not be written: " + e;
        }
    }
}
