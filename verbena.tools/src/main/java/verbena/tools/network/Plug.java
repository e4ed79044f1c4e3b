package verbena.tools.network;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.tools.kit.ToolCommand;

/// A bridge of another network namespace that stands for a host.
record Plug(String host, String namespace, String bridge) {
    private static final Pattern TEXT = Pattern.compile("([^=]+)=([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9_.-]{1,15})");

    static Plug of(String text, EthernetNetwork network, ToolCommand command) {
        Matcher found = TEXT.matcher(text);
        if (!found.matches()) {
            throw command.wrong("--plug: HOST=NAMESPACE:BRIDGE, got " + text);
        }
        if (network.hosts().stream().noneMatch(host -> host.name().equals(found.group(1)))) {
            throw command.wrong("--plug: there is no host " + found.group(1));
        }
        return new Plug(found.group(1), found.group(2), found.group(3));
    }
}
