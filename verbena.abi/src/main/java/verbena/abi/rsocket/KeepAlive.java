package verbena.abi.rsocket;

import java.util.function.LongUnaryOperator;
import verbena.abi.rsocket.RsocketOptions.Option;
import verbena.abi.rsocket.RsocketState.Phase;
import verbena.stream.protocol.ByteStream;
import verbena.stream.protocol.StreamMessage;

/// Signs of life from the peer of an [Rsocket], as `SO_KEEPALIVE` and `TCP_KEEPIDLE` want them.
final class KeepAlive {
    private final RsocketState state;
    private final RsocketOptions options;
    private final Attention attention;
    private final LongUnaryOperator ask = this::ask;

    KeepAlive(RsocketState state, RsocketOptions options, Attention attention) {
        this.state = state;
        this.options = options;
        this.attention = attention;
    }

    /// Updates the watch: a connection was made, or the options have changed.
    void update() {
        StreamLooker.keepAlive(ask, options.get(Option.KEEP_ALIVE) != 0);
    }

    void end() {
        StreamLooker.keepAlive(ask, false);
    }

    static boolean isConcernedBy(Option option) {
        return option == Option.KEEP_ALIVE || option == Option.KEEP_IDLE;
    }

    /// Asks a peer that has not been heard of for so long for a sign of life, without which the connection
    /// ends. In how many nanoseconds it is time for that again.
    private long ask(long now) {
        state.lock.lock();
        try {
            ByteStream made = state.stream;
            if (made == null || state.phase != Phase.CONNECTED) {
                return Long.MAX_VALUE;
            }
            attention.progress();
            long idle = options.get(Option.KEEP_IDLE) * 1_000_000_000L;
            if (now - state.heardNanos() >= idle) {
                state.heard(now);
                if (made.isSent() && made.hasControl()) {
                    made.sendControl(StreamMessage.KEEP_ALIVE);
                }
            }
            attention.keep();
            return Math.max(1, state.heardNanos() + idle - now);
        } finally {
            state.lock.unlock();
        }
    }
}
