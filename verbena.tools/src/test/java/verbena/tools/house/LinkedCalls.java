package verbena.tools.house;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import verbena.foreign.NativeFunction;

/// A program that links every function of C of the rooms for programs in Java, calls none of them, and prints how
/// they are called: a line for each shape, in the form of GraalVM's metadata. It reads the cache of the JDK's linker,
/// which needs `--add-opens=java.base/jdk.internal.foreign.abi=ALL-UNNAMED`.
final class LinkedCalls {
    /// A function of a library, as the sources name it.
    private static final Pattern SIGNATURE = Pattern.compile("\"((?:ptr|void|u\\d+) \\w+\\([^\"]*\\))\"");

    private LinkedCalls() {}

    /// Prints the shapes.
    ///
    /// @param rooms folders of rooms
    public static void main(String[] rooms) throws Exception {
        for (String room : rooms) {
            initialise(Path.of(room, "target/classes"));
            linkSignatures(Path.of(room, "src/main/java"));
        }
        shapes().forEach(System.out::println);
    }

    /// Initialises the classes that link functions: those that have a handle, or a class of the JDK's for it.
    private static void initialise(Path classes) throws IOException, ClassNotFoundException {
        for (Path each : files(classes, ".class")) {
            String bytes = Files.readString(each, StandardCharsets.ISO_8859_1);
            if (bytes.contains("java/lang/foreign/Linker") || bytes.contains("java/lang/invoke/MethodHandle;")) {
                String name = classes.relativize(each).toString();
                Class<?> _ = Class.forName(
                        name.substring(0, name.length() - ".class".length()).replace('/', '.'));
            }
        }
    }

    private static void linkSignatures(Path sources) throws Exception {
        Method link = NativeFunction.class.getDeclaredMethod("link");
        link.setAccessible(true);
        for (Path each : files(sources, ".java")) {
            Matcher signature = SIGNATURE.matcher(Files.readString(each));
            while (signature.find()) {
                Object _ = link.invoke(NativeFunction.of(MemorySegment.ofAddress(1), signature.group(1)));
            }
        }
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(each -> each.toString().endsWith(ending)).toList();
        }
    }

    private static Set<String> shapes() throws ReflectiveOperationException {
        Object cache = field(Linker.nativeLinker(), "DOWNCALL_CACHE");
        var shapes = new TreeSet<String>();
        for (Object request : ((Map<?, ?>) field(cache, "cache")).keySet()) {
            shapes.add(shape((FunctionDescriptor) field(request, "descriptor"), field(request, "options")));
        }
        return shapes;
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        for (Class<?> each = of.getClass(); each != null; each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field.get(of);
                }
            }
        }
        throw new NoSuchFieldException(name);
    }

    private static boolean has(Object options, String option) throws ReflectiveOperationException {
        Method method = options.getClass().getMethod(option);
        method.setAccessible(true);
        return (boolean) method.invoke(options);
    }

    private static String shape(FunctionDescriptor descriptor, Object options) throws ReflectiveOperationException {
        String parameters = descriptor.argumentLayouts().stream()
                .map(each -> '"' + type(each) + '"')
                .collect(Collectors.joining(", "));
        var chosen = new TreeSet<String>();
        if (has(options, "hasCapturedCallState")) {
            chosen.add("\"captureCallState\": true");
        }
        if (has(options, "isCritical")) {
            chosen.add("\"critical\": {\"allowHeapAccess\": " + has(options, "allowsHeapAccess") + "}");
        }
        if (has(options, "isVariadicFunction")) {
            throw new IllegalStateException("a function with variable arguments: write its option here");
        }
        return "{\"returnType\": \""
                + descriptor.returnLayout().map(LinkedCalls::type).orElse("void")
                + "\", \"parameterTypes\": ["
                + parameters
                + "]"
                + (chosen.isEmpty() ? "" : ", \"options\": {" + String.join(", ", chosen) + "}")
                + "}";
    }

    /// Returns the name that the linker has for a layout on every system: a number of Java's, or a pointer.
    private static String type(MemoryLayout layout) {
        return layout instanceof AddressLayout
                ? "void*"
                : "j" + ((ValueLayout) layout).carrier().getName();
    }
}
