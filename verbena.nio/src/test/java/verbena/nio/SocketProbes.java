package verbena.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import verbena.nio.Probes.Call;
import verbena.nio.Probes.State;

/// The states of a [java.nio.channels.SocketChannel], and its calls.
final class SocketProbes {
    /// No address of IP.
    static final SocketAddress FOREIGN = new SocketAddress() {};

    static final InetSocketAddress UNRESOLVED = InetSocketAddress.createUnresolved("nowhere.invalid", 1);
    /// An address of documentation: RFC 5737. No host has it.
    static final InetSocketAddress ELSEWHERE = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 0);

    private SocketProbes() {}

    static Map<String, State> states() {
        Map<String, State> table = new LinkedHashMap<>();
        table.put("new", w -> w.open());
        table.put("new, non-blocking", w -> w.open().unblocked());
        table.put("new, interrupted", w -> w.open().isInterrupted = true);
        table.put("bound", w -> w.open().socket().bind(Providers.anyPort()));
        table.put("connecting", w -> w.full().open().unblocked().socket().connect(w.target()));
        table.put("refused", w -> {
            try {
                w.refused().open().socket().connect(w.target());
            } catch (java.net.ConnectException e) {
                // as it should be
            }
        });
        table.put(
                "bound, connecting",
                w -> w.full()
                        .open()
                        .unblocked()
                        .socket()
                        .bind(Providers.anyPort())
                        .connect(w.target()));
        table.put("connected", w -> w.connect());
        table.put("connected, non-blocking", w -> w.connect().unblocked());
        table.put("connected, interrupted", w -> w.connect().isInterrupted = true);
        table.put("connected, non-blocking, interrupted", w -> w.connect().unblocked().isInterrupted = true);
        table.put("accepted", w -> w.accept());
        table.put("with data", w -> w.connect().withData());
        table.put(
                "accepted, with data, non-blocking", w -> w.accept().withData().unblocked());
        table.put("with data, interrupted", w -> w.connect().withData().isInterrupted = true);
        table.put("input shut", w -> w.connect().socket().shutdownInput());
        table.put("input shut, with data", w -> w.connect().withData().socket().shutdownInput());
        table.put(
                "input shut, non-blocking",
                w -> w.connect().unblocked().socket().shutdownInput());
        table.put("output shut", w -> w.connect().socket().shutdownOutput());
        table.put(
                "output shut, non-blocking",
                w -> w.connect().unblocked().socket().shutdownOutput());
        table.put("both shut", w -> w.connect().socket().shutdownInput().shutdownOutput());
        table.put("peer's output shut", w -> {
            w.connect().peer().shutdownOutput();
            w.afterTheEnd();
        });
        table.put("peer closed", w -> {
            w.connect().peer().close();
            w.afterTheEnd();
        });
        table.put("peer closed, with data", w -> w.connect().withData().peer().close());
        table.put("reset", w -> w.connect().reset());
        table.put("accepted, reset, non-blocking", w -> w.accept().reset().unblocked());
        table.put("closed, new", w -> w.open().socket().close());
        table.put(
                "closed, bound",
                w -> w.open().socket().bind(Providers.anyPort()).close());
        table.put("closed", w -> w.connect().socket().close());
        table.put("closed, non-blocking", w -> w.connect().unblocked().socket().close());
        table.put("closed, interrupted", w -> {
            w.connect().socket().close();
            w.isInterrupted = true;
        });
        table.put("accepted, closed", w -> w.accept().socket().close());
        return table;
    }

    /// Those that change nothing but what they tell.
    static Map<String, Call> calls() {
        Map<String, Call> table = new LinkedHashMap<>();
        table.put(
                "isOpen, isConnected, isConnectionPending",
                w -> w.socket().isOpen() + " " + w.socket().isConnected() + " "
                        + w.socket().isConnectionPending());
        table.put(
                "isBlocking, isRegistered, validOps",
                w -> w.socket().isBlocking() + " " + w.socket().isRegistered() + " "
                        + w.socket().validOps());
        table.put(
                "provider",
                w -> w.socket().provider().getClass() == w.ends.tried().getClass());
        table.put("getLocalAddress", w -> w.socket().getLocalAddress());
        table.put("getRemoteAddress", w -> w.socket().getRemoteAddress());
        table.put("supportedOptions", w -> w.socket().supportedOptions());
        table.put("socket", w -> {
            Socket first = w.socket().socket();
            return w.socket().socket() == first;
        });
        table.put("keyFor", w -> w.socket().keyFor(w.openSelector().selector()));
        table.put("keyFor(null)", w -> w.socket().keyFor(null));
        options(table);
        table.put("bind(null)", w -> w.socket().bind(null).getLocalAddress());
        table.put("bind(a port)", w -> w.socket().bind(Providers.anyPort()).getLocalAddress());
        table.put("bind(taken)", w -> w.socket().bind(w.target()));
        table.put("bind(unresolved)", w -> w.socket().bind(UNRESOLVED));
        table.put("bind(foreign)", w -> w.socket().bind(FOREIGN));
        table.put("bind(elsewhere)", w -> w.socket().bind(ELSEWHERE));
        table.put("connect", w -> connect(w, w.target()));
        table.put("connect(null)", w -> w.socket().connect(null));
        table.put("connect(unresolved)", w -> w.socket().connect(UNRESOLVED));
        table.put("connect(foreign)", w -> w.socket().connect(FOREIGN));
        table.put("connect(port 0)", w -> connect(w, Providers.anyPort()));
        table.put("finishConnect", w -> w.socket().finishConnect());
        reads(table);
        writes(table);
        table.put("shutdownInput", w -> w.socket().shutdownInput());
        table.put("shutdownInput twice", w -> w.socket().shutdownInput().shutdownInput());
        table.put("shutdownOutput", w -> w.socket().shutdownOutput());
        table.put("shutdownOutput twice", w -> w.socket().shutdownOutput().shutdownOutput());
        table.put("configureBlocking(true)", w -> w.socket().configureBlocking(true));
        table.put("configureBlocking(false)", w -> w.socket().configureBlocking(false));
        table.put("configureBlocking(false), read", w -> {
            w.socket().configureBlocking(false);
            return w.socket().read(ByteBuffer.allocate(9));
        });
        table.put("register", w -> w.key = w.socket().register(w.openSelector().selector(), SelectionKey.OP_READ));
        table.put(
                "register(OP_ACCEPT)",
                w -> w.key = w.socket().register(w.openSelector().selector(), SelectionKey.OP_ACCEPT));
        table.put("register(closed)", w -> {
            w.openSelector().selector().close();
            return w.socket().register(w.selector(), SelectionKey.OP_READ);
        });
        table.put("register(null)", w -> w.socket().register(null, SelectionKey.OP_READ));
        table.put("register, configureBlocking(true)", w -> {
            w.key = w.socket().register(w.openSelector().selector(), 0);
            return w.socket().configureBlocking(true);
        });
        table.put("close", w -> {
            w.socket().close();
            w.socket().close();
            return null;
        });
        return table;
    }

    /// A non-blocking channel may or may not be connected at once.
    private static boolean connect(ProbeWorld w, SocketAddress to) throws IOException {
        boolean done = w.socket().connect(to);
        while (!done) {
            Thread.onSpinWait();
            done = w.socket().finishConnect();
        }
        return done;
    }

    private static void options(Map<String, Call> table) {
        for (SocketOption<Boolean> each : List.of(
                StandardSocketOptions.TCP_NODELAY,
                StandardSocketOptions.SO_KEEPALIVE,
                StandardSocketOptions.SO_REUSEADDR)) {
            table.put("getOption " + each, w -> w.socket().getOption(each));
            table.put("setOption " + each, w -> w.socket().setOption(each, true).getOption(each));
        }
        for (SocketOption<Integer> each : List.of(StandardSocketOptions.SO_LINGER, StandardSocketOptions.IP_TOS)) {
            table.put("getOption " + each, w -> w.socket().getOption(each));
            table.put("setOption " + each, w -> w.socket().setOption(each, 8).getOption(each));
        }
        for (SocketOption<Integer> each : List.of(StandardSocketOptions.SO_SNDBUF, StandardSocketOptions.SO_RCVBUF)) {
            table.put("getOption " + each, w -> w.socket().getOption(each) > 0);
            table.put("setOption " + each, w -> w.socket().setOption(each, 0).getOption(each) > 0);
            table.put("setOption(-1) " + each, w -> w.socket().setOption(each, -1));
        }
        table.put("getOption of others", w -> w.socket().getOption(StandardSocketOptions.IP_MULTICAST_TTL));
        table.put("getOption(null)", w -> w.socket().getOption(null));
        table.put("setOption of others", w -> w.socket().setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1));
        table.put("setOption(null)", w -> w.socket().setOption(null, 1));
        table.put("setOption to null", w -> w.socket().setOption(StandardSocketOptions.TCP_NODELAY, null));
    }

    private static void reads(Map<String, Call> table) {
        table.put("read", w -> {
            ByteBuffer into = ByteBuffer.allocate(9);
            return w.socket().read(into) + " at " + into.position();
        });
        table.put("read direct", w -> w.socket().read(ByteBuffer.allocateDirect(3)));
        table.put("read(empty)", w -> w.socket().read(ByteBuffer.allocate(0)));
        table.put("read(null)", w -> w.socket().read((ByteBuffer) null));
        table.put("read(read-only)", w -> w.socket().read(ByteBuffer.allocate(1).asReadOnlyBuffer()));
        table.put(
                "read(read-only, empty)",
                w -> w.socket().read(ByteBuffer.allocate(0).asReadOnlyBuffer()));
        table.put("read[]", w -> w.socket().read(new ByteBuffer[] {ByteBuffer.allocate(2), ByteBuffer.allocate(7)}));
        table.put("read[] of none", w -> w.socket().read(new ByteBuffer[0]));
        table.put("read[] of empty ones", w -> w.socket().read(new ByteBuffer[] {ByteBuffer.allocate(0)}));
        table.put("read[] of null", w -> w.socket().read(new ByteBuffer[] {null}));
        table.put("read[](null)", w -> w.socket().read((ByteBuffer[]) null));
        table.put("read[] beyond", w -> w.socket().read(new ByteBuffer[] {ByteBuffer.allocate(1)}, 1, 1));
        table.put(
                "read[](read-only)",
                w -> w.socket().read(new ByteBuffer[] {ByteBuffer.allocate(1).asReadOnlyBuffer()}));
    }

    private static void writes(Map<String, Call> table) {
        table.put("write", w -> {
            ByteBuffer from = ByteBuffer.allocate(9);
            return w.socket().write(from) + " at " + from.position();
        });
        table.put(
                "write read-only", w -> w.socket().write(ByteBuffer.allocate(1).asReadOnlyBuffer()));
        table.put("write(empty)", w -> w.socket().write(ByteBuffer.allocate(0)));
        table.put("write(null)", w -> w.socket().write((ByteBuffer) null));
        table.put("write[]", w -> w.socket().write(new ByteBuffer[] {ByteBuffer.allocate(2), ByteBuffer.allocate(7)}));
        table.put("write[] of none", w -> w.socket().write(new ByteBuffer[0]));
        table.put("write[] of empty ones", w -> w.socket().write(new ByteBuffer[] {ByteBuffer.allocate(0)}));
        table.put("write[] of null", w -> w.socket().write(new ByteBuffer[] {null}));
        table.put("write[](null)", w -> w.socket().write((ByteBuffer[]) null));
        table.put("write[] beyond", w -> w.socket().write(new ByteBuffer[] {ByteBuffer.allocate(1)}, 0, 2));
    }
}
