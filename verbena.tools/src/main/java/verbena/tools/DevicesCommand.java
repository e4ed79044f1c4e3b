package verbena.tools;

import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import verbena.verbs.Device;
import verbena.verbs.GidEntry;

/// `verbena devices`: the table of `ibv_devices`, with two more columns.
@Command(
        name = "devices",
        header = "List the RDMA devices of this host.",
        description = {
            "",
            "Shows what ibv_devices shows, and what each device speaks and its addresses. Any other name of the form"
                    + " KIND@ADDRESS works too, for example rocev2@127.0.0.9."
        })
final class DevicesCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        List<Device> devices = Device.list();
        line(out, "device", "   node GUID", "kind", "addresses");
        line(out, "------", "----------------", "----", "---------");
        for (Device device : devices) {
            line(out, device.name(), "%016x".formatted(device.nodeGuid()), kind(device), addresses(device));
        }
        out.flush();
        if (devices.isEmpty()) {
            throw new CommandFailed("no device found");
        }
    }

    private static void line(PrintWriter out, String name, String guid, String kind, String addresses) {
        // The first two columns are those of ibv_devices, to the character.
        out.println("    %-16s\t%-16s\t%-10s\t%s".formatted(name, guid, kind, addresses));
    }

    private static String kind(Device device) {
        return device.gids().isEmpty()
                ? device.transportType().toString()
                : device.gids().stream()
                        .map(entry -> entry.type().toString())
                        .distinct()
                        .collect(Collectors.joining(", "));
    }

    private static String addresses(Device device) {
        return device.gids().isEmpty()
                ? "(known when opened)"
                : device.gids().stream()
                        .map(GidEntry::gid)
                        .distinct()
                        .map(Addresses::plain)
                        .collect(Collectors.joining(" "));
    }
}
