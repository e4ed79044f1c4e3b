package verbena.tools.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import javax.lang.model.element.Modifier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import verbena.tools.house.House.Room;

/// Guards the size of classes by what a reader has to hold at once, and not by their lines: methods that others may
/// call, without those that an interface asks for, and fields of an object, without options of a command.
/// `sizes.txt` has the classes of today that have more; the list may only become shorter, and its numbers smaller.
/// After a change for the better, `-Dverbena.sizes.write=true` writes it anew.
class SizesTest {
    private static final Path LIST = House.ROOT.resolve("verbena.tools/src/test/sizes.txt");
    private static final int MOST_METHODS = 25;
    private static final int MOST_FIELDS = 15;

    @Test
    void theClassesWithManyMethodsOrFieldsAreThoseOfTheList() throws IOException {
        var files = new ArrayList<Path>();
        for (Room room : House.rooms()) {
            room.sources().forEach(source -> files.add(source.file()));
        }
        assertThat(files).hasSizeGreaterThan(700);
        List<String> found = List.copyOf(large(files));
        if (Boolean.getBoolean("verbena.sizes.write")) {
            Files.write(LIST, found);
        }
        assertThat(found)
                .as("classes with more than %d methods that others may call, or %d fields", MOST_METHODS, MOST_FIELDS)
                .isEqualTo(Files.readAllLines(LIST));
    }

    private static SortedSet<String> large(List<Path> files) throws IOException {
        var classes = new Classes();
        for (CompilationUnitTree file : House.parse(files)) {
            classes.packageName = file.getPackageName().toString();
            classes.scan(file, null);
        }
        return classes.large;
    }

    private static final class Classes extends TreeScanner<@Nullable Void, @Nullable Void> {
        private final TreeSet<String> large = new TreeSet<>();
        private String packageName = "";

        /// Interfaces are an API's shape, and enums and records are tables.
        @Override
        public @Nullable Void visitClass(ClassTree tree, @Nullable Void unused) {
            if (tree.getKind() == Tree.Kind.CLASS) {
                int methods = 0;
                int fields = 0;
                for (Tree member : tree.getMembers()) {
                    methods += member instanceof MethodTree method && isCallable(method) ? 1 : 0;
                    fields += member instanceof VariableTree field && isField(field) ? 1 : 0;
                }
                if (methods > MOST_METHODS || fields > MOST_FIELDS) {
                    large.add("%s.%s: %d methods, %d fields"
                            .formatted(packageName, tree.getSimpleName(), methods, fields));
                }
            }
            return super.visitClass(tree, null);
        }

        private static boolean isCallable(MethodTree method) {
            return method.getReturnType() != null
                    && !method.getModifiers().getFlags().contains(Modifier.PRIVATE)
                    && !isAnnotated(method.getModifiers(), "Override");
        }

        private static boolean isField(VariableTree field) {
            return !field.getModifiers().getFlags().contains(Modifier.STATIC)
                    && !isAnnotated(field.getModifiers(), "Option", "Parameters", "Mixin", "Label", "Description");
        }

        private static boolean isAnnotated(ModifiersTree modifiers, String... names) {
            return modifiers.getAnnotations().stream()
                    .anyMatch(each ->
                            List.of(names).contains(each.getAnnotationType().toString()));
        }
    }
}
