package verbena.nio;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/// The JDK's own provider, and its parts that have no public name. The packages have to be exported to this one:
/// [NioAgent] does that, or `--add-exports java.base/sun.nio.ch`.
final class Jdk {
    private static final SelectorProvider PROVIDER;
    private static final Class<?> NATIVE_CHANNEL;
    private static final MethodHandle KILL;
    private static final MethodHandle DESCRIPTOR;
    private static final MethodHandle POLL_EVENTS;
    private static final boolean IS_INTERRUPTIBLE = true;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            Class<?> source = Class.forName("sun.nio.ch.DefaultSelectorProvider");
            MethodHandle get = lookup.findStatic(source, "get", MethodType.methodType(selectorProviderOf(source)));
            PROVIDER = (SelectorProvider) get.invoke();
            NATIVE_CHANNEL = Class.forName("sun.nio.ch.SelChImpl");
            KILL = lookup.findVirtual(NATIVE_CHANNEL, "kill", MethodType.methodType(void.class));
            DESCRIPTOR = lookup.findVirtual(NATIVE_CHANNEL, "getFDVal", MethodType.methodType(int.class))
                    .asType(MethodType.methodType(int.class, SelectableChannel.class));
            POLL_EVENTS = lookup.findVirtual(
                            NATIVE_CHANNEL, "translateInterestOps", MethodType.methodType(int.class, int.class))
                    .asType(MethodType.methodType(int.class, SelectableChannel.class, int.class));
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

    /// Returns whether the JDK's selectors take this channel, whatever provider it names.
    static boolean isNative(SelectableChannel channel) {
        return NATIVE_CHANNEL.isInstance(channel);
    }

    /// The constructors of the JDK's channels, which take their provider. Null where there are none, or the package
    /// is not opened to this one: then such channels name the JDK's provider.
    private static final class Constructors {
        static final @Nullable MethodHandle DATAGRAM = find("DatagramChannelImpl", boolean.class);
        static final @Nullable MethodHandle DATAGRAM_OF =
                find("DatagramChannelImpl", ProtocolFamily.class, boolean.class);
        static final @Nullable MethodHandle PIPE = find("PipeImpl");

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
                KILL.invoke(closed);
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
            return (int) DESCRIPTOR.invokeExact(of);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("getFDVal: " + of, e);
        }
    }

    /// Returns the events of poll(2) for these operations of the channel.
    static int pollEvents(SelectableChannel of, int ops) {
        try {
            return (int) POLL_EVENTS.invokeExact(of, ops);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("translateInterestOps: " + of, e);
        }
    }
}
