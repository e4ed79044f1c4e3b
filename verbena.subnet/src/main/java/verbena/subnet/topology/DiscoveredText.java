package verbena.subnet.topology;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The output of ibnetdiscover(8): a paragraph for each node, and a line in it for each cable, which is there from
/// both ends. Names are those in the comments where they are unique, else the node's identifier.
final class DiscoveredText {
    private static final Pattern NODE =
            Pattern.compile("(Switch|Ca)\\s+(\\d{1,3})\\s+\"([SH]-([0-9a-f]{16}))\"\\s*(?:#\\s*\"([^\"]*)\".*)?");
    private static final Pattern PORT = Pattern.compile(
            "\\[(\\d{1,3})\\](?:\\([0-9a-f]+\\))?\\s+\"([SH]-[0-9a-f]{16})\"\\[(\\d{1,3})\\](?:.*\\s(\\d{1,2}x[A-Z0-9]+))?.*");

    private record Cable(int line, String a, int portA, String b, int portB, LinkSpeed speed) {}

    private final TopologyBuilder builder = new TopologyBuilder();
    private final Map<String, String> names = new HashMap<>();
    private final List<Cable> cables = new ArrayList<>();
    private final Set<String> taken = new HashSet<>();
    private String current = "";

    Topology read(String text) {
        List<String> lines = text.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            read(i + 1, lines.get(i).strip());
        }
        Set<String> drawn = new HashSet<>();
        for (Cable cable : cables) {
            String a = name(cable.line(), cable.a());
            String b = name(cable.line(), cable.b());
            if (!drawn.contains(b + '/' + cable.portB() + '/' + a + '/' + cable.portA())) {
                drawn.add(a + '/' + cable.portA() + '/' + b + '/' + cable.portB());
                builder.link(cable.line(), a, cable.portA(), b, cable.portB(), cable.speed());
            }
        }
        return builder.build();
    }

    private void read(int line, String text) {
        Matcher node = NODE.matcher(text);
        Matcher port = PORT.matcher(text);
        if (node.matches()) {
            boolean isSwitch = node.group(1).equals("Switch");
            current = node.group(3);
            String said = node.group(5) == null ? "" : node.group(5).replaceAll("[^A-Za-z0-9._-]", "_");
            String name = said.isEmpty() || taken.contains(said) ? current : said;
            taken.add(name);
            names.put(current, name);
            int ports = Integer.parseInt(node.group(2));
            if (!isSwitch && ports != 1) {
                throw new TopologyException(line, name + " has " + ports + " ports; adapters here have one");
            }
            builder.add(line, new Topology.Node(name, isSwitch, Long.parseUnsignedLong(node.group(4), 16), ports));
        } else if (port.matches() && !current.isEmpty()) {
            // A speed that there is not here is that of the fastest link.
            String said = port.group(4) == null ? "" : port.group(4);
            cables.add(new Cable(
                    line,
                    current,
                    Integer.parseInt(port.group(1)),
                    port.group(2),
                    Integer.parseInt(port.group(3)),
                    LinkSpeed.of(said).orElse(LinkSpeed.FASTEST)));
        }
        // All other lines are about what has been discovered, not what there is: vendor, date, counts.
    }

    private String name(int line, String identifier) {
        String name = names.get(identifier);
        if (name == null) {
            throw new TopologyException(line, "there is no paragraph of " + identifier);
        }
        return name;
    }
}
