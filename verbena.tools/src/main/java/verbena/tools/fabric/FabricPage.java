package verbena.tools.fabric;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A fabric as a page that needs nothing else: its nodes in rows, adapters below, and all that [FabricText] says of
/// ports and routes.
final class FabricPage {
    private static final Pattern NODE = Pattern.compile("(\\S.*?)  (.+)");
    private static final Pattern PORT = Pattern.compile(
            " +(\\d+) -> (.+):(\\d+) +(INIT|ARMED|ACTIVE|DOWN) +(\\dx\\w+) +sent (\\d+) packets, received (\\d+), dropped (\\d+)");
    private static final int STEP = 120;
    private static final int ROW = 110;
    private static final int WIDTH_MIN = 720;

    /// @param counts packets sent, received and dropped
    private record Port(int number, String peer, int peerPort, String state, String speed, List<String> counts) {}

    private static final class Node {
        final String name;
        final String what;
        final List<Port> ports = new ArrayList<>();
        final List<String> routes = new ArrayList<>();
        /// The number of cables to the nearest adapter.
        int row = Integer.MAX_VALUE;

        double x;

        Node(String name, String what) {
            this.name = name;
            this.what = what;
        }

        boolean isSwitch() {
            return what.startsWith("switch");
        }
    }

    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private final StringBuilder html = new StringBuilder();
    private int rows;
    private double width = WIDTH_MIN;

    private FabricPage() {}

    /// @param description what [FabricText] says, with routes
    /// @param refreshSeconds how often a browser loads the page again; 0: never
    static String of(String description, int refreshSeconds) {
        var page = new FabricPage();
        page.read(description);
        page.place();
        page.write(refreshSeconds);
        return page.html.toString();
    }

    private void read(String description) {
        Node at = new Node("", "");
        for (String line : description.lines().toList()) {
            Matcher node = NODE.matcher(line);
            Matcher port = PORT.matcher(line);
            if (port.matches()) {
                at.ports.add(new Port(
                        Integer.parseInt(port.group(1)),
                        port.group(2),
                        Integer.parseInt(port.group(3)),
                        port.group(4),
                        port.group(5),
                        List.of(port.group(6), port.group(7), port.group(8))));
            } else if (node.matches()) {
                at = new Node(node.group(1), node.group(2));
                nodes.put(at.name, at);
            } else {
                at.routes.add(line.strip());
            }
        }
    }

    // ---- where nodes stand

    private void place() {
        List<Node> row =
                nodes.values().stream().filter(node -> !node.isSwitch()).toList();
        if (row.isEmpty()) {
            row = List.copyOf(nodes.values());
        }
        for (rows = 0; !row.isEmpty(); rows++) {
            place(row);
            row = above(row);
        }
        List<Node> rest = nodes.values().stream()
                .filter(node -> node.row == Integer.MAX_VALUE)
                .toList();
        if (!rest.isEmpty()) { // no cable leads from an adapter to these
            place(rest);
            rows++;
        }
    }

    private void place(List<Node> row) {
        width = Math.max(width, (double) row.size() * STEP);
        for (int i = 0; i < row.size(); i++) {
            row.get(i).row = rows;
            row.get(i).x = (i + 0.5) / row.size();
        }
    }

    /// Returns the nodes that cables of a row lead to, in the order in which fewest cables cross.
    private List<Node> above(List<Node> row) {
        var sums = new LinkedHashMap<Node, double[]>();
        for (Node node : row) {
            for (Port port : node.ports) {
                Node peer = nodes.get(port.peer);
                if (peer != null && peer.row == Integer.MAX_VALUE) {
                    double[] sum = sums.computeIfAbsent(peer, _ -> new double[2]);
                    sum[0] += node.x;
                    sum[1]++;
                }
            }
        }
        return sums.keySet().stream()
                .sorted(Comparator.comparingDouble(
                        node -> Objects.requireNonNull(sums.get(node))[0] / Objects.requireNonNull(sums.get(node))[1]))
                .toList();
    }

    private int x(Node node) {
        return (int) (node.x * width);
    }

