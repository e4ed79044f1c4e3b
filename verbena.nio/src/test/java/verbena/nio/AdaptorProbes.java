package verbena.nio;

import java.net.Socket;
import java.net.StandardSocketOptions;
import java.util.LinkedHashMap;
import java.util.Map;
import verbena.nio.Probes.Call;

/// The calls of the [java.net.Socket] of a channel, and of its streams.
final class AdaptorProbes {
    private AdaptorProbes() {}

    private static Socket socket(ProbeWorld w) {
        return w.socket().socket();
    }

    static Map<String, Call> calls() {
        Map<String, Call> table = new LinkedHashMap<>();
        table.put(
                "isBound, isConnected, isClosed",
                w -> socket(w).isBound() + " " + socket(w).isConnected() + " "
                        + socket(w).isClosed());
        table.put(
                "isInputShutdown, isOutputShutdown",
                w -> socket(w).isInputShutdown() + " " + socket(w).isOutputShutdown());
        table.put("getInetAddress", w -> socket(w).getInetAddress());
        table.put("getPort", w -> socket(w).getPort() > 0);
        table.put("getLocalAddress", w -> socket(w).getLocalAddress());
        table.put("getLocalPort", w -> Integer.signum(socket(w).getLocalPort()));
        table.put("getRemoteSocketAddress", w -> socket(w).getRemoteSocketAddress());
        table.put("getLocalSocketAddress", w -> socket(w).getLocalSocketAddress());
        table.put("getChannel", w -> socket(w).getChannel());
        table.put("supportedOptions", w -> socket(w).supportedOptions());
        connects(table);
        streams(table);
        options(table);
        table.put("sendUrgentData", w -> {
            socket(w).sendUrgentData(1);
            return null;
        });
        table.put("shutdownInput", w -> {
            socket(w).shutdownInput();
            return null;
        });
        table.put("shutdownOutput", w -> {
            socket(w).shutdownOutput();
            return null;
        });
        table.put("setPerformancePreferences", w -> {
            socket(w).setPerformancePreferences(1, 2, 3);
            return null;
        });
        table.put("close", w -> {
            socket(w).close();
            socket(w).close();
            return null;
        });
        return table;
    }

    private static void connects(Map<String, Call> table) {
        table.put("connect", w -> {
            socket(w).connect(w.target());
            return null;
        });
        table.put("connect, in a minute", w -> {
            socket(w).connect(w.target(), 60_000);
            return null;
        });
        table.put("connect(-1)", w -> {
            socket(w).connect(w.target(), -1);
            return null;
        });
        table.put("connect(null)", w -> {
            socket(w).connect(null);
            return null;
        });
        table.put("connect(unresolved)", w -> {
            socket(w).connect(SocketProbes.UNRESOLVED);
            return null;
        });
        table.put("connect(foreign)", w -> {
            socket(w).connect(SocketProbes.FOREIGN);
            return null;
        });
        table.put("connect(port 0)", w -> {
            socket(w).connect(Providers.anyPort());
            return null;
        });
        table.put("bind(null)", w -> {
            socket(w).bind(null);
            return socket(w).getLocalSocketAddress();
        });
        table.put("bind(a port)", w -> {
            socket(w).bind(Providers.anyPort());
            return socket(w).getLocalSocketAddress();
        });
        table.put("bind(taken)", w -> {
            socket(w).bind(w.target());
            return null;
        });
        table.put("bind(unresolved)", w -> {
            socket(w).bind(SocketProbes.UNRESOLVED);
            return null;
        });
        table.put("bind(foreign)", w -> {
            socket(w).bind(SocketProbes.FOREIGN);
            return null;
        });
    }

