package verbena.tools.check;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import verbena.check.litmus.Answer;
import verbena.check.litmus.Level;
import verbena.check.litmus.Program;
import verbena.check.litmus.Program.Strand;
import verbena.check.litmus.Step;
import verbena.tools.check.LitmusStory.Part;

/// Litmus programs as a page that needs nothing else: each with its threads side by side, and its outcomes.
final class LitmusPage {
    private final Optional<LitmusDevice> device;
    private final StringBuilder html = new StringBuilder();

    private LitmusPage(Optional<LitmusDevice> device) {
        this.device = device;
    }

    static String of(List<LitmusStory> stories, Optional<LitmusDevice> device) {
        var page = new LitmusPage(device);
        page.write(stories);
        return page.html.toString();
    }

    private void write(List<LitmusStory> stories) {
        String title = stories.size() == 1 ? stories.getFirst().litmus().title() : "Small programs, surprising ends";
        html.append("""
                <!doctype html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="generator" content="verbena check litmus">
                <title>%s</title>
                <style>
                %s</style>
                </head>
                <body>
                <header>
                <h1>%s</h1>
                <p>Can a few steps of a few threads end in a certain way? A model answers for three levels of devices:
                <b class="strong">strong</b>, which is software; <b class="card">card</b>, which is cards of today in
                hosts with PCIe; <b class="standard">standard</b>, which is whatever InfiniBand, RoCE and iWARP
                allow.</p>
                """.formatted(text(title), style(), text(title)));
        device.ifPresent(on -> html.append("<p>Tried on <code>%s</code> (%s), %d times each, seed %d.</p>%n"
                .formatted(text(on.device().name()), text(on.profile().text()), on.runs(), on.seed())));
        if (stories.size() > 1) {
            contents(stories);
        }
        html.append("</header>\n<main>\n");
        stories.forEach(this::story);
        html.append("</main>\n</body>\n</html>\n");
    }

    private void contents(List<LitmusStory> stories) {
        html.append("<table class=\"contents\"><thead><tr><th>program</th><th>strong</th><th>card</th>"
                + "<th>standard</th><th>question</th></tr></thead><tbody>\n");
        for (LitmusStory story : stories) {
            Optional<Level> least = story.parts().getFirst().answer().level();
            html.append("<tr><td><a href=\"#%s\">%s</a></td>"
                    .formatted(story.litmus().name(), story.litmus().name()));
            for (Level level : Level.values()) {
                String can = LitmusText.can(least, level);
                html.append("<td class=\"%s\">%s</td>".formatted(can, can));
            }
            html.append("<td>%s</td></tr>%n".formatted(text(story.litmus().question())));
        }
        html.append("</tbody></table>\n");
    }

    private void story(LitmusStory story) {
        html.append("<section id=\"%s\">%n<h2>%s</h2>%n<p class=\"question\">%s</p>%n<p>%s</p>%n"
                .formatted(
                        story.litmus().name(),
                        text(story.litmus().title()),
                        text(story.litmus().question()),
                        text(story.litmus().why())));
        story.parts().forEach(this::part);
        html.append("</section>\n");
    }

    private void part(Part part) {
        Program program = part.variant().program();
        boolean isCure = !part.variant().title().isEmpty();
        html.append("<article%s>%n<h3>%s</h3>%n"
                .formatted(
                        isCure ? " class=\"cure\"" : "",
                        isCure ? "Cure: " + text(part.variant().title()) : "The program"));
        html.append("<p class=\"memory\">Memory <code>%s</code>".formatted(text(LitmusText.memory(program))));
        if (!program.queues().isEmpty()) {
            html.append("; queue pairs <code>%s</code>".formatted(text(LitmusText.queues(program))));
        }
        html.append("</p>\n<div class=\"threads\">\n");
        for (Strand thread : program.threads()) {
            html.append("<div><h4>thread %s</h4><ol>%n".formatted(text(thread.name())));
            for (Step step : thread.steps()) {
                html.append("<li><code>%s</code></li>%n".formatted(text(step.text())));
            }
            html.append("</ol></div>\n");
        }
        html.append("</div>\n<p class=\"asked\">Can <code>%s</code>? <b>%s</b></p>%n"
                .formatted(text(program.condition().toString()), LitmusText.answer(part)));
        outcomes(part);
        device.ifPresent(on -> html.append("<p class=\"%s\">%s</p>%n"
                .formatted(part.isRight() ? "verdict" : "verdict wrong", text(LitmusText.verdict(part, on)))));
        html.append("<p>%s</p>%n</article>%n".formatted(text(part.variant().see())));
    }

    private void outcomes(Part part) {
        html.append(
                "<table class=\"outcomes\"><thead><tr><th>%s</th><th>from</th>%s<th>because</th></tr></thead><tbody>%n"
                        .formatted(
                                text(part.answer().names().stream().collect(Collectors.joining(", "))),
                                part.seen().isPresent() ? "<th>seen</th>" : ""));
        for (Answer.Row row : part.answer().rows()) {
            html.append("<tr%s><td><code>%s</code></td><td><b class=\"%s\">%s</b></td>"
                    .formatted(
                            row.isAsked() ? " class=\"is-asked\"" : "",
                            text(row.text()),
                            row.level().text(),
                            row.level().text()));
            part.seen()
                    .ifPresent(seen -> html.append(
                            "<td class=\"seen\">%d</td>".formatted(seen.counts().getOrDefault(row.ending(), 0))));
            html.append("<td>%s</td></tr>%n".formatted(text(LitmusText.why(row))));
        }
        html.append("</tbody></table>\n");
    }

    private static String text(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    private static String style() {
        try (InputStream in = Objects.requireNonNull(LitmusPage.class.getResourceAsStream("litmus.css"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
