package verbena.tools.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExportsTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.ModuleTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import verbena.tools.house.House.Room;
import verbena.tools.house.House.Source;

/// Guards the edge of the API: which packages programs may name, that these show no others, and what users see of a
/// change. `docs/api/signatures.txt` has all that is public, and says what of it is a preview;
/// `-Dverbena.api.write=true` writes it anew.
class ApiTest {
    private static final Path REPORT = House.ROOT.resolve("docs/api/signatures.txt");
    private static final String HEADING = """
            All that programs may use, by package and type. What is marked @Preview may change or disappear with any
            version. Everything else stays, so a program that compiles with this version compiles with the next. On the
            constructor of a record @Preview says that the record may get further components, so take it apart by no
            pattern. A mark on a type holds for all of it. Three things may be added to what is unmarked: constants to an
            enum, subtypes to a sealed type, and methods to an interface that Verbena alone implements. So give each
            switch a default.
            """;
    /// The packages that programs may name. `spi` is for those that bring devices of their own.
    private static final Set<String> PACKAGES = Set.of(
            "verbena.verbs",
            "verbena.verbs.cm",
            "verbena.verbs.spi",
            "verbena.messages",
            "verbena.stream",
            "verbena.nio",
            "verbena.netty",
            "verbena.junit",
            "verbena.micrometer",
            "verbena.opentelemetry",
            "verbena.spark",
            "verbena.nic.management",
            "verbena.sim");

    /// Types of internal packages that the API shows today, by the class that shows them. The list may only shrink.
    private static final Set<String> SHOWN = Set.of(
            "verbena.sim.SimDevice shows verbena.nic.SoftContext",
            "verbena.sim.SimDevice.Options shows verbena.transport.congestion.CongestionRule",
            "verbena.sim.SimDevice.Options shows verbena.transport.weak.Weakness",
            "verbena.sim.World shows verbena.nic.link.Link");

    @Test
    void onlyPackagesOfTheApiAreExportedToAll() throws IOException {
        var exported = new TreeSet<String>();
        for (ModuleTree module : modules()) {
            for (ExportsTree each : exportsOf(module)) {
                if (each.getModuleNames() == null) {
                    exported.add(each.getPackageName().toString());
                }
            }
        }
        var expected = new TreeSet<>(PACKAGES);
        expected.remove("verbena.spark"); // no module: Spark is none
        assertThat(exported).isEqualTo(expected);
    }

    @Test
    void aPackageIsExportedToRoomsThatRequireItsOwn() throws IOException {
        for (ModuleTree module : modules()) {
            for (ExportsTree each : exportsOf(module)) {
                for (var to : each.getModuleNames() == null ? List.<Tree>of() : each.getModuleNames()) {
                    assertThat(required(to.toString()))
                            .as("what %s requires, to which %s is exported", to, each.getPackageName())
                            .contains(module.getName().toString());
                }
            }
        }
    }

    /// Returns the modules that a module requires, also by others.
    private static Set<String> required(String module) {
        var all = new TreeSet<String>();
        for (Room room : House.modules()) {
            if (room.name().equals(module)) {
                for (String each : room.requires()) {
                    if (all.add("verbena." + each)) {
                        all.addAll(required("verbena." + each));
                    }
                }
            }
        }
        return all;
    }

    @Test
    void noSignatureNamesAnInternalType() throws IOException {
        var shown = new TreeSet<String>();
        for (Api file : api()) {
            shown.addAll(file.internals);
        }
        assertThat(shown).isEqualTo(new TreeSet<>(SHOWN));
    }

    @Test
    void theReportHasAllSignatures() throws IOException {
        var lines = new ArrayList<String>();
        String of = "";
        for (Api file : api()) {
            if (!file.packageName.equals(of)) {
                of = file.packageName;
                lines.add((lines.isEmpty() ? "" : "\n") + "package " + of);
            }
            file.types.forEach((type, members) -> {
                lines.add("\n" + type);
                members.forEach(member -> lines.add("    " + member));
            });
        }
        String found = HEADING + "\n" + String.join("\n", lines) + "\n";
        assertThat(lines).hasSizeGreaterThan(1_000);
        if (Boolean.getBoolean("verbena.api.write")) {
            Files.writeString(REPORT, found);
        }
        assertThat(found).isEqualTo(House.read(REPORT));
    }

