package verbena.subnet.topology;

import java.util.List;

/// The text of a topology: Verbena's own, or the output of other programs.
public final class TopologyText {
    /// Locally administered, so that no vendor has it.
    private static final long GUID_FIRST = 0x0200_0000_0000_1000L;

    private static final long GUID_STEP = 0x100;
    private static final int FIELDS_MAX = 3;
    private static final int FIELDS_OF_LINK = 4;

    private final TopologyBuilder builder = new TopologyBuilder();

    private TopologyText() {}

    /// Reads a topology: Verbena's text, or the output of ibnetdiscover.
    ///
    ///     switch s1 4       # a name, and how many ports
    ///     hca    h1         # one port
    ///     link   h1 s1:2    # a port without a number is the first one that is free
    ///     link   h2 s1 1xQDR    # 1x or 4x; SDR, DDR, QDR, FDR or EDR; 4xEDR if nothing is said
    ///
    /// @throws TopologyException when it is neither
    public static Topology parse(String text) {
        return text.lines().anyMatch(line -> line.startsWith("Switch\t") || line.startsWith("Ca\t"))
                ? new DiscoveredText().read(text)
                : new TopologyText().read(text);
    }

    private Topology read(String text) {
        List<String> lines = text.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).replaceFirst("#.*", "").strip();
            if (!line.isEmpty()) {
                read(i + 1, line.split("\\s+", -1));
            }
        }
        return builder.build();
    }

    private void read(int line, String[] words) {
        String what = words[0];
        if (words.length > (what.equals("link") ? FIELDS_OF_LINK : FIELDS_MAX)) {
            throw new TopologyException(line, "more words than " + what + " has");
        }
        switch (what) {
            case "switch" -> node(line, words, true, words.length == FIELDS_MAX ? number(line, words[2]) : 36);
            case "hca" -> node(line, words, false, 1);
            case "link" -> {
                if (words.length < FIELDS_MAX) {
                    throw new TopologyException(line, "link A[:PORT] B[:PORT] [SPEED] expected");
                }
                LinkSpeed speed = words.length == FIELDS_MAX ? LinkSpeed.FASTEST : speed(line, words[FIELDS_MAX]);
                builder.link(line, name(words[1]), port(line, words[1]), name(words[2]), port(line, words[2]), speed);
            }
            default -> throw new TopologyException(line, "switch, hca or link expected, got " + what);
        }
    }

    private void node(int line, String[] words, boolean isSwitch, int ports) {
        if (words.length < 2 || (!isSwitch && words.length > 2)) {
            throw new TopologyException(line, isSwitch ? "switch NAME [PORTS] expected" : "hca NAME expected");
        }
        if (!words[1].matches("[A-Za-z0-9._-]{1,64}")) {
            throw new TopologyException(line, "a name has letters, digits, '.', '_' and '-', got " + words[1]);
        }
        builder.add(line, new Topology.Node(words[1], isSwitch, GUID_FIRST + builder.size() * GUID_STEP, ports));
    }

    private static LinkSpeed speed(int line, String text) {
        return LinkSpeed.of(text)
                .orElseThrow(() -> new TopologyException(
                        line, "1x or 4x with SDR, DDR, QDR, FDR or EDR expected, as 4xEDR, got " + text));
    }

    private static String name(String end) {
        int colon = end.indexOf(':');
        return colon < 0 ? end : end.substring(0, colon);
    }

    private static int port(int line, String end) {
        int colon = end.indexOf(':');
        return colon < 0 ? 0 : number(line, end.substring(colon + 1));
    }

    private static int number(int line, String text) {
        if (!text.matches("[1-9][0-9]{0,2}")) {
            throw new TopologyException(line, "a number from 1 expected, got " + text);
        }
        return Integer.parseInt(text);
    }
}
