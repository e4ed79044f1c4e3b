package verbena.tools.observe;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.rmi.ConnectException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import verbena.nic.management.DeviceMXBean;
import verbena.tools.kit.Legible;

/// A process that is looked into: attached to as `jcmd` does, which starts the JDK's own local connector in it.
public final class Observed implements AutoCloseable {
    /// The MXBeans come five seconds after the first device.
    private static final long DEVICES_NANOS = 8_000_000_000L;

    private static final long LOOK_NANOS = 100_000_000;
    private static final int PROGRAM_CHARS = 60;

    private final long pid;
    private final String program;
    private final JMXConnector connector;
    private final MBeanServerConnection server;

    private Observed(long pid, String program, JMXConnector connector) throws IOException {
        this.pid = pid;
        this.program = program;
        this.connector = connector;
        this.server = connector.getMBeanServerConnection();
    }

    /// Attaches to a process.
    ///
    /// @throws IOException when it has ended, is no JVM, belongs to another user, or does not answer
    @SuppressWarnings("BanJNDI") // the address is that of the JDK's connector, which the process itself has told
    public static Observed attach(long pid) throws IOException {
        VirtualMachine machine;
        try {
            machine = VirtualMachine.attach(Long.toString(pid));
        } catch (AttachNotSupportedException e) {
            throw new IOException(e.getMessage(), e);
        }
        try {
            String address = machine.startLocalManagementAgent();
            String command = machine.getSystemProperties().getProperty("sun.java.command", "");
            return new Observed(pid, program(command), JMXConnectorFactory.connect(new JMXServiceURL(address)));
        } catch (IOException e) {
            if (e instanceof ConnectException && isElsewhere(pid)) {
                throw new IOException(
                        "it is in another network namespace; look from there: nsenter --net --target " + pid, e);
            }
            throw e;
        } finally {
            machine.detach();
        }
    }

    /// Returns whether a process is in another network. The connector of a process listens at a port of loopback,
    /// so it cannot be reached there.
    private static boolean isElsewhere(long pid) throws IOException {
        Path own = Path.of("/proc/self/ns/net");
        return Files.exists(own)
                && !Files.readSymbolicLink(own).equals(Files.readSymbolicLink(Path.of("/proc/" + pid + "/ns/net")));
    }

    /// Returns a command without the packages of its main class, or the folder of its jar. A program that made its
    /// virtual machine by itself may have its words as the kernel has them, with zero bytes between.
    static String program(String command) {
        String[] parts = Legible.text(command.replace('\0', ' ').getBytes(StandardCharsets.UTF_8))
                .strip()
                .split(" ", 2);
        String file = parts[0].substring(parts[0].lastIndexOf('/') + 1);
        String main = file.endsWith(".jar") ? file : file.substring(file.lastIndexOf('.') + 1);
        String all = parts.length == 1 ? main : main + " " + parts[1];
        return all.length() <= PROGRAM_CHARS ? all : all.substring(0, PROGRAM_CHARS - 3) + "...";
    }

    public long pid() {
        return pid;
    }

    /// Returns main class and arguments, cut short.
    public String program() {
        return program;
    }

    /// A device of the process.
    public record ObservedDevice(int id, DeviceMXBean bean) {}

    /// Returns its devices, in the order in which they were opened.
    ///
    /// @throws IOException when the process has ended
    public List<ObservedDevice> devices() throws IOException {
        Set<ObjectName> names;
        try {
            names = server.queryNames(new ObjectName(DeviceMXBean.DOMAIN + ":type=Device,*"), null);
        } catch (MalformedObjectNameException e) {
            throw new AssertionError("this name is well formed", e);
        }
        var devices = new ArrayList<ObservedDevice>();
        for (ObjectName name : names) {
            devices.add(new ObservedDevice(
                    Integer.parseInt(name.getKeyProperty("id")), JMX.newMXBeanProxy(server, name, DeviceMXBean.class)));
        }
        devices.sort(Comparator.comparingInt(ObservedDevice::id));
        return devices;
    }

    /// Returns its devices. When there is none, the method waits for the first as long as a process that has just
    /// started needs.
    public List<ObservedDevice> awaitDevices() throws IOException, InterruptedException {
        long until = System.nanoTime() + DEVICES_NANOS;
        List<ObservedDevice> devices = devices();
        while (devices.isEmpty() && System.nanoTime() < until) {
            LockSupport.parkNanos(LOOK_NANOS);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            devices = devices();
        }
        return devices;
    }

    @Override
    public void close() {
        try {
            connector.close();
        } catch (IOException _) {
            // it has ended
        }
    }
}