    // ---- sources

    private static List<ModuleTree> modules() throws IOException {
        var files = new ArrayList<Path>();
        for (Room room : House.modules()) {
            files.add(room.folder().resolve("module-info.java"));
        }
        return House.parse(files).stream().map(CompilationUnitTree::getModule).toList();
    }

    private static List<ExportsTree> exportsOf(ModuleTree module) {
        return module.getDirectives().stream()
                .filter(ExportsTree.class::isInstance)
                .map(ExportsTree.class::cast)
                .toList();
    }

    /// Returns the files of the API with a public type, by package and name.
    private static List<Api> api() throws IOException {
        var byName = new TreeMap<String, Path>();
        for (Room room : House.rooms()) {
            for (Source source : room.sources()) {
                if (PACKAGES.contains(source.packageName()) && !room.name().startsWith("workshop")) {
                    byName.put(source.name(), source.file());
                }
            }
        }
        List<CompilationUnitTree> files = House.parse(byName.values());
        Map<String, Set<String>> hidden = new HashMap<>();
        for (CompilationUnitTree file : files) {
            for (Tree type : file.getTypeDecls()) {
                if (type instanceof ClassTree tree && !isPublic(tree.getModifiers())) {
                    hidden.computeIfAbsent(file.getPackageName().toString(), _ -> new HashSet<>())
                            .add(tree.getSimpleName().toString());
                }
            }
        }
        return files.stream()
                .map(file ->
                        new Api(file, hidden.getOrDefault(file.getPackageName().toString(), Set.of())))
                .filter(file -> !file.types.isEmpty())
                .toList();
    }

    private static boolean isPublic(ModifiersTree modifiers) {
        return modifiers.getFlags().contains(Modifier.PUBLIC);
    }

    /// A file of the API: its public types, each with its members, and the internal types that these name.
    private static final class Api {
        private final String packageName;
        private final Set<String> hidden;
        /// Types that a name means which no program can name.
        private final Map<String, String> internal = new HashMap<>();
        private final TreeMap<String, TreeSet<String>> types = new TreeMap<>();
        private final TreeSet<String> internals = new TreeSet<>();

        Api(CompilationUnitTree file, Set<String> hidden) {
            packageName = file.getPackageName().toString();
            this.hidden = hidden;
            hidden.forEach(name -> internal.put(name, packageName + "." + name));
            for (ImportTree each : file.getImports()) {
                String name = each.getQualifiedIdentifier().toString();
                if (name.startsWith("verbena.") && !each.isStatic()) {
                    String of = name.replaceFirst("\\.[A-Z].*", "");
                    if (!PACKAGES.contains(of)) {
                        internal.put(name.substring(name.lastIndexOf('.') + 1), name);
                    }
                }
            }
            for (Tree type : file.getTypeDecls()) {
                if (type instanceof ClassTree tree && isPublic(tree.getModifiers())) {
                    add(tree, tree.getSimpleName().toString());
                }
            }
        }

        private void add(ClassTree tree, String name) {
            boolean isInterface = isInterface(tree);
            var members = new TreeSet<String>();
            for (Tree member : tree.getMembers()) {
                switch (member) {
                    case MethodTree method
                    when isShown(method.getModifiers(), isInterface) -> {
                        members.add(text(method, tree.getSimpleName().toString()));
                        look(name, method.getReturnType());
                        method.getParameters().forEach(each -> look(name, each.getType()));
                        method.getThrows().forEach(each -> look(name, each));
                        method.getTypeParameters().forEach(each -> look(name, each));
                    }
                    case VariableTree field
                    when isShown(field.getModifiers(), isInterface) -> {
                        members.add(text(field));
                        look(name, field.getType());
                    }
                    case VariableTree component when isComponent(tree, component) -> look(name, component.getType());
                    case ClassTree inner
                    when isShown(inner.getModifiers(), isInterface) -> add(inner, name + "." + inner.getSimpleName());
                    default -> {}
                }
            }
            // A hidden class of the same package below a public one is Java's own way to share code.
            if (tree.getExtendsClause() != null
                    && !hidden.contains(tree.getExtendsClause().toString())) {
                look(name, tree.getExtendsClause());
            }
            tree.getImplementsClause().forEach(each -> look(name, each));
            types.put(text(tree, name), members);
        }

