package verbena.nic.link;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;

/// A TCP port of one address that is ours. Used by whoever may move its link, one thread at a time.
public abstract sealed class TcpPort permits LinuxTcpLink.Port, ChannelTcpLink.Port {
    /// Who gets the streams that others open.
    @FunctionalInterface
    public interface Acceptor {
        /// Gives whom the stream belongs to; null refuses it, and it is reset.
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

    /// Streams are accepted from now on.
    ///
    /// @throws LinkException when somebody else has the port, who has let others bind it too
    public final void listen(Acceptor to) {
        acceptor = to;
        begin();
    }

    /// Listens.
    abstract void begin();

    /// The port is free again. Idempotent.
    public abstract void close();
}
