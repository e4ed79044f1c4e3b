package verbena.nio;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The agent for child JVMs, as the build makes it, but with references to the classes in place of the classes.
final class AgentJar {
    private AgentJar() {}

    static Path make(Path folder) throws IOException {
        return make(folder.resolve("verbena-nio.jar"), NioAgent.class, classPath(true));
    }

    /// Another agent, whose class the program's class path has.
    static Path ofProgram(Path folder, Class<?> agent) throws IOException {
        return make(folder.resolve("other.jar"), agent, "");
    }

    private static Path make(Path made, Class<?> agent, String classPath) throws IOException {
        var manifest = new Manifest();
        Attributes main = manifest.getMainAttributes();
        main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        main.put(new Attributes.Name("Premain-Class"), agent.getName());
        main.put(Attributes.Name.CLASS_PATH, classPath);
        new JarOutputStream(Files.newOutputStream(made), manifest).close();
        return made;
    }

    private static String classPath(boolean asUris) {
        return entries()
                .map(entry -> asUris ? Path.of(entry).toUri().toString() : entry)
                .collect(Collectors.joining(asUris ? " " : File.pathSeparator));
    }

    /// Where Verbena's own classes are, those of tests not among them.
    private static Stream<String> entries() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(AgentJar::isOurs);
    }

    /// Where the programs are, and what they need: nothing of Verbena's.
    static String programs() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !isOurs(entry))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static boolean isOurs(String entry) {
        Path path = Path.of(entry);
        return (Files.exists(path.resolve("verbena")) && !Files.exists(path.resolve("verbena/nio/AgentJar.class")))
                || path.getFileName().toString().startsWith("verbena.");
    }
}
