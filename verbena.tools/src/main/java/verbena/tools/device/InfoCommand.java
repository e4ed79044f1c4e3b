package verbena.tools.device;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;

/// `verbena info`: what `ibv_devinfo` shows, in its layout.
@Command(
        name = "info",
        header = "Show the attributes of devices and their ports.",
        description = {
            "",
            "Shows what ibv_devinfo shows, in the same layout, of one device or of all. The command opens the device,"
                    + " so its addresses must not be in use by another process."
        })
public final class InfoCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", arity = "0..1", paramLabel = "DEVICE", description = "Device; default: all devices.")
    private @Nullable String positionalDevice;

    @Option(
            names = {"-d", "--ib-dev"},
            paramLabel = "DEVICE",
            description = "The same, as ibv_devinfo takes it.")
    private @Nullable String optionDevice;

    @Option(
            names = {"-i", "--ib-port"},
            paramLabel = "PORT",
            description = "Only this port; default: all ports.")
    private @Nullable Integer port;

    @Option(
            names = {"-v", "--verbose"},
            description = "All attributes, the GID table and the P_Keys.")
    private boolean verbose;

    @Option(
            names = {"-l", "--list"},
            description = "Only the names of the devices.")
    private boolean list;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        if (port != null && port < 1) {
            throw new ParameterException(spec.commandLine(), "--ib-port: ports count from 1, got " + port);
        }
        if (list) {
            list(out);
            return;
        }
        List<Device> devices = devices();
        if (devices.isEmpty()) {
            throw new CommandFailed("no device found");
        }
        var failures = new ArrayList<DeviceException>();
        for (Device device : devices) {
            try (Context context = device.open()) {
                DeviceReport.print(out, context, Optional.ofNullable(port), verbose);
            } catch (DeviceException e) {
                failures.add(e);
                if (devices.size() > 1) {
                    spec.commandLine().getErr().println("verbena info: " + e.getMessage());
                }
            }
        }
        out.flush();
        if (failures.size() == 1 && devices.size() == 1) {
            throw failures.getFirst();
        }
        if (!failures.isEmpty()) {
            throw new CommandFailed(failures.size() + " of " + devices.size() + " devices could not be opened");
        }
    }

    private List<Device> devices() {
        if (positionalDevice != null && optionDevice != null && !positionalDevice.equals(optionDevice)) {
            throw new ParameterException(
                    spec.commandLine(), "two devices given: " + positionalDevice + ", " + optionDevice);
        }
        String name = positionalDevice != null ? positionalDevice : optionDevice;
        return name == null ? Device.list() : List.of(Device.named(name));
    }

    private static void list(PrintWriter out) {
        List<Device> devices = Device.list();
        out.println(devices.size() + " HCA" + (devices.size() == 1 ? "" : "s") + " found:");
        devices.forEach(device -> out.println("\t" + device.name()));
        out.println();
        out.flush();
    }
}
