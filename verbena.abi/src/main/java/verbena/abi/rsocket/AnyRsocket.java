package verbena.abi.rsocket;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What the number of an rsocket stands for: a listener or one end of a stream ([Rsocket]), or a socket of
/// datagrams ([DatagramRsocket]). Calls answer as those of sockets do, with a negative errno when they fail.
interface AnyRsocket {
    int SHUT_RD = 0;
    int SHUT_WR = 1;
    int SHUT_RDWR = 2;

    /// What comes with data.
    final class Arrival {
        @Nullable
        InetSocketAddress from;

        /// The rest of the datagram is lost.
        boolean isCut;
    }

    /// The program gets a file descriptor: the lowest number that is free, as from socket(2) and accept(2).
    int open();

    long bind(InetSocketAddress address);

    long connect(InetSocketAddress to);

    /// Moves what has come; waits for the first bytes of a stream, or for all, or for a datagram.
    ///
    /// @param arrival is filled when something has come
    long receive(Pieces into, boolean isPeek, boolean wantsAll, boolean mayNotWait, Arrival arrival);

    /// Answers how many bytes have been taken.
    ///
    /// @param to null for the peer of the connection
    long send(Pieces from, @Nullable InetSocketAddress to, boolean mayNotWait);

    long shutdown(int how);

    long close();

    /// The process ends: what is on its way gets a moment.
    void leave();

    // ---- what it is

    Optional<InetSocketAddress> localName();

    /// Empty when there is no connection.
    Optional<InetSocketAddress> peerName();

    /// Its name as long as it has none: no address, no port, of its family.
    InetSocketAddress noName();

    boolean isNonBlocking();

    void nonBlocking(boolean wanted);

    boolean isConnected();

    boolean isListening();

    /// The error that waits, positive; it does not wait any more then.
    int takeError();

    long setOption(long level, long name, long value, long length);

    long getOption(long level, long name, long into, long lengthPointer);
}
