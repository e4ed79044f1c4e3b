package verbena.conformance.rig;

import java.util.ArrayList;
import java.util.List;

/// What a case has done so far, a line each; the beginning goes when it becomes long. Safe for use by any thread.
public final class Story {
    private static final int LINES_MAX = 60;

    private final ArrayList<String> lines = new ArrayList<>();
    private int forgotten;

    Story() {}

    public synchronized void tell(String line) {
        if (lines.size() == LINES_MAX) {
            lines.removeFirst();
            forgotten++;
        }
        lines.add(line);
    }

    public synchronized List<String> lines() {
        var told = new ArrayList<String>();
        if (forgotten > 0) {
            told.add("(" + forgotten + " lines before)");
        }
        told.addAll(lines);
        return told;
    }
}
