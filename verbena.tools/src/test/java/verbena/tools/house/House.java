package verbena.tools.house;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/// The rooms as ARCHITECTURE's table has them, and the sources that lie in them: what the guards of the house look
/// at. Sources and not class files, because a constant of another class leaves no trace in a class file, and because
/// the rooms that are built after this one count too.
final class House {
    static final Path ROOT = Path.of(System.getProperty("verbena.root"));

    /// Text that is no code: text blocks, strings, characters, comments.
    private static final Pattern NO_CODE = Pattern.compile("\"\"\"[\\s\\S]*?\"\"\""
            + "|\"[^\"\\\\\\n]*+(?:\\\\.[^\"\\\\\\n]*+)*+\""
            + "|'(?:\\\\[^\\n]|[^'\\\\\\n])[^'\\n]*+'"
            + "|//[^\\n]*+|/\\*[\\s\\S]*?\\*/");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z./-]+)` \\|.*\\|([^|]*)\\|$");
    private static final Pattern NAME = Pattern.compile("`([a-z.]+)`");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
    private static final Pattern REQUIRES = Pattern.compile("requires\\s+(?:(?:static|transitive)\\s+)*([\\w.]+);");
    private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>(.*?)</dependency>");
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>([\\w.-]+)</artifactId>");

    /// A row of the table: a folder, and the names of what it requires, those of rooms without `verbena.`.
    record Room(String name, Set<String> requires) {
        /// Whether it is a Java module. The others are tied together by Maven only.
        boolean isModule() {
            return Files.exists(folder().resolve("module-info.java"));
        }

        Path folder() {
            return ROOT.resolve(name).resolve("src/main/java");
        }

        private Path pom() {
            return ROOT.resolve(name).resolve("pom.xml");
        }

        Path classes() {
            return ROOT.resolve(name).resolve("target/classes");
        }

        /// What the code says that it requires: its module descriptor, else its pom. The JDK's own modules and
        /// the annotations of nullness do not count.
        Set<String> required() {
            var found = new TreeSet<String>();
            if (isModule()) {
                Matcher each = REQUIRES.matcher(read(folder().resolve("module-info.java")));
                while (each.find()) {
                    String module = each.group(1);
                    if (!module.matches("(java|jdk)\\..*|org\\.jspecify")) {
                        found.add(module);
                    }
                }
            } else if (Files.exists(pom())) {
                Matcher each = DEPENDENCY.matcher(
                        read(pom()).replaceAll("(?s)<dependencyManagement>.*</dependencyManagement>|<build>.*", ""));
                while (each.find()) {
                    if (each.group(1).contains("<groupId>dev.verbena<")
                            && !each.group(1).contains("<scope>test<")) {
                        Matcher artifact = ARTIFACT.matcher(each.group(1));
                        if (artifact.find()) {
                            found.add(artifact.group(1));
                        }
                    }
                }
            }
            return shortened(found);
        }

        List<Source> sources() {
            return sources(folder());
        }

        List<Source> tests() {
            return sources(ROOT.resolve(name).resolve("src/test/java"));
        }

        private List<Source> sources(Path folder) {
            if (!Files.isDirectory(folder)) {
                return List.of();
            }
            try (Stream<Path> files = Files.walk(folder)) {
                return files.filter(file -> file.toString().endsWith(".java"))
                        .filter(file -> !file.endsWith("module-info.java") && !file.endsWith("package-info.java"))
                        .map(file -> Source.of(this, file))
                        .toList();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /// A file with a class.
    ///
    /// @param code the text without comments and strings
    record Source(Room room, Path file, String packageName, String simpleName, String code) {
        static Source of(Room room, Path file) {
            String text = read(file);
            Matcher named = PACKAGE.matcher(text);
            if (!named.find()) {
                throw new AssertionError(file + " names no package");
            }
            String simple = file.getFileName().toString().replace(".java", "");
            return new Source(
                    room, file, named.group(1), simple, NO_CODE.matcher(text).replaceAll(" "));
        }

        String name() {
            return packageName + "." + simpleName;
        }

        /// The packages of this project whose classes it names.
        Set<String> packages() {
            var found = new TreeSet<String>();
            Matcher each =
                    Pattern.compile("\\bverbena(?:\\.[a-z]\\w*)+(?=\\.[A-Z])").matcher(code);
            while (each.find()) {
                if (!each.group().equals(packageName)) {
                    found.add(each.group());
                }
            }
            return found;
        }
    }

    private House() {}

    /// From the top of the table to its end.
    static List<Room> rooms() {
        var rooms = new ArrayList<Room>();
        Matcher row = ROW.matcher(read(ROOT.resolve("ARCHITECTURE.md")).replaceAll("(?s)\n## The contract.*", ""));
        while (row.find()) {
            var requires = new TreeSet<String>();
            Matcher each = NAME.matcher(row.group(2));
            while (each.find()) {
                requires.add(each.group(1));
            }
            rooms.add(new Room(row.group(1), requires));
        }
        return rooms;
    }

    /// The rooms that users get: libraries, and the command line.
    static List<Room> modules() {
        return rooms().stream().filter(Room::isModule).toList();
    }

    /// Parses sources, without looking at what their names mean.
    static List<CompilationUnitTree> parse(Collection<Path> files) throws IOException {
        var parsed = new ArrayList<CompilationUnitTree>();
        parse(files, (_, file) -> parsed.add(file));
        return parsed;
    }

    /// Parses sources, and gives each to a visitor, with what finds the comments in it.
    static void parse(Collection<Path> files, BiConsumer<DocTrees, CompilationUnitTree> visitor) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            var task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            DocTrees comments = DocTrees.instance(task);
            task.parse().forEach(file -> visitor.accept(comments, file));
        }
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Set<String> shortened(Set<String> names) {
        var found = new TreeSet<String>();
        names.forEach(name -> found.add(name.replaceFirst("^verbena\\.", "")));
        return found;
    }
}
