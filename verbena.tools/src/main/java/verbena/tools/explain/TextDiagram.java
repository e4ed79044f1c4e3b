package verbena.tools.explain;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Help.Ansi;
import verbena.tools.explain.Event.Kind;

/// The recording as a sequence diagram for a terminal: a line for each event, then a sentence or two for each.
final class TextDiagram {
    /// The least number of columns that has room for four lanes.
    static final int COLUMNS_MIN = 72;

    /// The number of equal events in a row that are shown; of more, the first and the last.
    private static final int ALIKE_MAX = 8;

    private static final int ALIKE_SHOWN = 3;
    /// Number, time, and time since the line before.
    private static final int LANES_FROM = 26;

    private static final int BETWEEN_APPLICATION_AND_DEVICE = 5;

    /// The characters that lines are made of.
    private enum Pen {
        UNICODE('│', '─', '►', '◄', '●', '✗', '…'),
        ASCII('|', '-', '>', '<', '*', 'x', '~');

        final char lane;
        final char line;
        final char right;
        final char left;
        final char dot;
        final char lost;
        final char cut;

        Pen(char lane, char line, char right, char left, char dot, char lost, char cut) {
            this.lane = lane;
            this.line = line;
            this.right = right;
            this.left = left;
            this.dot = dot;
            this.lost = lost;
            this.cut = cut;
        }
    }

    private final PrintWriter out;
    private final Ansi ansi;
    private final int columns;
    private final Pen pen;
    private int[] lanes = {};
    private boolean isRow;

    /// @param columns how wide it may be, at least [#COLUMNS_MIN]
    /// @param ascii whether nothing but ASCII is to be printed
    TextDiagram(PrintWriter out, Ansi ansi, int columns, boolean ascii) {
        this.out = out;
        this.ansi = ansi;
        this.columns = Math.max(COLUMNS_MIN, columns);
        this.pen = ascii ? Pen.ASCII : Pen.UNICODE;
    }

    private static int[] lanes(int last, boolean isRow) {
        int second = LANES_FROM + BETWEEN_APPLICATION_AND_DEVICE;
        int third = isRow ? (second + last) / 2 : last - BETWEEN_APPLICATION_AND_DEVICE;
        return new int[] {LANES_FROM, second, third, last};
    }

    void print(Recording recording) {
        isRow = recording.cast().isRow();
        lanes = lanes(columns - 1, isRow);
        out.println(styled("bold", "explain " + recording.name() + ": " + recording.title()));
        out.println();
        recording.setting().forEach(line -> paragraph("", line, 0));
        out.println();
        out.println(styled("bold", heads(recording.cast())));
        List<List<Event>> groups = groups(recording.events());
        diagram(recording, groups);
        out.println();
        out.println(styled("bold", "What happened"));
        notes(groups);
        out.println();
        out.println(styled("bold", "Summary"));
        recording.closing().forEach(line -> paragraph("  ", line, 2));
        out.flush();
    }

    // ---- the diagram

    private String heads(Cast cast) {
        var line = blank();
        put(line, 0, " no       µs  since last");
        String third = cast.head(Place.DEVICE_B);
        String fourth = cast.head(Place.APPLICATION_B);
        put(line, lanes[0] - 1, cast.head(Place.APPLICATION_A));
        put(line, lanes[1] + 1, cast.head(Place.DEVICE_A));
        put(line, isRow ? lanes[2] - third.length() / 2 : lanes[2] - third.length(), third);
        put(line, lanes[3] + 1 - fourth.length(), fourth);
        return plain(line);
    }

    // What says the same in a row is one group.
    private static List<List<Event>> groups(List<Event> events) {
        var groups = new ArrayList<List<Event>>();
        Event before = null;
        for (Event event : events) {
            if (before == null || !isAlike(event, before)) {
                groups.add(new ArrayList<>());
            }
            groups.getLast().add(event);
            before = event;
        }
        return groups;
    }

    private static boolean isAlike(Event event, Event before) {
        return event.kind() == before.kind()
                && event.from() == before.from()
                && event.text().equals(before.text())
                && (event.isPacket() || event.label().equals(before.label()));
    }

    private void diagram(Recording recording, List<List<Event>> groups) {
        int number = 0;
        long first = recording.events().getFirst().nanos();
        long last = first;
        for (List<Event> group : groups) {
            for (int i = 0; i < group.size(); i++) {
                Event event = group.get(i);
                if (event.kind() == Kind.PHASE) {
                    phase(event);
                    continue;
                }
                number++;
                boolean hidden = group.size() > ALIKE_MAX && i >= ALIKE_SHOWN && i < group.size() - 1;
                if (!hidden) {
                    out.println(row(
                            event,
                            number,
                            Recording.brief(event.nanos() - first),
                            Recording.brief(event.nanos() - last)));
                } else if (i == ALIKE_SHOWN) {
                    char[] line = lanes();
                    put(line, lanes[1] + 2, pen.cut + " " + (group.size() - ALIKE_SHOWN - 1) + " more like these");
                    out.println(plain(line));
                }
                last = event.nanos();
            }
        }
    }

