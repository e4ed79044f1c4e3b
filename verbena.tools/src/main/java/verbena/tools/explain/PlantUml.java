package verbena.tools.explain;

/// The recording as a sequence diagram for PlantUML (plantuml.com/sequence-diagram).
final class PlantUml {
    private PlantUml() {}

    static String of(Recording recording) {
        var text = new StringBuilder("@startuml\n");
        text.append("title ")
                .append(escaped("explain " + recording.name() + ": " + recording.title()))
                .append('\n');
        text.append("hide footbox\n");
        for (Place place : Place.values()) {
            text.append("participant \"")
                    .append(recording.cast().title(place))
                    .append("\" as ")
                    .append(place.id())
                    .append('\n');
        }
        for (Event event : recording.events()) {
            append(text, recording, event);
        }
        return text.append("@enduml\n").toString();
    }

    private static void append(StringBuilder text, Recording recording, Event event) {
        String label = escaped("[" + recording.since(event) + " µs] " + event.label());
        String from = event.from().id();
        String to = event.to().id();
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
