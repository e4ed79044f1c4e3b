package verbena.check;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Findings as text, JSON, SARIF and a page.
final class Reports {
    private Reports() {}

    /// Returns them for people.
    ///
    /// @param beyond findings that were not kept
    static String text(List<Finding> found, long beyond) {
        var text = new StringBuilder();
        for (Finding each : found) {
            text.append("verbena.check: ").append(each.text()).append(System.lineSeparator());
        }
        return text.append(summary(found, beyond))
                .append(System.lineSeparator())
                .toString();
    }

    private static String summary(List<Finding> found, long beyond) {
        return String.format(
                Locale.ROOT,
                "verbena.check: %d errors, %d by luck, %d costs%s",
                count(found, Grade.ERROR),
                count(found, Grade.LUCK),
                count(found, Grade.COST),
                beyond == 0 ? "" : ", and " + beyond + " more that were not kept");
    }

    private static long count(List<Finding> found, Grade grade) {
        return found.stream().filter(each -> each.rule().grade() == grade).count();
    }

    /// Returns an array of objects.
    static String json(List<Finding> found) {
        List<String> all = new ArrayList<>();
        for (Finding each : found) {
            all.add("{\"rule\":" + quoted(each.rule().id())
                    + ",\"grade\":" + quoted(each.rule().grade().word())
                    + ",\"sentence\":" + quoted(each.rule().sentence())
                    + ",\"detail\":" + quoted(each.detail())
                    + ",\"count\":" + each.count()
                    + ",\"here\":" + frames(each.noticed())
                    + ",\"step\":" + quoted(each.step())
                    + ",\"earlier\":" + frames(each.earlier())
                    + ",\"standard\":" + quoted(each.rule().clause())
                    + ",\"card\":" + quoted(each.rule().card())
                    + ",\"cure\":" + quoted(each.rule().cure()) + "}");
        }
        return "[" + String.join(",\n", all) + "]\n";
    }

    private static String frames(CallPlace place) {
        List<String> all = new ArrayList<>();
        for (CallPlace.Frame each : place.frames()) {
            all.add("{\"class\":" + quoted(each.type()) + ",\"method\":" + quoted(each.method()) + ",\"file\":"
                    + quoted(each.file()) + ",\"line\":" + each.line() + "}");
        }
        return "[" + String.join(",", all) + "]";
    }

    /// Returns a log in SARIF 2.1.0, which tools for code review read.
    static String sarif(List<Finding> found) {
        Set<Rule> broken = EnumSet.noneOf(Rule.class);
        List<String> results = new ArrayList<>();
        for (Finding each : found) {
            broken.add(each.rule());
            results.add("{\"ruleId\":" + quoted(each.rule().id())
                    + ",\"level\":" + quoted(level(each.rule()))
                    + ",\"message\":{\"text\":"
                    + quoted(each.detail() + " Cure: " + each.rule().cure() + ".") + "}"
                    + ",\"occurrenceCount\":" + each.count()
                    + ",\"locations\":" + locations(each.noticed(), "here")
                    + ",\"relatedLocations\":" + locations(each.earlier(), each.step()) + "}");
        }
        List<String> rules = new ArrayList<>();
        for (Rule each : broken) {
            rules.add("{\"id\":" + quoted(each.id())
                    + ",\"shortDescription\":{\"text\":" + quoted(each.sentence()) + "}"
                    + ",\"fullDescription\":{\"text\":" + quoted(each.clause() + ". On a card: " + each.card()) + "}"
                    + ",\"help\":{\"text\":" + quoted(each.cure()) + "}"
                    + ",\"defaultConfiguration\":{\"level\":" + quoted(level(each)) + "}}");
        }
        return "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{"
                + "\"tool\":{\"driver\":{\"name\":\"verbena check\",\"rules\":["
                + String.join(",\n", rules) + "]}},\n\"results\":[" + String.join(",\n", results) + "]}]}\n";
    }

    private static String level(Rule rule) {
        return switch (rule.grade()) {
            case ERROR -> "error";
            case LUCK -> "warning";
            case COST -> "note";
        };
    }

    private static String locations(CallPlace place, String message) {
        if (place.frames().isEmpty()) {
            return "[]";
        }
        CallPlace.Frame frame = place.frames().getFirst();
        int dot = frame.type().lastIndexOf('.');
        String folder = dot < 0 ? "" : frame.type().substring(0, dot).replace('.', '/') + "/";
        String region = frame.line() > 0 ? ",\"region\":{\"startLine\":" + frame.line() + "}" : "";
        return "[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":" + quoted(folder + frame.file()) + "}" + region
                + "},\"logicalLocations\":[{\"fullyQualifiedName\":" + quoted(frame.type() + "." + frame.method())
                + "}],\"message\":{\"text\":" + quoted(message) + "}}]";
    }

    /// Returns a page that needs no other file.
    static String html(List<Finding> found) {
        var page = new StringBuilder("""
                <!DOCTYPE html>
                <html lang="en"><head><meta charset="utf-8"><title>verbena check</title><style>
                body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}
                section{border-left:6px solid #999;padding:0 1em;margin:1.5em 0}
                .error{border-color:#c22}.luck{border-color:#d80}.cost{border-color:#47a}
                pre{background:#f4f4f4;padding:.5em;overflow:auto}h2{font-size:1.1em}dt{font-weight:bold}
                </style></head><body><h1>verbena check</h1>
                """);
        page.append("<p>").append(escaped(summary(found, 0))).append("</p>\n");
        for (Finding each : found) {
            Rule rule = each.rule();
            page.append("<section class=\"").append(rule.grade().word()).append("\"><h2>");
            page.append(escaped(rule.id() + " (" + rule.grade().word() + "), " + each.count() + " times"));
            page.append("</h2>\n<p>").append(escaped(each.detail())).append("</p>\n");
            page.append("<p>Here:</p><pre>")
                    .append(escaped(each.noticed().stack("")))
                    .append("</pre>\n");
            if (!each.earlier().frames().isEmpty()) {
                page.append("<p>").append(escaped(each.step())).append(":</p><pre>");
                page.append(escaped(each.earlier().stack(""))).append("</pre>\n");
            }
            page.append("<dl><dt>Standard</dt><dd>").append(escaped(rule.clause()));
            page.append("</dd><dt>On a card</dt><dd>").append(escaped(rule.card()));
            page.append("</dd><dt>Cure</dt><dd>").append(escaped(rule.cure())).append("</dd></dl></section>\n");
        }
        return page.append("</body></html>\n").toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static String quoted(String text) {
        var quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
