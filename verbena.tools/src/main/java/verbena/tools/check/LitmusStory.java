package verbena.tools.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import verbena.check.litmus.Answer;
import verbena.check.litmus.Ending;
import verbena.check.litmus.Level;
import verbena.check.litmus.Litmus;
import verbena.check.litmus.Litmus.Variant;
import verbena.check.litmus.ModelFreedom;
import verbena.check.litmus.Trial;
import verbena.verbs.UnsupportedException;

/// A litmus with the model's answers for the program and its cures, and what a device has shown.
record LitmusStory(Litmus litmus, List<Part> parts) {
    /// A form of the program.
    ///
    /// @param seen what the device has shown; empty when nothing ran
    /// @param allowed what it may show
    /// @param missing what the device has not, so that the program did not run; empty when it did
    record Part(Variant variant, Answer answer, Optional<Trial.Seen> seen, SortedSet<Ending> allowed, String missing) {
        boolean isRight() {
            return forbidden().isEmpty();
        }

        /// Returns the outcomes that the device has shown and may not show.
        SortedSet<Ending> forbidden() {
            var forbidden = new TreeSet<Ending>();
            seen.ifPresent(its -> forbidden.addAll(its.counts().keySet()));
            forbidden.removeAll(allowed);
            return forbidden;
        }
    }

    static LitmusStory of(Litmus litmus, Optional<LitmusDevice> device) throws InterruptedException {
        var parts = new ArrayList<Part>();
        for (Variant variant : litmus.variants()) {
            Answer answer = Answer.of(variant);
            if (device.isEmpty()) {
                parts.add(new Part(variant, answer, Optional.empty(), new TreeSet<>(), ""));
            } else {
                parts.add(tried(variant, answer, device.get()));
            }
        }
        return new LitmusStory(litmus, parts);
    }

    private static Part tried(Variant variant, Answer answer, LitmusDevice on) throws InterruptedException {
        SortedSet<Ending> allowed = Answer.outcomes(variant, on.profile().freedoms());
        try (Trial trial = Trial.of(on.device(), variant, on.seed())) {
            Trial.Seen seen = trial.run(on.runs(), _ -> false);
            return new Part(variant, answer, Optional.of(seen), allowed, "");
        } catch (UnsupportedException e) {
            return new Part(variant, answer, Optional.empty(), allowed, String.valueOf(e.getMessage()));
        }
    }

    boolean isRight() {
        return parts.stream().allMatch(Part::isRight);
    }

    // ---- as JSON

    /// Returns all facts, for JSON.
    static Map<String, Object> facts(List<LitmusStory> stories, Optional<LitmusDevice> device) {
        var facts = new LinkedHashMap<String, Object>();
        device.ifPresent(on -> {
            facts.put("device", on.device().name());
            facts.put("profile", on.profile().text());
            facts.put("runs", on.runs());
            facts.put("seed", on.seed());
        });
        facts.put("litmus", stories.stream().map(LitmusStory::facts).toList());
        return facts;
    }

    private Map<String, Object> facts() {
        var facts = new LinkedHashMap<String, Object>();
        facts.put("name", litmus.name());
        facts.put("title", litmus.title());
        facts.put("question", litmus.question());
        facts.put("variants", parts.stream().map(LitmusStory::facts).toList());
        return facts;
    }

    private static Map<String, Object> facts(Part part) {
        var facts = new LinkedHashMap<String, Object>();
        facts.put(
                "title",
                part.variant().title().isEmpty()
                        ? "the program"
                        : part.variant().title());
        facts.put("asked", part.variant().program().condition().toString());
        facts.put("allowed", part.answer().level().map(Level::text).orElse("never"));
        part.seen().ifPresent(seen -> {
            facts.put("runs", seen.runs());
            facts.put("discarded", seen.without());
        });
        facts.put(
                "outcomes",
                part.answer().rows().stream().map(row -> facts(part, row)).toList());
        facts.put("forbidden", part.forbidden().stream().map(Ending::toString).toList());
        return facts;
    }

    private static Map<String, Object> facts(Part part, Answer.Row row) {
        var facts = new LinkedHashMap<String, Object>();
        facts.put("outcome", row.text());
        facts.put("asked", row.isAsked());
        facts.put("level", row.level().text());
        facts.put("freedoms", row.needs().stream().map(ModelFreedom::text).toList());
        part.seen().ifPresent(seen -> facts.put("seen", seen.counts().getOrDefault(row.ending(), 0)));
        return facts;
    }
}
