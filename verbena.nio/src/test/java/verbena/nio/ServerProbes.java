package verbena.nio;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.util.LinkedHashMap;
import java.util.Map;
import verbena.nio.Probes.Call;
import verbena.nio.Probes.State;

/// The states of a [java.nio.channels.ServerSocketChannel], and its calls and those of its [ServerSocket].
final class ServerProbes {
    private ServerProbes() {}

    static Map<String, State> states() {
        Map<String, State> table = new LinkedHashMap<>();
        table.put("new", w -> w.openServer());
        table.put("new, non-blocking", w -> w.openServer().server().configureBlocking(false));
        table.put("new, interrupted", w -> w.openServer().isInterrupted = true);
        table.put("bound", w -> w.bindServer());
        table.put("bound, non-blocking", w -> w.bindServer().server().configureBlocking(false));
        table.put("bound, interrupted", w -> w.bindServer().isInterrupted = true);
        table.put("bound, non-blocking, interrupted", w -> {
            w.bindServer().server().configureBlocking(false);
            w.isInterrupted = true;
        });
        table.put("with a client", w -> w.bindServerWithClient());
        table.put(
                "with a client, non-blocking",
                w -> w.bindServerWithClient().server().configureBlocking(false));
        table.put("with a client, interrupted", w -> w.bindServerWithClient().isInterrupted = true);
        table.put(
                "with a client that has gone",
                w -> w.bindServerWithClient().peer().close());
        table.put("closed, new", w -> w.openServer().server().close());
        table.put("closed", w -> w.bindServer().server().close());
        table.put("closed, non-blocking", w -> {
            w.bindServer().server().configureBlocking(false);
            w.server().close();
        });
        return table;
    }

    private static ServerSocket socket(ProbeWorld w) {
        return w.server().socket();
    }

    static Map<String, Call> calls() {
        Map<String, Call> table = new LinkedHashMap<>();
        table.put(
                "isOpen, isBlocking, isRegistered, validOps",
                w -> w.server().isOpen() + " " + w.server().isBlocking() + " "
                        + w.server().isRegistered() + " " + w.server().validOps());
        table.put(
                "provider",
                w -> w.server().provider().getClass() == w.ends.tried().getClass());
        table.put("getLocalAddress", w -> w.server().getLocalAddress());
        table.put("supportedOptions", w -> w.server().supportedOptions());
        table.put("getOption SO_REUSEADDR", w -> w.server().getOption(StandardSocketOptions.SO_REUSEADDR));
        table.put("getOption SO_RCVBUF", w -> w.server().getOption(StandardSocketOptions.SO_RCVBUF) > 0);
        table.put("getOption of others", w -> w.server().getOption(StandardSocketOptions.TCP_NODELAY));
        table.put("getOption(null)", w -> w.server().getOption(null));
        table.put(
                "setOption SO_REUSEADDR",
                w -> w.server()
                        .setOption(StandardSocketOptions.SO_REUSEADDR, false)
                        .getOption(StandardSocketOptions.SO_REUSEADDR));
        table.put("setOption of others", w -> w.server().setOption(StandardSocketOptions.TCP_NODELAY, true));
        table.put("setOption(-1)", w -> w.server().setOption(StandardSocketOptions.SO_RCVBUF, -1));
        table.put("setOption to null", w -> w.server().setOption(StandardSocketOptions.SO_RCVBUF, null));
        table.put("setOption(null)", w -> w.server().setOption(null, 1));
        table.put("bind(null)", w -> w.server().bind(null).getLocalAddress());
        table.put("bind(a port)", w -> w.server().bind(Providers.anyPort(), -1).getLocalAddress());
        table.put("bind(all)", w -> w.server().bind(new InetSocketAddress(0)).getLocalAddress());
        table.put("bind(taken)", w -> w.server().bind(w.taken()));
        table.put("bind(taken), bind", w -> {
            try {
                return w.server().bind(w.taken());
            } catch (java.net.BindException e) {
                return w.server().bind(Providers.anyPort());
            }
        });
        table.put("bind(unresolved)", w -> w.server().bind(SocketProbes.UNRESOLVED));
        table.put("bind(foreign)", w -> w.server().bind(SocketProbes.FOREIGN));
        table.put("bind(elsewhere)", w -> w.server().bind(SocketProbes.ELSEWHERE));
        table.put("accept", w -> w.server().accept());
        table.put("accept, and its state", w -> w.server().accept().isBlocking());
        table.put("accept, and its address", w -> w.server().accept().getLocalAddress());
        table.put("configureBlocking(true)", w -> w.server().configureBlocking(true));
        table.put("configureBlocking(false)", w -> w.server().configureBlocking(false));
        table.put("register", w -> w.key = w.server().register(w.openSelector().selector(), SelectionKey.OP_ACCEPT));
        table.put("register(OP_READ)", w -> w.server().register(w.openSelector().selector(), SelectionKey.OP_READ));
        table.put("close", w -> {
            w.server().close();
            w.server().close();
            return null;
        });
        adaptor(table);
        return table;
    }

    private static void adaptor(Map<String, Call> table) {
        table.put("socket", w -> socket(w));
        table.put(
                "socket.isBound, isClosed",
                w -> socket(w).isBound() + " " + socket(w).isClosed());
        table.put("socket.getInetAddress", w -> socket(w).getInetAddress());
        table.put("socket.getLocalPort", w -> Integer.signum(socket(w).getLocalPort()));
        table.put("socket.getLocalSocketAddress", w -> socket(w).getLocalSocketAddress());
        table.put("socket.getChannel", w -> socket(w).getChannel());
        table.put("socket.supportedOptions", w -> socket(w).supportedOptions());
        table.put("socket.bind(null)", w -> {
            socket(w).bind(null);
            return socket(w).getLocalSocketAddress();
        });
        table.put("socket.bind(unresolved)", w -> {
            socket(w).bind(SocketProbes.UNRESOLVED);
            return null;
        });
        table.put("socket.bind(foreign)", w -> {
            socket(w).bind(SocketProbes.FOREIGN, 3);
            return null;
        });
        table.put("socket.accept", w -> socket(w).accept());
        table.put("socket.accept, in 2 ms", w -> {
            socket(w).setSoTimeout(2);
            return socket(w).accept();
        });
        table.put("socket.getSoTimeout", w -> socket(w).getSoTimeout());
        table.put("socket.setSoTimeout", w -> {
            socket(w).setSoTimeout(7);
            return socket(w).getSoTimeout();
        });
        table.put("socket.setSoTimeout(-1)", w -> {
            socket(w).setSoTimeout(-1);
            return null;
        });
        table.put("socket.getReuseAddress", w -> socket(w).getReuseAddress());
        table.put("socket.setReuseAddress", w -> {
            socket(w).setReuseAddress(false);
            return socket(w).getReuseAddress();
        });
        table.put("socket.setReceiveBufferSize(0)", w -> {
            socket(w).setReceiveBufferSize(0);
            return null;
        });
        table.put("socket.setReceiveBufferSize", w -> {
            socket(w).setReceiveBufferSize(100_000);
            return socket(w).getReceiveBufferSize() >= 100_000;
        });
        table.put("socket.setPerformancePreferences", w -> {
            socket(w).setPerformancePreferences(1, 2, 3);
            return null;
        });
        table.put("socket.getOption of others", w -> socket(w).getOption(StandardSocketOptions.TCP_NODELAY));
        table.put("socket.setOption", w -> socket(w).setOption(StandardSocketOptions.SO_REUSEADDR, true));
        table.put("socket.close", w -> {
            socket(w).close();
            return null;
        });
    }
}