    private static void streams(Map<String, Call> table) {
        table.put("getInputStream", w -> socket(w).getInputStream());
        table.put("getOutputStream", w -> socket(w).getOutputStream());
        table.put("in.read()", w -> w.in().read());
        table.put("in.read(9)", w -> w.in().read(new byte[9]));
        table.put("in.read(0)", w -> w.in().read(new byte[0]));
        table.put("in.read(null)", w -> w.in().read(null));
        table.put("in.read beyond", w -> w.in().read(new byte[2], 1, 2));
        table.put("in.read, in 2 ms", w -> {
            if (socket(w).isClosed()) {
                return "closed";
            }
            socket(w).setSoTimeout(2);
            return w.in().read(new byte[9]);
        });
        table.put("in.available", w -> w.in().available());
        table.put("in.skip", w -> w.in().skip(2));
        table.put("in.markSupported", w -> w.in().markSupported());
        table.put("in.readNBytes(0)", w -> w.in().readNBytes(0).length);
        table.put("in.close", w -> {
            w.in().close();
            return null;
        });
        table.put("out.write()", w -> {
            w.out().write(1);
            return null;
        });
        table.put("out.write(9)", w -> {
            w.out().write(new byte[9]);
            return null;
        });
        table.put("out.write(0)", w -> {
            w.out().write(new byte[0]);
            return null;
        });
        table.put("out.write(null)", w -> {
            w.out().write(null);
            return null;
        });
        table.put("out.write beyond", w -> {
            w.out().write(new byte[2], 3, 0);
            return null;
        });
        table.put("out.flush", w -> {
            w.out().flush();
            return null;
        });
        table.put("out.close", w -> {
            w.out().close();
            return null;
        });
    }

    private static void options(Map<String, Call> table) {
        table.put("getTcpNoDelay", w -> socket(w).getTcpNoDelay());
        table.put("setTcpNoDelay", w -> {
            socket(w).setTcpNoDelay(true);
            return socket(w).getTcpNoDelay();
        });
        table.put("getSoLinger", w -> socket(w).getSoLinger());
        table.put("setSoLinger", w -> {
            socket(w).setSoLinger(true, 70_000);
            return socket(w).getSoLinger();
        });
        table.put("setSoLinger(-1)", w -> {
            socket(w).setSoLinger(true, -1);
            return socket(w).getSoLinger();
        });
        table.put("setSoLinger(false)", w -> {
            socket(w).setSoLinger(false, 5);
            return socket(w).getSoLinger();
        });
        table.put("getOOBInline", w -> socket(w).getOOBInline());
        table.put("setOOBInline", w -> {
            socket(w).setOOBInline(true);
            return socket(w).getOOBInline();
        });
        table.put("getSoTimeout", w -> socket(w).getSoTimeout());
        table.put("setSoTimeout", w -> {
            socket(w).setSoTimeout(7);
            return socket(w).getSoTimeout();
        });
        table.put("setSoTimeout(-1)", w -> {
            socket(w).setSoTimeout(-1);
            return null;
        });
        table.put("setSendBufferSize(0)", w -> {
            socket(w).setSendBufferSize(0);
            return null;
        });
        table.put("setSendBufferSize", w -> {
            socket(w).setSendBufferSize(100_000);
            return socket(w).getSendBufferSize() >= 100_000;
        });
        table.put("setReceiveBufferSize(0)", w -> {
            socket(w).setReceiveBufferSize(0);
            return null;
        });
        table.put("setReceiveBufferSize", w -> {
            socket(w).setReceiveBufferSize(100_000);
            return socket(w).getReceiveBufferSize() >= 100_000;
        });
        table.put("setKeepAlive", w -> {
            socket(w).setKeepAlive(true);
            return socket(w).getKeepAlive();
        });
        table.put("setTrafficClass", w -> {
            socket(w).setTrafficClass(8);
            return socket(w).getTrafficClass();
        });
        table.put("setTrafficClass(256)", w -> {
            socket(w).setTrafficClass(256);
            return null;
        });
        table.put("setReuseAddress", w -> {
            socket(w).setReuseAddress(true);
            return socket(w).getReuseAddress();
        });
        table.put("setOption", w -> socket(w).setOption(StandardSocketOptions.SO_KEEPALIVE, true));
        table.put("getOption", w -> socket(w).getOption(StandardSocketOptions.SO_KEEPALIVE));
        table.put("getOption of others", w -> socket(w).getOption(StandardSocketOptions.IP_MULTICAST_TTL));
        table.put("getOption(null)", w -> socket(w).getOption(null));
    }
}