    private void phase(Event event) {
        char[] line = blank();
        for (int i = 0; i < columns; i++) {
            line[i] = pen.line;
        }
        put(line, 3, " " + event.label() + " ");
        out.println(styled("bold", plain(line)));
    }

    private String row(Event event, int number, String since, String delta) {
        char[] line = lanes();
        put(line, 0, String.format(Locale.ROOT, "%3d %10s %9s", number, since, "+" + delta));
        int from = lanes[event.from().ordinal()];
        int to = lanes[event.to().ordinal()];
        switch (event.kind()) {
            case CALL, TOLD -> {
                arrow(line, from, to);
                beside(line, event);
            }
            case STEP -> {
                line[from] = pen.dot;
                beside(line, event);
            }
            case PACKET -> {
                arrow(line, from, to);
                over(line, event, Math.min(from, to), Math.max(from, to));
            }
            case LOST -> {
                int middle = from + (to - from) * 4 / 5;
                arrow(line, from, middle);
                line[middle] = pen.lost;
                over(line, event, Math.min(from, middle), Math.max(from, middle));
            }
            case PHASE -> throw new AssertionError("has no row");
        }
        return coloured(event, plain(line));
    }

    private void arrow(char[] line, int from, int to) {
        int step = Integer.signum(to - from);
        for (int x = from + step; x != to; x += step) {
            line[x] = pen.line;
        }
        line[to - step] = step > 0 ? pen.right : pen.left;
    }

    // The label in the arrow, a little away from where it begins.
    private void over(char[] line, Event event, int left, int right) {
        int room = right - left - 8;
        String label = " " + cut(event.label(), room - 2) + " ";
        boolean isToTheRight = event.from().ordinal() < event.to().ordinal();
        put(line, isToTheRight ? left + 4 : right - 3 - label.length(), label);
    }

    // The label in the space between the devices, on its side; in a row, in the space to the left of its place.
    private void beside(char[] line, Event event) {
        int left = isRow && event.isBeyond() ? 2 : 1;
        int right = left == 1 ? 2 : 3;
        String label = cut(event.label(), lanes[right] - lanes[left] - 4);
        put(line, event.from().isLeft() ? lanes[left] + 2 : lanes[right] - 1 - label.length(), label);
    }

    private String cut(String label, int room) {
        return label.length() <= room ? label : label.substring(0, room - 1) + pen.cut;
    }

    private char[] blank() {
        var line = new char[columns];
        Arrays.fill(line, ' ');
        return line;
    }

    private char[] lanes() {
        char[] line = blank();
        for (int lane : lanes) {
            line[lane] = pen.lane;
        }
        return line;
    }

    private void put(char[] line, int at, String text) {
        for (int i = 0; i < text.length() && at + i < columns; i++) {
            line[at + i] = text.charAt(i);
        }
    }

    private static String plain(char[] line) {
        return new String(line).stripTrailing();
    }

    // ---- the notes

    private void notes(List<List<Event>> groups) {
        int number = 0;
        for (List<Event> group : groups) {
            Event first = group.getFirst();
            if (first.kind() == Kind.PHASE) {
                out.println();
                paragraph("", first.label() + ". " + first.text(), 0);
                continue;
            }
            int from = number + 1;
            number += group.size();
            String numbers = from == number ? "%3d ".formatted(from) : "%3d-%d ".formatted(from, number);
            String duration = group.size() == 1 && !first.duration().isEmpty() ? " (" + first.duration() + ")" : "";
            paragraph(numbers, first.label() + duration + (first.text().isEmpty() ? "" : ". " + first.text()), 4);
        }
    }

    private void paragraph(String begin, String text, int indent) {
        var line = new StringBuilder(begin);
        for (String word : text(text).split(" ", -1)) {
            if (line.length() + word.length() >= columns && line.length() > indent) {
                out.println(line.toString().stripTrailing());
                line.setLength(0);
                line.repeat(' ', indent);
            }
            line.append(word).append(' ');
        }
        out.println(line.toString().stripTrailing());
    }

    // ---- looks

    private String text(String text) {
        return pen == Pen.ASCII ? text.replace("µ", "u") : text;
    }

    private String styled(String style, String text) {
        return ansi.enabled()
                ? Ansi.Style.on(Ansi.Style.parse(style)) + text(text) + Ansi.Style.off(Ansi.Style.parse(style))
                : text(text);
    }

    private String coloured(Event event, String line) {
        boolean bad = event.kind() == Kind.LOST
                || event.label().contains("NAK")
                || event.label().contains("refused")
                || event.label().contains("_ERR");
        return switch (event.kind()) {
            case PACKET, LOST -> styled(bad ? "red" : "cyan", line);
            case STEP, TOLD -> bad ? styled("red", line) : text(line);
            case CALL, PHASE -> text(line);
        };
    }
}
