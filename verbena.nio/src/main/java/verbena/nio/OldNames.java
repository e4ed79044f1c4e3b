package verbena.nio;

import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;

/// The exceptions of channels as `java.net` knows them: [SocketView] and [ServerSocketView] throw these.
final class OldNames {
    private OldNames() {}

    /// A call of a channel.
    @FunctionalInterface
    interface Call<T extends @Nullable Object> {
        T get() throws IOException;
    }

    /// Calls, and throws the unchecked exceptions of a channel's state as those of a socket.
    static <T extends @Nullable Object> T unchecked(Call<T> call) throws IOException {
        try {
            return call.get();
        } catch (RuntimeException e) {
            throw of(e);
        }
    }

    /// Calls, and turns all exceptions into a [SocketException], for methods that may throw no other.
    static <T> T all(Call<T> call) throws SocketException {
        try {
            return call.get();
        } catch (SocketException e) {
            throw e;
        } catch (ClosedChannelException e) {
            throw caused(new SocketException("Socket is closed"), e);
        } catch (IOException e) {
            throw caused(new SocketException(e.getMessage()), e);
        } catch (RuntimeException e) {
            throw of(e);
        }
    }

    private static SocketException of(RuntimeException e) {
        String name = switch (e) {
            case NotYetConnectedException _ -> "Socket is not connected";
            case AlreadyBoundException _ -> "Already bound";
            case AlreadyConnectedException _ -> "Already connected";
            case NotYetBoundException _ -> "Socket is not bound yet";
            case UnsupportedAddressTypeException _ -> "Unsupported address type";
            case UnresolvedAddressException _ -> "Unresolved address";
            default -> throw e;
        };
        return caused(new SocketException(name), e);
    }

    private static SocketException caused(SocketException as, Exception by) {
        as.initCause(by);
        return as;
    }
}
