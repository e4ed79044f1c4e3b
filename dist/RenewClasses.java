import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/// Writes a jar anew with classes of today's format. picocli's are of Java 5, and the JVM puts none into an AOT
/// cache that is as old as that, nor any of ours that implements an interface of it (decision 47). What they do is
/// the same; what is added is the types at each branch, which newer classes have to state.
public final class RenewClasses {
    private static final int OLD = ClassFile.JAVA_6_VERSION;
    private static final int NEW = ClassFile.JAVA_21_VERSION;

    private RenewClasses() {}

    /// @param args the jar, and the jar to be written
    public static void main(String[] args) throws IOException {
        Map<String, byte[]> entries = new TreeMap<>();
        try (var jar = new JarFile(args[0])) {
            for (var entry : Collections.list(jar.entries())) {
                if (!entry.isDirectory()) {
                    entries.put(entry.getName(), jar.getInputStream(entry).readAllBytes());
                }
            }
        }
        var own = ClassHierarchyResolver.ofResourceParsing(type -> {
            String descriptor = type.descriptorString();
            byte[] bytes = entries.get(descriptor.substring(1, descriptor.length() - 1) + ".class");
            return bytes == null ? null : new ByteArrayInputStream(bytes);
        });
        var classes = ClassFile.of(
                ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                ClassFile.ClassHierarchyResolverOption.of(own.orElse(ClassHierarchyResolver.defaultResolver())));
        try (var out = new ZipOutputStream(Files.newOutputStream(Path.of(args[1])))) {
            for (var entry : entries.entrySet()) {
                var written = new ZipEntry(entry.getKey());
                written.setTime(0); // the same bytes from the same jar
                out.putNextEntry(written);
                out.write(entry.getKey().endsWith(".class") ? renewed(classes, entry.getValue()) : entry.getValue());
                out.closeEntry();
            }
        }
    }

    private static byte[] renewed(ClassFile classes, byte[] bytes) {
        ClassModel model = classes.parse(bytes);
        if (model.majorVersion() >= OLD) {
            return bytes;
        }
        // Through the transform of bodies, although it changes nothing: a body that is handed on whole stays as it was.
        return classes.transformClass(
                model,
                ClassTransform.transformingMethodBodies((code, element) -> code.with(element)).andThen((of, element) -> {
                    if (element instanceof ClassFileVersion) {
                        of.withVersion(NEW, 0);
                    } else {
                        of.with(element);
                    }
                }));
    }
}
