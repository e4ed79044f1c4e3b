package verbena.verbs.counting;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/// The MBeans of this process. The first are registered some seconds after the first device was opened, on a thread
/// that then ends. Creating the platform's MBean server loads 300 classes, a few tenths of a second of a processor.
/// A short program should not pay for that, and no program at its start, beside its first connections
/// ([decision 40](../../../../../../../docs/decisions/40-seeing.md)).
public final class LateBeans {
    private static final long DELAY_NANOS = 5_000_000_000L;

    /// The beans that are shown, by their names. Guarded by itself, like all fields here.
    private static final Map<String, Supplier<? extends DynamicMBean>> SHOWN = new LinkedHashMap<>();

    private static @Nullable MBeanServer server;
    private static boolean isComing;

    private LateBeans() {}

    /// Shows a bean from the moment on when this process has beans.
    ///
    /// @param name an [ObjectName]
    public static void show(String name, Supplier<? extends DynamicMBean> bean) {
        synchronized (SHOWN) {
            SHOWN.put(name, bean);
            if (server != null) {
                register(server, name, bean);
            }
        }
    }

    /// Ends the showing of a bean. Does nothing when it is not shown.
    public static void hide(String name) {
        synchronized (SHOWN) {
            if (SHOWN.remove(name) != null && server != null) {
                try {
                    server.unregisterMBean(new ObjectName(name));
                } catch (JMException e) {
                    log(name, e); // the program has removed it itself
                }
            }
        }
    }

    /// Registers the beans in a few seconds, and from then on each new one at once.
    public static void beginSoon() {
        synchronized (SHOWN) {
            if (server != null || isComing) {
                return;
            }
            isComing = true;
        }
        Thread.ofPlatform().daemon().name("verbena-management").start(() -> {
            LockSupport.parkNanos(DELAY_NANOS);
            try {
                begin();
            } catch (Error e) {
                // no memory or descriptor is left for it: all works, but is not visible by JMX
            }
        });
    }

    /// Registers the beans now, and from then on each new one at once.
    public static void begin() {
        MBeanServer made = ManagementFactory.getPlatformMBeanServer();
        synchronized (SHOWN) {
            if (server == null) {
                server = made;
                SHOWN.forEach((name, bean) -> register(made, name, bean));
            }
        }
    }

    private static void register(MBeanServer with, String name, Supplier<? extends DynamicMBean> bean) {
        try {
            with.registerMBean(bean.get(), new ObjectName(name));
        } catch (JMException e) {
            log(name, e); // all works, but is not visible by JMX
        }
    }

    private static void log(String name, JMException why) {
        System.getLogger("verbena").log(System.Logger.Level.WARNING, "{0} cannot be seen by JMX: {1}", name, why);
    }
}
