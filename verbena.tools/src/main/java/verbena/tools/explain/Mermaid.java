package verbena.tools.explain;

/// The story as a sequence diagram for Mermaid (mermaid.js.org/syntax/sequenceDiagram.html).
final class Mermaid {
    private Mermaid() {}

    static String of(Story story) {
        var text = new StringBuilder("sequenceDiagram\n");
        for (Place place : Place.values()) {
            text.append("    participant ")
                    .append(name(place))
                    .append(" as ")
                    .append(place.title())
                    .append('\n');
        }
        for (Event event : story.events()) {
            text.append("    ").append(line(story, event)).append('\n');
        }
        return text.toString();
    }

    private static String line(Story story, Event event) {
        String label = escaped(story.since(event) + " µs " + event.label());
        String from = name(event.from());
        String to = name(event.to());
        return switch (event.kind()) {
            case PHASE -> "Note over appA,appB: " + escaped(event.label());
            case CALL -> from + "->>" + to + ": " + label;
            case TOLD -> from + "-->>" + to + ": " + label;
            case PACKET -> from + "->>" + to + ": " + label;
            case LOST -> from + "-x" + to + ": " + label + " (lost)";
            case STEP -> "Note over " + from + ": " + label;
        };
    }

    private static String name(Place place) {
        return switch (place) {
            case APPLICATION_A -> "appA";
            case DEVICE_A -> "devA";
            case DEVICE_B -> "devB";
            case APPLICATION_B -> "appB";
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