    private int y(Node node) {
        return (rows - node.row) * ROW - ROW / 2;
    }

    // ---- the page

    private void write(int refreshSeconds) {
        html.append("""
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="generator" content="verbena fabric show">
                %s<title>fabric</title>
                <style>
                %s</style>
                </head>
                <body>
                <h1>Fabric</h1>
                <p>%d switches, %d adapters. A cable is drawn by the state of its port: hover to see its ends.</p>
                <div class="scroll">
                """.formatted(
                refreshSeconds == 0 ? "" : "<meta http-equiv=\"refresh\" content=\"%d\">%n".formatted(refreshSeconds),
                style(),
                nodes.values().stream().filter(Node::isSwitch).count(),
                nodes.values().stream().filter(node -> !node.isSwitch()).count()));
        draw();
        html.append("</div>\n");
        table();
        routes();
        html.append("</body>\n</html>\n");
    }

    private void draw() {
        html.append("<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"The topology\">%n"
                .formatted((int) width, rows * ROW, (int) width));
        for (Node node : nodes.values()) {
            for (Port port : node.ports) {
                Node peer = nodes.get(port.peer);
                boolean isDrawn =
                        peer != null && (node.name + ":" + port.number).compareTo(port.peer + ":" + port.peerPort) < 0;
                if (isDrawn && peer != null) {
                    html.append("""
                            <line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"><title>%s</title></line>
                            """.formatted(
                                    port.state.toLowerCase(java.util.Locale.ROOT),
                                    x(node) + spread(port.number),
                                    y(node),
                                    x(peer) + spread(port.peerPort),
                                    y(peer),
                                    text("%s:%d – %s:%d, %s, %s"
                                            .formatted(
                                                    node.name,
                                                    port.number,
                                                    port.peer,
                                                    port.peerPort,
                                                    port.state,
                                                    port.speed))));
                }
            }
        }
        for (Node node : nodes.values()) {
            html.append("""
                    <g class="%s" transform="translate(%d %d)"><rect x="-50" y="-22" width="100" height="44" rx="%d"/>
                    <text y="-3">%s</text><text class="faint" y="13">%s</text><title>%s</title></g>
                    """.formatted(
                            node.isSwitch() ? "switch" : "adapter",
                            x(node),
                            y(node),
                            node.isSwitch() ? 4 : 22,
                            text(node.name),
                            text(node.what.replaceAll(".*(lid \\d+).*", "$1")),
                            text(node.what)));
        }
        html.append("</svg>\n");
    }

    /// Returns the offset of a cable, so that parallel cables do not hide each other.
    private static int spread(int port) {
        return (port * 9) % 60 - 30;
    }

    private void table() {
        html.append("""
                <h2>Ports</h2>
                <div class="scroll"><table>
                <tr><th class="name">node<th>port<th class="name">to<th class="name">state<th class="name">speed<th>sent<th>received<th>dropped</tr>
                """);
        for (Node node : nodes.values()) {
            for (Port port : node.ports) {
                html.append(
                        "<tr><td class=\"name\">%s<td>%d<td class=\"name\">%s:%d<td class=\"name %s\">%s<td class=\"name\">%s"
                                .formatted(
                                        text(node.name),
                                        port.number,
                                        text(port.peer),
                                        port.peerPort,
                                        port.state.toLowerCase(java.util.Locale.ROOT),
                                        port.state,
                                        port.speed));
                port.counts.forEach(count -> html.append("<td>").append(count));
                html.append("</tr>\n");
            }
        }
        html.append("</table></div>\n");
    }

    private void routes() {
        html.append("<h2>Nodes and routes</h2>\n");
        for (Node node : nodes.values()) {
            html.append("<details><summary><b>%s</b> %s</summary><ul>%n".formatted(text(node.name), text(node.what)));
            node.routes.forEach(route -> html.append("<li>").append(text(route)).append("</li>\n"));
            html.append("</ul></details>\n");
        }
    }

    private static String text(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    private static String style() {
        try (InputStream in = Objects.requireNonNull(FabricPage.class.getResourceAsStream("fabric.css"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
