package verbena.tools.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/// All that one run has measured.
///
/// @param title what was measured
/// @param facts what has to be known about it, by name: device, machine, command
/// @param goals what was to be reached; often empty
/// @param results in the order of their tables; those with the same series are one curve
/// @param figures other numbers; often empty
/// @param plots other curves; often empty
public record Report(
        String title,
        Map<String, String> facts,
        List<Goal> goals,
        List<Result> results,
        List<Figure> figures,
        List<Plot> plots) {
    private static final String UPLOT = "uplot-1.6.32/uPlot.";

    /// Makes a report of messages alone.
    public Report(String title, Map<String, String> facts, List<Goal> goals, List<Result> results) {
        this(title, facts, goals, results, List.of(), List.of());
    }

    /// Makes a report without goals.
    public Report(String title, Map<String, String> facts, List<Result> results) {
        this(title, facts, List.of(), results);
    }

    /// Returns an object with the components of this record.
    public String json() {
        return Json.format(this);
    }

    /// Returns one page that needs no other file: the plots are drawn by uPlot, which is in it.
    public String html() {
        return resource("report.html")
                .replace("/*UPLOT-STYLE*/", resource(UPLOT + "min.css"))
                .replace("/*UPLOT*/", resource(UPLOT + "iife.min.js"))
                .replace("/*REPORT*/", json());
    }

    private static String resource(String name) {
        try (InputStream in = Report.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("not in the build: " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
