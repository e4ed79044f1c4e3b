package verbena.interop;

import java.util.List;

/// The failure of a run that did not do what it has to.
final class RunFailed extends RuntimeException {
    private final List<String> lastWords;

    /// @param lastWords the last lines of the process that it is about
    RunFailed(String message, List<String> lastWords) {
        super(message);
        this.lastWords = List.copyOf(lastWords);
    }

    List<String> lastWords() {
        return lastWords;
    }
}
