package verbena.nio;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/// The JDK's own provider, and its parts that have no public name. The packages have to be exported to this one:
/// [NioAgent] does that, or `--add-exports java.base/sun.nio.ch`.
///
/// A process's first connection passes here, so there is no lambda on its way, and no handle that it can do without:
/// the JVM makes classes for them, which takes longer than the connection.
final class Jdk {
    private static final SelectorProvider PROVIDER;
    private static final boolean IS_INTERRUPTIBLE = true;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            Class<?> source = Class.forName("sun.nio.ch.DefaultSelectorProvider");
            MethodHandle get = lookup.findStatic(source, "get", MethodType.methodType(selectorProviderOf(source)));
            PROVIDER = (SelectorProvider) get.invoke();
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(
                    "java.base does not export sun.nio.ch to verbena.nio: start with -javaagent:verbena-nio.jar", e);
        } catch (Throwable e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Jdk() {}

    private static Class<?> selectorProviderOf(Class<?> source) throws NoSuchMethodException {
        return source.getMethod("get").getReturnType();
    }

    static SelectorProvider provider() {
        return PROVIDER;
    }

    /// Opens the JDK's own channels.
    ///
    /// @param family null for the one that the JDK chooses
    record Sockets(@Nullable ProtocolFamily family) implements Opener<SocketChannel> {
        @Override
        public SocketChannel open() throws IOException {
            return family == null ? PROVIDER.openSocketChannel() : PROVIDER.openSocketChannel(family);
        }
    }

    /// Opens the JDK's own listeners, as [Sockets] do channels.
    record Listeners(@Nullable ProtocolFamily family) implements Opener<ServerSocketChannel> {
        @Override
        public ServerSocketChannel open() throws IOException {
            return family == null ? PROVIDER.openServerSocketChannel() : PROVIDER.openServerSocketChannel(family);
        }
    }

    /// The methods that all channels of the JDK's have for its selectors.
    private static final class Native {
        static final Class<?> CHANNEL;
        static final MethodHandle KILL;
        static final MethodHandle DESCRIPTOR;
        static final MethodHandle POLL_EVENTS;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                CHANNEL = Class.forName("sun.nio.ch.SelChImpl");
                KILL = lookup.findVirtual(CHANNEL, "kill", MethodType.methodType(void.class));
                DESCRIPTOR = lookup.findVirtual(CHANNEL, "getFDVal", MethodType.methodType(int.class))
                        .asType(MethodType.methodType(int.class, SelectableChannel.class));
                POLL_EVENTS = lookup.findVirtual(
                                CHANNEL, "translateInterestOps", MethodType.methodType(int.class, int.class))
                        .asType(MethodType.methodType(int.class, SelectableChannel.class, int.class));
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }

    /// Returns whether the JDK's selectors take this channel, whatever provider it names.
    static boolean isNative(SelectableChannel channel) {
        return Native.CHANNEL.isInstance(channel);
    }

    /// The constructors of the JDK's channels, which take their provider. Null where there are none, or the package
    /// is not opened to this one: then such channels name the JDK's provider.
    private static final class Constructors {
        static final @Nullable MethodHandle DATAGRAM = find("DatagramChannelImpl", boolean.class);
        static final @Nullable MethodHandle DATAGRAM_OF =
                find("DatagramChannelImpl", ProtocolFamily.class, boolean.class);
        static final @Nullable MethodHandle PIPE = find("PipeImpl");
        static final @Nullable MethodHandle SOCKET_OF = find("SocketChannelImpl", ProtocolFamily.class);
        static final @Nullable MethodHandle LISTENER_OF = find("ServerSocketChannelImpl", ProtocolFamily.class);

        private static @Nullable MethodHandle find(String name, Class<?>... more) {
            try {
                Class<?> of = Class.forName("sun.nio.ch." + name);
                MethodType takes = MethodType.methodType(void.class, SelectorProvider.class)
                        .appendParameterTypes(more);
                return MethodHandles.privateLookupIn(of, MethodHandles.lookup()).findConstructor(of, takes);
            } catch (ReflectiveOperationException e) {
                return null;
            }
        }
    }

    /// Returns a channel of the JDK's that names `provider` as its own.
    static DatagramChannel datagramChannel(SelectorProvider provider) throws IOException {
        MethodHandle made = Constructors.DATAGRAM;
        return made == null
                ? PROVIDER.openDatagramChannel()
                : (DatagramChannel) make(made.bindTo(provider), IS_INTERRUPTIBLE);
    }

    static DatagramChannel datagramChannel(SelectorProvider provider, ProtocolFamily family) throws IOException {
        MethodHandle made = Constructors.DATAGRAM_OF;
        return made == null
                ? PROVIDER.openDatagramChannel(family)
                : (DatagramChannel) make(made.bindTo(provider), family, IS_INTERRUPTIBLE);
    }

    static Pipe pipe(SelectorProvider provider) throws IOException {
        MethodHandle made = Constructors.PIPE;
        return made == null ? PROVIDER.openPipe() : (Pipe) make(made.bindTo(provider));
    }

    static SocketChannel socketChannel(SelectorProvider provider, ProtocolFamily family) throws IOException {
        MethodHandle made = Constructors.SOCKET_OF;
        return made == null ? PROVIDER.openSocketChannel(family) : (SocketChannel) make(made.bindTo(provider), family);
    }

    static ServerSocketChannel serverSocketChannel(SelectorProvider provider, ProtocolFamily family)
            throws IOException {
        MethodHandle made = Constructors.LISTENER_OF;
        return made == null
                ? PROVIDER.openServerSocketChannel(family)
                : (ServerSocketChannel) make(made.bindTo(provider), family);
    }

    private static Object make(MethodHandle by, Object... arguments) throws IOException {
        try {
            return by.invokeWithArguments(arguments);
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException(e);
        }
    }

    /// Lets go of the descriptor of a channel that was closed while a selector of ours still had a key of it. Its
    /// own selector has asked the channel before that key was gone. Does nothing when the descriptor is closed
    /// already.
    static void release(SelectableChannel closed) {
        if (isNative(closed)) {
            try {
                Native.KILL.invoke(closed);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException("kill: " + closed, e); // an IOException of close(2)
            }
        }
    }

    /// Returns the descriptor of a channel of the JDK's.
    static int descriptor(SelectableChannel of) {
        try {
            return (int) Native.DESCRIPTOR.invokeExact(of);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("getFDVal: " + of, e);
        }
    }

    /// Returns the events of poll(2) for these operations of the channel.
    static int pollEvents(SelectableChannel of, int ops) {
        try {
            return (int) Native.POLL_EVENTS.invokeExact(of, ops);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("translateInterestOps: " + of, e);
        }
    }
}
