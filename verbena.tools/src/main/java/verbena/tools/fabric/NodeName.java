package verbena.tools.fabric;

import verbena.tools.kit.ToolCommand;

/// A node of a fabric and a number behind a colon.
///
/// @param number 0 where there is none
record NodeName(String name, int number) {
    /// Reads `NODE` or `NODE:NUMBER`.
    static NodeName of(String text, ToolCommand command) {
        int colon = text.lastIndexOf(':');
        if (colon < 0) {
            return new NodeName(text, 0);
        }
        try {
            return new NodeName(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
        } catch (NumberFormatException _) {
            throw command.wrong(text + ": a number has to follow the colon");
        }
    }
}
