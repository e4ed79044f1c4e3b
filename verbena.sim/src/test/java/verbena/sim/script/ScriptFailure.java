package verbena.sim.script;

import java.util.List;

/// A script did not run as written. The message is the script with the line marked, expected above actual, and what
/// happened until then.
public final class ScriptFailure extends AssertionError {
    ScriptFailure(List<String> script, int line, String actual, List<String> happened) {
        super(text(script, line, actual, happened));
    }

    private static String text(List<String> script, int line, String actual, List<String> happened) {
        var text = new StringBuilder("line " + (line + 1) + " of the script did not happen\n\n");
        for (int i = 0; i < script.size(); i++) {
            text.append(i == line ? "  > " : "    ").append(script.get(i)).append('\n');
            if (i == line) {
                actual.lines().forEach(l -> text.append("  ! ").append(l).append('\n'));
            }
        }
        text.append("\nwhat happened:\n");
        happened.forEach(l -> text.append("    ").append(l).append('\n'));
        return text.toString();
    }
}
