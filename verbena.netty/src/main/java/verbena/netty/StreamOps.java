package verbena.netty;

import io.netty.channel.IoEvent;
import io.netty.channel.IoOps;
import java.nio.channels.SelectionKey;
import java.util.stream.IntStream;
import verbena.stream.StreamChannel;

/// Operations of a channel: those that it waits for, or those that have become possible.
///
/// @param value of [SelectionKey#OP_READ], [SelectionKey#OP_WRITE] and [StreamChannel#OP_END]; a listener reads
///     connections
record StreamOps(int value) implements IoOps, IoEvent {
    static final int READ = SelectionKey.OP_READ;
    static final int WRITE = SelectionKey.OP_WRITE;
    /// The end of input, for a channel that does not read now.
    static final int END = StreamChannel.OP_END;

    private static final StreamOps[] ALL = IntStream.rangeClosed(0, READ | WRITE | END)
            .mapToObj(StreamOps::new)
            .toArray(StreamOps[]::new);

    /// Makes none anew.
    static StreamOps of(int value) {
        return ALL[value & (READ | WRITE | END)];
    }
}
