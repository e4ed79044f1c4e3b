package verbena.nic.link.tcp;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;

/// A TCP port of one of this link's addresses. For the thread that may move the link, one at a time.
public abstract class TcpPort {
    /// An acceptor that decides about the streams that peers open.
    @FunctionalInterface
    public interface Acceptor {
        /// Returns the handler of a stream; null refuses it, and it is reset.
        @Nullable
        StreamHandler onAccept(TcpSocket socket, long nowNanos);
    }

    private final Gid local;
    private final int number;
    private @Nullable Acceptor acceptor;

    TcpPort(Gid local, int number) {
        this.local = local;
        this.number = number;
    }

    public final Gid local() {
        return local;
    }

    public final int number() {
        return number;
    }

    final void accepted(TcpSocket socket, long now) {
        Acceptor to = acceptor;
        try {
            StreamHandler handler = to == null ? null : to.onAccept(socket, now);
            if (handler == null) {
                socket.close(true);
            } else {
                socket.handler(handler);
            }
        } catch (RuntimeException | Error e) {
            socket.contain(e, now);
        }
    }

    /// Accepts streams from now on.
    ///
    /// @throws verbena.nic.link.LinkException when another socket listens at the port, and both were allowed to
    ///     bind it
    public final void listen(Acceptor to) {
        acceptor = to;
        begin();
    }

    /// Begins to listen.
    abstract void begin();

    /// Releases the port. Idempotent.
    public abstract void close();
}
