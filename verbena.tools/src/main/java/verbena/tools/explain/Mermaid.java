package verbena.tools.explain;

/// The recording as a sequence diagram for Mermaid (mermaid.js.org/syntax/sequenceDiagram.html).
final class Mermaid {
    private Mermaid() {}

    static String of(Recording recording) {
        var text = new StringBuilder("sequenceDiagram\n");
        for (Place place : Place.values()) {
            text.append("    participant ")
                    .append(place.id())
                    .append(" as ")
                    .append(recording.cast().title(place))
                    .append('\n');
        }
        for (Event event : recording.events()) {
            text.append("    ").append(line(recording, event)).append('\n');
        }
        return text.toString();
    }

    private static String line(Recording recording, Event event) {
        String label = escaped(recording.since(event) + " µs " + event.label());
        String from = event.from().id();
        String to = event.to().id();
        return switch (event.kind()) {
            case PHASE -> "Note over appA,appB: " + escaped(event.label());
            case CALL -> from + "->>" + to + ": " + label;
            case TOLD -> from + "-->>" + to + ": " + label;
            case PACKET -> from + "->>" + to + ": " + label;
            case LOST -> from + "-x" + to + ": " + label + " (lost)";
            case STEP -> "Note over " + from + ": " + label;
        };
    }

    // A semicolon ends a statement, a hash begins an entity.
    private static String escaped(String text) {
        return text.replace("#", "#35;")
                .replaceAll(";(?<!#35;)", "#59;")
                .replace("<", "#lt;")
                .replace(">", "#gt;");
    }
}
