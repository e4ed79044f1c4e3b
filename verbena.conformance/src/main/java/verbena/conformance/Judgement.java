package verbena.conformance;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The results of the suite for a device.
///
/// @param device its name
/// @param kind what [Deviation] calls it
public record Judgement(String device, String kind, List<Result> results) {
    /// The number of cases with each result.
    public record Count(int kept, int notSupported, int deviates, int broken) {
        Count plus(Outcome outcome) {
            return switch (outcome) {
                case Outcome.Kept _ -> new Count(kept + 1, notSupported, deviates, broken);
                case Outcome.NotSupported _ -> new Count(kept, notSupported + 1, deviates, broken);
                case Outcome.Deviates _ -> new Count(kept, notSupported, deviates + 1, broken);
                case Outcome.Broken _ -> new Count(kept, notSupported, deviates, broken + 1);
            };
        }

        public int all() {
            return kept + notSupported + deviates + broken;
        }
    }

    public Judgement {
        results = List.copyOf(results);
    }

    /// Returns whether every promise is kept, or its deviation declared.
    public boolean isGreen() {
        return results.stream().allMatch(Result::isGreen);
    }

    public Count count() {
        return count(results);
    }

    /// Returns counts by topic, in the order of the suite.
    public Map<String, Count> byTopic() {
        var topics = new LinkedHashMap<String, Count>();
        for (Result result : results) {
            topics.merge(result.tried().topic(), count(List.of(result)), (some, _) -> some.plus(result.outcome()));
        }
        return topics;
    }

    private static Count count(List<Result> results) {
        var count = new Count(0, 0, 0, 0);
        for (Result result : results) {
            count = count.plus(result.outcome());
        }
        return count;
    }
}
