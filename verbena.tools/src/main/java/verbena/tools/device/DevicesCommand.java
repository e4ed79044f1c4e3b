package verbena.tools.device;

import java.io.PrintWriter;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import verbena.nic.roce.RoceV2Provider;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Device;
import verbena.verbs.GidEntry;
import verbena.verbs.internal.Providers;
import verbena.verbs.spi.Provider;

/// `verbena devices`: the table of `ibv_devices`, with two more columns.
@Command(
        name = "devices",
        header = "List the RDMA devices of this host.",
        description = {
            "",
            "Shows what ibv_devices shows, and the kind and the addresses of each device. A device need not be"
                    + " in the list: any KIND@ADDRESS of this host works, for example rocev2@127.0.0.9."
        })
public final class DevicesCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        line(out, "device", "   node GUID", "kind", "addresses");
        line(out, "------", "----------------", "----", "---------");
        boolean any = false;
        for (Provider provider : Providers.all()) {
            for (Device device : provider.devices()) {
                line(out, device.name(), "%016x".formatted(device.nodeGuid()), provider.kind(), addresses(device));
                any = true;
            }
        }
        try {
            RoceV2Provider.policy()
                    .ifPresent(policy -> out.println("    rocev2 encrypts, by VERBENA_PSP or verbena.psp: " + policy
                            + "; " + RoceV2Provider.pspPort()));
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(String.valueOf(e.getMessage()), e);
        }
        out.flush();
        if (!any) {
            throw new CommandFailed("no device found");
        }
    }

    private static void line(PrintWriter out, String name, String guid, String kind, String addresses) {
        // The first two columns are those of ibv_devices, to the character.
        out.println("    %-16s\t%-16s\t%-10s\t%s".formatted(name, guid, kind, addresses));
    }

    private static String addresses(Device device) {
        return device.gids().isEmpty()
                ? "(one of its own when opened)"
                : device.gids().stream()
                        .map(GidEntry::gid)
                        .distinct()
                        .map(Object::toString)
                        .collect(Collectors.joining(" "));
    }
}