        private static boolean isInterface(ClassTree tree) {
            return tree.getKind() == Tree.Kind.INTERFACE || tree.getKind() == Tree.Kind.ANNOTATION_TYPE;
        }

        private static boolean isShown(ModifiersTree modifiers, boolean inInterface) {
            Set<Modifier> flags = modifiers.getFlags();
            return !flags.contains(Modifier.PRIVATE)
                    && (inInterface || flags.contains(Modifier.PUBLIC) || flags.contains(Modifier.PROTECTED));
        }

        private static boolean isComponent(ClassTree tree, VariableTree field) {
            return tree.getKind() == Tree.Kind.RECORD
                    && !field.getModifiers().getFlags().contains(Modifier.STATIC);
        }

        /// Notes the internal types of a signature.
        private void look(String type, @Nullable Tree signature) {
            new TreeScanner<@Nullable Void, @Nullable Void>() {
                @Override
                public @Nullable Void visitIdentifier(IdentifierTree tree, @Nullable Void unused) {
                    String meant = internal.get(tree.getName().toString());
                    if (meant != null) {
                        internals.add(packageName + "." + type + " shows " + meant);
                    }
                    return null;
                }
            }.scan(signature, null);
        }

        // ---- text

        private static String text(ClassTree tree, String name) {
            String kind = switch (tree.getKind()) {
                case INTERFACE -> "interface";
                case ANNOTATION_TYPE -> "@interface";
                case ENUM -> "enum";
                case RECORD -> "record";
                default -> "class";
            };
            String components = tree.getKind() == Tree.Kind.RECORD
                    ? tree.getMembers().stream()
                            .filter(each -> each instanceof VariableTree field && isComponent(tree, field))
                            .map(each -> nullness((VariableTree) each) + ((VariableTree) each).getType() + " "
                                    + ((VariableTree) each).getName())
                            .collect(Collectors.joining(", ", "(", ")"))
                    : "";
            Tree extended = tree.getExtendsClause();
            return flags(tree.getModifiers()) + kind + " " + name + generics(tree.getTypeParameters()) + components
                    + (extended == null ? "" : " extends " + extended)
                    + list(isInterface(tree) ? " extends " : " implements ", tree.getImplementsClause());
        }

        private static String text(MethodTree method, String ofClass) {
            boolean isConstructor = method.getReturnType() == null;
            return flags(method.getModifiers())
                    + (method.getTypeParameters().isEmpty() ? "" : generics(method.getTypeParameters()) + " ")
                    + (isConstructor ? ofClass : method.getReturnType() + " " + method.getName())
                    + method.getParameters().stream()
                            .map(each -> flags(each.getModifiers()) + each.getType() + " " + each.getName())
                            .collect(Collectors.joining(", ", "(", ")"))
                    + list(" throws ", method.getThrows());
        }

        private static String text(VariableTree field) {
            if (field.getInitializer() instanceof NewClassTree
                    && field.toString().startsWith("/*public static final*/")) {
                return field.getName().toString(); // a constant of an enum
            }
            return flags(field.getModifiers()) + field.getType() + " " + field.getName();
        }

        private static String nullness(VariableTree component) {
            return component.getModifiers().getAnnotations().stream()
                            .anyMatch(each -> each.toString().startsWith("@Nullable"))
                    ? "@Nullable "
                    : "";
        }

        private static String generics(List<? extends Tree> parameters) {
            return parameters.isEmpty()
                    ? ""
                    : parameters.stream().map(Object::toString).collect(Collectors.joining(", ", "<", ">"));
        }

        private static String list(String word, List<? extends Tree> trees) {
            return trees.isEmpty()
                    ? ""
                    : trees.stream().map(Object::toString).collect(Collectors.joining(", ", word, ""));
        }

        private static String flags(ModifiersTree modifiers) {
            return Stream.concat(
                            modifiers.getAnnotations().stream()
                                    .map(Object::toString)
                                    .filter(each -> each.matches("@(Preview|Deprecated|Nullable)\\b.*"))
                                    .map(each -> each.replaceAll("\\(.*", "")),
                            modifiers.getFlags().stream()
                                    .filter(each -> each != Modifier.PUBLIC && each != Modifier.SYNCHRONIZED)
                                    .map(Modifier::toString))
                    .map(each -> each + " ")
                    .collect(Collectors.joining());
        }
    }
}
