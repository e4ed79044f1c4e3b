package verbena.tools.card;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import verbena.sim.card.Card;
import verbena.sim.card.Cards;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;

/// The words of the user that mean a card.
final class CardWords {
    private CardWords() {}

    /// Returns the card that a file, a name or a line means.
    static Card card(ToolCommand command, String parameter, String words) {
        try {
            Path file = file(words);
            return file == null ? Cards.of(words) : Cards.parse(Files.readAllLines(file));
        } catch (IllegalArgumentException e) {
            throw command.wrong(parameter + ": " + e.getMessage());
        } catch (IOException e) {
            throw CommandFailed.io("cannot read " + words, e);
        }
    }

    private static @Nullable Path file(String words) {
        try {
            Path file = Path.of(words);
            return Files.isRegularFile(file) ? file : null;
        } catch (InvalidPathException _) {
            return null; // a line, and no name of a file
        }
    }
}
