package verbena.tools.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import verbena.tools.house.House.Room;
import verbena.tools.house.House.Source;

/// Guards the beginning of comments: a method's begins with a verb, a type's or field's with a noun. `comments.txt`
/// has how many of each room begin otherwise; its numbers may only become smaller. After a change for the better,
/// `-Dverbena.comments.write=true` writes it anew, and `-Dverbena.comments.of=verbena.cm` prints those of a room.
class CommentsTest {
    private static final Path LIST = House.ROOT.resolve("verbena.tools/src/test/comments.txt");
    /// The third person of a verb. The words behind look like it.
    private static final Pattern VERB = Pattern.compile("(?!(?:This|Its|Is|Has|Was|Bytes|Always|Perhaps|Others|Less"
            + "|Across|Thus|Unless|Packets|Messages|Options|Requests|Answers|Sizes|Frames|Nodes|Files|Devices|Queues"
            + "|Addresses|Bits|Rows|Words|Lines|Threads|Ports|Paths|Programs|Numbers|Nanoseconds|Seconds|Events|Values"
            + "|Objects|Connections|Results|Streams|Regions|Entries|Columns|Figures)\\b)[A-Z][a-z]+s\\b");
    /// Words that begin no description of a thing.
    private static final Set<String> NO_NOUN = Set.of(
            "What", "How", "Where", "When", "Which", "Who", "Whose", "Why", "Of", "So", "With", "By", "For", "In",
            "That", "From", "To", "Since", "Says", "Tells", "As", "See", "On", "At", "After", "Before", "If", "It",
            "Is", "Has", "Not", "Nothing");

    @Test
    void commentsThatBeginOtherwiseAreNoMoreThanTheListSays() throws IOException {
        var found = new ArrayList<String>();
        for (Room room : House.rooms()) {
            List<String> comments = otherwise(room);
            if (room.name().equals(System.getProperty("verbena.comments.of"))) {
                comments.forEach(System.out::println);
            }
            if (!comments.isEmpty()) {
                found.add(room.name() + ": " + comments.size());
            }
        }
        if (Boolean.getBoolean("verbena.comments.write")) {
            Files.write(LIST, found);
        }
        assertThat(found).as("rooms, and how many of their comments").isEqualTo(Files.readAllLines(LIST));
    }

    @Test
    void aCommentIsKnownByItsFirstWord() {
        assertThat(isVerb("Returns the next PSN.")).isTrue();
        assertThat(isVerb("Called when a packet has come.")).isTrue();
        assertThat(isVerb("The next PSN.")).isFalse();
        assertThat(isVerb("Bytes that wait.")).isFalse();
        assertThat(isThing("The next PSN.")).isTrue();
        assertThat(isThing("What is sent next.")).isFalse();
    }

    private static boolean isVerb(String comment) {
        return comment.startsWith("Called ") || VERB.matcher(comment).lookingAt();
    }

    private static boolean isThing(String comment) {
        return !NO_NOUN.contains(comment.split("\\W", 2)[0]);
    }

    private static List<String> otherwise(Room room) throws IOException {
        var found = new ArrayList<String>();
        List<Path> files = room.sources().stream().map(Source::file).toList();
        if (!files.isEmpty()) { // the compiler wants one
            House.parse(files, (trees, file) -> new Comments(trees, found).scan(file, null));
        }
        return found;
    }

    private static final class Comments extends TreePathScanner<@Nullable Void, @Nullable Void> {
        private final DocTrees trees;
        private final List<String> found;

        Comments(DocTrees trees, List<String> found) {
            this.trees = trees;
            this.found = found;
        }

        @Override
        public @Nullable Void visitClass(ClassTree type, @Nullable Void none) {
            String comment = comment();
            add(comment, isThing(comment));
            return super.visitClass(type, null);
        }

        @Override
        public @Nullable Void visitMethod(MethodTree method, @Nullable Void none) {
            String comment = comment();
            add(comment, method.getReturnType() == null ? isThing(comment) : isVerb(comment));
            return null; // what stands in a body has no documentation
        }

        @Override
        public @Nullable Void visitVariable(VariableTree variable, @Nullable Void none) {
            String comment = comment();
            add(comment, isThing(comment));
            return super.visitVariable(variable, null);
        }

        private String comment() {
            String comment = trees.getDocComment(getCurrentPath());
            return comment == null ? "" : comment.strip();
        }

        private void add(String comment, boolean isRight) {
            if (!comment.isEmpty() && !comment.startsWith("@") && !comment.startsWith("{") && !isRight) {
                String file = Path.of(getCurrentPath()
                                .getCompilationUnit()
                                .getSourceFile()
                                .getName())
                        .getFileName()
                        .toString();
                found.add(file + ": " + comment.lines().findFirst().orElse(""));
            }
        }
    }
}
