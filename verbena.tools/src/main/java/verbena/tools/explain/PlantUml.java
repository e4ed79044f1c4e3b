package verbena.tools.explain;

/// The story as a sequence diagram for PlantUML (plantuml.com/sequence-diagram).
final class PlantUml {
    private PlantUml() {}

    static String of(Story story) {
        var text = new StringBuilder("@startuml\n");
        text.append("title ")
                .append(escaped("explain " + story.name() + ": " + story.title()))
                .append('\n');
        text.append("hide footbox\n");
        for (Place place : Place.values()) {
            text.append("participant \"")
                    .append(place.title())
                    .append("\" as ")
                    .append(name(place))
                    .append('\n');
        }
        for (Event event : story.events()) {
            append(text, story, event);
        }
        return text.append("@enduml\n").toString();
    }

    private static void append(StringBuilder text, Story story, Event event) {
        String label = escaped("[" + story.since(event) + " µs] " + event.label());
        String from = name(event.from());
        String to = name(event.to());
        switch (event.kind()) {
            case PHASE -> text.append("== ").append(escaped(event.label())).append(" ==\n");
            case CALL ->
                text.append(from)
                        .append(" -> ")
                        .append(to)
                        .append(" : ")
                        .append(label)
                        .append('\n');
            case TOLD ->
                text.append(from)
                        .append(" --> ")
                        .append(to)
                        .append(" : ")
                        .append(label)
                        .append('\n');
            case PACKET ->
                text.append(from)
                        .append(" ->> ")
                        .append(to)
                        .append(" : ")
                        .append(label)
                        .append('\n');
            case LOST ->
                text.append(from)
                        .append(" ->x ")
                        .append(to)
                        .append(" : ")
                        .append(label)
                        .append(" (lost)\n");
            case STEP ->
                text.append("note over ")
                        .append(from)
                        .append(" : ")
                        .append(label)
                        .append('\n');
        }
    }

    private static String name(Place place) {
        return switch (place) {
            case APPLICATION_A -> "appA";
            case DEVICE_A -> "devA";
            case DEVICE_B -> "devB";
            case APPLICATION_B -> "appB";
        };
    }

    // Creole would make something of these.
    private static String escaped(String text) {
        return text.replace("~", "~~")
                .replace("__", "~__")
                .replace("**", "~**")
                .replace("//", "~//")
                .replace("--", "~--")
                .replace("\"\"", "~\"\"")
                .replace("<", "~<")
                .replace("\\", "\\\\");
    }
}
