package verbena.tools.explain;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import verbena.tools.explain.Event.Kind;
import verbena.tools.explain.Event.Part;

/// The recording as a page that needs nothing else: a sequence diagram to scroll, and all facts about each
/// event, such as the fields and bytes of a packet.
final class HtmlPage {
    /// The number of bytes of a packet that are shown at most.
    private static final int BYTES_MAX = 160;

    private static final int BYTES_IN_LINE = 16;

    private final Recording recording;
    private final StringBuilder html = new StringBuilder();

    private HtmlPage(Recording recording) {
        this.recording = recording;
    }

    static String of(Recording recording) {
        var page = new HtmlPage(recording);
        page.write();
        return page.html.toString();
    }

    private void write() {
        html.append("""
                <!doctype html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="generator" content="verbena explain">
                <title>explain %s</title>
                <style>
                %s</style>
                <noscript><style>.why { display: block; } aside { display: none; } main { display: block; }</style></noscript>
                </head>
                <body%s>
                <header>
                <h1><code>explain %s</code></h1>
                <p>%s</p>
                """.formatted(
                        text(recording.name()),
                        resource("page.css"),
                        recording.cast().isRow() ? " class=\"row\"" : "",
                        text(recording.name()),
                        text(recording.title())));
        recording
                .setting()
                .forEach(line -> html.append("<p>").append(text(line)).append("</p>\n"));
        html.append("""
                <p><label><input type="checkbox" id="tell"> Say in the diagram what each event means.</label>
                Choose an event, or walk with the arrow keys, to see what is in it.</p>
                </header>
                <main>
                <ol>
                <li class="heads" aria-hidden="true"><div class="time">µs</div><div class="scene">%s%s%s%s</div></li>
                """.formatted(
                head(Place.APPLICATION_A), head(Place.DEVICE_A), head(Place.DEVICE_B), head(Place.APPLICATION_B)));
        long last = recording.events().getFirst().nanos();
        for (Event event : recording.events()) {
            if (event.kind() == Kind.PHASE) {
                html.append("<li class=\"phase\"><h2>%s</h2><p>%s</p></li>%n"
                        .formatted(text(event.label()), text(event.text())));
            } else {
                row(event, event.nanos() - last);
                last = event.nanos();
            }
        }
        html.append("</ol>\n<aside aria-live=\"polite\" aria-label=\"The chosen event\"></aside>\n</main>\n");
        html.append("<section class=\"closing\"><h2>Summary</h2><ul>\n");
        recording
                .closing()
                .forEach(line -> html.append("<li>").append(text(line)).append("</li>\n"));
        html.append("</ul></section>\n<script>\n").append(resource("page.js")).append("</script>\n</body>\n</html>\n");
    }

    private String head(Place place) {
        return "<span style=\"left: var(%s)\">%s</span>"
                .formatted(lane(place), recording.cast().head(place));
    }

    // ---- an event

    private void row(Event event, long sinceLast) {
        html.append("<li class=\"event %s\" tabindex=\"0\">".formatted(classes(event)));
        html.append("<div class=\"time\"><b>%s</b>+%s</div>"
                .formatted(recording.since(event), Recording.micros(sinceLast)));
        html.append("<div class=\"scene\">");
        html.append(
                event.kind() == Kind.STEP
                        ? "<div class=\"dot\" style=\"left: var(%s)\"></div>".formatted(lane(event.from()))
                        : "<div class=\"arrow\"></div>");
        html.append("<div class=\"label\">%s</div></div>".formatted(text(event.label())));
        html.append("<p class=\"why\">%s</p>".formatted(text(event.text())));
        detail(event);
        html.append("</li>\n");
    }

    private static String classes(Event event) {
        String side = event.from().isLeft() ? " at-a" : " at-b";
        String way = event.from().ordinal() < event.to().ordinal() ? " right" : " left";
        String label = event.label();
        boolean bad = label.contains("NAK")
                || label.contains("refused")
                || label.contains("_ERR")
                || label.contains("TERMINATE")
                || label.contains("missing")
                || label.startsWith("dropped");
        return switch (event.kind()) {
                    case PACKET -> "packet across" + way + side + (event.isBeyond() ? " beyond" : "");
                    case LOST -> "packet lost across" + way + side;
                    case CALL -> "call" + way + side + (event.from().isLeft() ? " near-a" : " near-b");
                    case TOLD -> "told" + way + side + (event.from().isLeft() ? " near-a" : " near-b");
                    case STEP ->
                        "step" + side + (event.isBeyond() ? " beyond" : "")
                                + (label.contains("placed at") || label.contains("becomes") ? " memory" : "");
                    case PHASE -> throw new AssertionError("is no row");
                }
                + (bad ? " bad" : "");
    }

    private static String lane(Place place) {
        return switch (place) {
            case APPLICATION_A -> "--a-app";
            case DEVICE_A -> "--a-dev";
            case DEVICE_B -> "--b-dev";
            case APPLICATION_B -> "--b-app";
        };
    }

    // ---- what is in it

    private void detail(Event event) {
        html.append("<template class=\"detail\"><h3>")
                .append(text(event.label()))
                .append("</h3>");
        html.append("<p class=\"when\">%s, at %s µs%s</p>"
                .formatted(
                        event.from() == event.to()
                                ? title(event.from())
                                : title(event.from()) + " → " + title(event.to()),
                        recording.since(event),
                        event.duration().isEmpty() ? "" : ", " + text(event.duration())));
        html.append("<p>").append(text(event.text())).append("</p>");
        Event.Contents packet = event.packet();
        if (packet != null) {
            html.append("<p class=\"when\">").append(text(packet.way())).append("</p>");
            fields(packet.parts());
            bytes(packet);
        }
        html.append("</template>");
    }

    private String title(Place place) {
        return recording.cast().title(place);
    }

    private void fields(List<Part> parts) {
        html.append("<table>");
        String header = "";
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            if (!part.header().equals(header)) {
                header = part.header();
                html.append("<tr><th colspan=\"2\">").append(text(header)).append("</th></tr>");
            }
            html.append("<tr data-f=\"%d\"><td>%s</td><td>%s%s</td></tr>"
                    .formatted(
                            i,
                            text(part.name()),
                            text(part.value()),
                            part.meaning().isEmpty() ? "" : "<small>" + text(part.meaning()) + "</small>"));
        }
        html.append("</table>");
    }

    private void bytes(Event.Contents packet) {
        byte[] bytes = packet.bytes();
        html.append("<pre aria-label=\"The bytes of the packet\">");
        int shown = Math.min(bytes.length, BYTES_MAX);
        for (int i = 0; i < shown; i++) {
            if (i > 0) {
                html.append(i % BYTES_IN_LINE == 0 ? '\n' : ' ');
            }
            html.append("<span data-f=\"%d\">%02x</span>".formatted(fieldAt(packet.parts(), i), bytes[i]));
        }
        html.append(bytes.length > shown ? "\n... %d more".formatted(bytes.length - shown) : "")
                .append("</pre>");
    }

    private static int fieldAt(List<Part> parts, int at) {
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            if (at >= part.from() && at < part.from() + part.count()) {
                return i;
            }
        }
        return -1;
    }

    // ---- text

    private static String text(String plain) {
        return plain.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    private static String resource(String name) {
        try (InputStream in = Objects.requireNonNull(HtmlPage.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
