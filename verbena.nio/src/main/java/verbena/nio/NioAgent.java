package verbena.nio;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.stream.waiting.ProcessEnd;

/// A Java agent that gives an unchanged program sockets over RDMA: `-javaagent:verbena-nio.jar`, or the same in
/// `JAVA_TOOL_OPTIONS`. The jar is then on the program's class path too, where the JDK finds [RdmaSelectorProvider].
/// The JVM calls it, once, before the program begins.
///
/// The agent sets `java.nio.channels.spi.SelectorProvider`. It also sets `io.netty.transport.noNative`, so that Netty
/// uses it, and does so for a Netty in packages with a prefix. A property that is set already stays as it is.
///
/// With `-Dverbena.nio.summary=FILE` the process adds a line with its counters to that file when it ends. With
/// `-Dverbena.nio.summary=stderr` it prints the line to `System.err`. A logger could lose the line, because loggers
/// end at the same time as shutdown hooks.
///
/// @since 0.1
public final class NioAgent {
    private static final System.Logger LOG = System.getLogger("verbena.nio");

    /// The last place of `java.lang.Shutdown`.
    private static final int LAST_PLACE = 9;

    private NioAgent() {}

    /// Called by the JVM before the program begins. An exception ends the JVM.
    ///
    /// @throws IllegalArgumentException when a property with address rules is malformed
    /// @throws verbena.verbs.DeviceException when `verbena.nio.device` names no device
    public static void premain(@Nullable String arguments, Instrumentation jvm) {
        open(jvm);
        runBehindHooks();
        setUnlessSet("java.nio.channels.spi.SelectorProvider", RdmaSelectorProvider.class.getName());
        setUnlessSet(RelocatedNetty.NO_NATIVE, "true");
        jvm.addTransformer(new RelocatedNetty());
        Routes.check();
        var _ = Pace.chosen();
        ChosenDevice.check();
        String summary = System.getProperty("verbena.nio.summary");
        if (summary != null) {
            addSummary(summary);
        }
    }

    static void setUnlessSet(String name, String value) {
        if (System.getProperty(name) == null) {
            System.setProperty(name, value);
        }
    }

    /// Exports the packages that [Jdk] needs, and allows this module native access, which the devices need.
    private static void open(Instrumentation jvm) {
        Module base = Object.class.getModule();
        Module own = NioAgent.class.getModule();
        Map<String, Set<Module>> exports = Map.of("sun.nio.ch", Set.of(own));
        Map<String, Set<Module>> opens = Map.of("java.lang", Set.of(own), "sun.nio.ch", Set.of(own));
        jvm.redefineModule(base, Set.of(), exports, opens, Set.of(), Map.of());
        try {
            Method allow = Module.class.getDeclaredMethod(
                    own.isNamed() ? "implAddEnableNativeAccess" : "implAddEnableNativeAccessToAllUnnamed");
            allow.setAccessible(true);
            Object _ = allow.invoke(own.isNamed() ? own : null);
        } catch (ReflectiveOperationException e) {
            LOG.log(System.Logger.Level.DEBUG, "native access by --enable-native-access only", e);
        }
    }

    /// Makes the end of streams run behind the program's shutdown hooks, which may write still. `Shutdown` runs its
    /// slots in turn: the hooks of programs have the second. Without this a peer finds open connections reset.
    private static void runBehindHooks() {
        try {
            Method add = Class.forName("java.lang.Shutdown")
                    .getDeclaredMethod("add", int.class, boolean.class, Runnable.class);
            add.setAccessible(true);
            Object _ = add.invoke(null, LAST_PLACE, false, new AtEnd());
            ProcessEnd.expect();
        } catch (ReflectiveOperationException | RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "connections that are open at the end of the process are reset", e);
        }
    }

    /// No lambda: that would cost the start of each program some milliseconds.
    private static final class AtEnd implements Runnable {
        @Override
        public void run() {
            ProcessEnd.run();
        }
    }

    /// Adds the line when the process ends. A process that ends already, because of another agent or a signal, has
    /// none: an exception of this agent would make that a crash of the JVM.
    private static void addSummary(String target) {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> summarize(target), "verbena-nio-summary"));
        } catch (IllegalStateException e) {
            LOG.log(System.Logger.Level.DEBUG, "verbena.nio.summary: the process ends already", e);
        }
    }

    private static void summarize(String target) {
        String line = "verbena.nio " + NioCounters.summary();
        if (target.equals("stderr")) {
            System.err.println(line);
            return;
        }
        try {
            Path _ = Files.write(
                    Path.of(target),
                    List.of(line),
                    StandardCharsets.UTF_8,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "verbena.nio.summary: " + target, e);
        }
    }
}
