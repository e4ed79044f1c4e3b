package verbena.abi.rsocket;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The object behind the number of an rsocket: a listener or one end of a stream ([Rsocket]), or a socket of
/// datagrams ([DatagramRsocket]). Calls answer as those of sockets do, with a negative errno when they fail.
interface AnyRsocket {
    int SHUT_RD = 0;
    int SHUT_WR = 1;
    int SHUT_RDWR = 2;

    /// The details of data that arrived.
    final class Arrival {
        @Nullable
        InetSocketAddress from;

        /// The rest of the datagram is lost.
        boolean isCut;
    }

    /// Opens a file descriptor for the program: the lowest number that is free, as from socket(2) and accept(2).
    int open();

    long bind(InetSocketAddress address);

    long connect(InetSocketAddress to);

    /// Moves what has come; waits for the first bytes of a stream, or for all, or for a datagram.
    ///
    /// @param arrival is filled when something has come
    long receive(Pieces into, boolean isPeek, boolean wantsAll, boolean mayNotWait, Arrival arrival);

    /// Sends bytes, and answers how many have been taken.
    ///
    /// @param to null for the peer of the connection
    long send(Pieces from, @Nullable InetSocketAddress to, boolean mayNotWait);

    long shutdown(int how);

    long close();

    /// Gives data on its way a moment to leave when the process ends.
    void leave();

    // ---- what it is

    Optional<InetSocketAddress> localName();

    /// Returns the peer's name; empty when there is no connection.
    Optional<InetSocketAddress> peerName();

    /// Returns its name while it has none: no address, no port, of its family.
    InetSocketAddress noName();

    boolean isNonBlocking();

    void nonBlocking(boolean wanted);

    boolean isConnected();

    boolean isListening();

    /// Takes the error that waits, as a positive number; it does not wait any more then.
    int takeError();

    long setOption(long level, long name, long value, long length);

    long getOption(long level, long name, long into, long lengthPointer);
}
