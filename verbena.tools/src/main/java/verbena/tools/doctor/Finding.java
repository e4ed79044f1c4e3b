package verbena.tools.doctor;

import java.util.List;

/// The result of one check about one subject.
///
/// @param subject the thing, in a word or two
/// @param seen what there is
/// @param remedy what to do about it; empty where nothing has to be done
/// @param details further lines, which explain what was seen
public record Finding(Level level, String subject, String seen, String remedy, List<String> details) {
    /// The rating of a finding.
    public enum Level {
        /// The rating of a subject that is as it should be.
        OK,
        /// The rating of a subject that works, but not as well as it could, or not with all peers; or this host
        /// cannot find out.
        WARN,
        /// The rating of a subject that cannot work.
        FAIL
    }

    public Finding {
        details = List.copyOf(details);
    }

    static Finding ok(String subject, String seen) {
        return new Finding(Level.OK, subject, seen, "", List.of());
    }

    static Finding warn(String subject, String seen, String remedy) {
        return new Finding(Level.WARN, subject, seen, remedy, List.of());
    }

    static Finding fail(String subject, String seen, String remedy) {
        return new Finding(Level.FAIL, subject, seen, remedy, List.of());
    }

    Finding with(List<String> furtherLines) {
        return new Finding(level, subject, seen, remedy, furtherLines);
    }

    boolean isFailure() {
        return level == Level.FAIL;
    }
}
