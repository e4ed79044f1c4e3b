package verbena.netty;

import io.netty.channel.IoEvent;
import io.netty.channel.IoOps;
import java.nio.channels.SelectionKey;

/// Operations of a channel: those that it waits for, or those that have become possible.
///
/// @param value of [SelectionKey#OP_READ] and [SelectionKey#OP_WRITE]; a listener reads connections
record StreamOps(int value) implements IoOps, IoEvent {
    static final int READ = SelectionKey.OP_READ;
    static final int WRITE = SelectionKey.OP_WRITE;

    private static final StreamOps NONE = new StreamOps(0);
    private static final StreamOps ONLY_READ = new StreamOps(READ);
    private static final StreamOps ONLY_WRITE = new StreamOps(WRITE);
    private static final StreamOps BOTH = new StreamOps(READ | WRITE);

    /// Makes none anew.
    static StreamOps of(int value) {
        return switch (value & (READ | WRITE)) {
            case 0 -> NONE;
            case READ -> ONLY_READ;
            case WRITE -> ONLY_WRITE;
            default -> BOTH;
        };
    }
}
