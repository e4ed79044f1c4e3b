package verbena.netty;

import io.netty.channel.ConnectTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;
import verbena.stream.StreamOptions;
import verbena.verbs.VerbsException;

/// An attempt to connect, in a virtual thread of its own: opening a device and waiting for the peer take time, which
/// the event loop has not.
final class ConnectAttempt {
    private final @Nullable InetSocketAddress from;
    private final InetSocketAddress to;
    private final StreamChannel stream;

    /// @param from null for any
    /// @throws VerbsException when the device that was chosen cannot be used
    ConnectAttempt(@Nullable InetSocketAddress from, InetSocketAddress to, StreamOptions options) {
        this.from = from;
        this.to = to;
        this.stream = StreamChannel.open(options);
    }

    /// Starts the attempt, and runs one of the two callbacks in the attempt's thread.
    void start(Consumer<StreamChannel> onConnected, Consumer<Throwable> onFailed) {
        Thread.ofVirtual().name("verbena-netty-connect").start(() -> run(onConnected, onFailed));
    }

    private void run(Consumer<StreamChannel> onConnected, Consumer<Throwable> onFailed) {
        try {
            boolean _ = stream.connectTo(from, to, () -> true);
            stream.configureBlocking(false);
        } catch (IOException | RuntimeException | LinkageError e) {
            cancel();
            onFailed.accept(reason(e));
            return;
        }
        onConnected.accept(stream);
    }

    /// Returns the exception as Netty's own transports have it.
    private Throwable reason(Throwable why) {
        return switch (why) {
            case SocketTimeoutException late -> {
                var as = new ConnectTimeoutException(late.getMessage());
                as.initCause(late);
                yield as;
            }
            case IOException e -> e;
            case IllegalArgumentException e -> e; // an option, an address
            default -> {
                var as = new ConnectException("connect: " + to + ": " + why.getMessage());
                as.initCause(why);
                yield as;
            }
        };
    }

    /// Ends it, whatever has become of it.
    void cancel() {
        var _ = stream.closeLater();
    }
}
