package verbena.verbs.internal;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import verbena.verbs.ConnectionException;

/// The addresses of a host, which are tried in turn.
public final class HostAddresses {
    private HostAddresses() {}

    /// An attempt at one address.
    public interface Attempt<T, X extends Exception> {
        T at(InetSocketAddress address) throws X;
    }

    /// Tries the addresses of a host in turn. The failure at the last is the caller's.
    ///
    /// @param failure what an address that does not work throws
    /// @throws UnknownHostException when the host has no address
    public static <T, X extends Exception> T tryEach(
            String host, int port, Class<? extends Exception> failure, Attempt<T, X> attempt)
            throws X, UnknownHostException {
        InetAddress[] all = InetAddress.getAllByName(host);
        for (int i = 0; ; i++) {
            try {
                return attempt.at(new InetSocketAddress(all[i], port));
            } catch (Exception e) {
                if (i + 1 == all.length || !failure.isInstance(e)) {
                    throw e;
                }
            }
        }
    }

    /// Tries the addresses of a host as [#tryEach] does, with the exceptions of connections.
    ///
    /// @throws ConnectionException when the host has no address
    public static <T, X extends Exception> T tryEach(String verb, String host, int port, Attempt<T, X> attempt)
            throws X {
        try {
            return tryEach(host, port, ConnectionException.class, attempt);
        } catch (UnknownHostException e) {
            throw new ConnectionException(
                    ConnectionException.Reason.ADDRESS, verb + ": \"" + host + "\" is no known host", e);
        }
    }
}
