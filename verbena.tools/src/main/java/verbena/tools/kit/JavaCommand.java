package verbena.tools.kit;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// The command that starts this program again, as a process of its own.
public final class JavaCommand {
    /// The class with `main`, by its name: it is made of all packages of this room, and this is the lowest of them.
    static final String MAIN = "verbena.tools.Verbena";

    private static final Pattern FOR_CHILDREN = Pattern.compile(
            "-X(ms|mx|mn|ss|share:|int).*|-Xlog:(disable|[^:]*(=off|:stderr))"
                    + "|-XX:(AOTCache=|AOTMode=|SharedArchiveFile=|Tier|[+-](Tiered|Use)).*|-XX:[+]DisplayVMOutputToStderr");

    private JavaCommand() {}

    /// Returns the words of the command, from the same modules or classes, in a JVM with the same options. The
    /// arguments of a command are to follow.
    public static List<String> again() {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(forChildren(ManagementFactory.getRuntimeMXBean().getInputArguments()));
        Module module = JavaCommand.class.getModule();
        if (module.isNamed()) {
            String path = System.getProperty("jdk.module.path");
            if (path != null) {
                command.addAll(List.of("--module-path", path));
            }
            command.add("--enable-native-access=verbena.foreign");
            command.addAll(List.of("--module", module.getName() + "/" + MAIN));
        } else {
            command.addAll(List.of("--class-path", System.getProperty("java.class.path")));
            command.addAll(List.of("--enable-native-access=ALL-UNNAMED", MAIN));
        }
        return command;
    }

    /// Returns the options of a JVM that a child has to have too: collector, sizes of the heap, compilers, and the
    /// cache that makes the start fast. Options that name a file to write to, or a port to listen at, are for one
    /// process and left out.
    static List<String> forChildren(List<String> jvmOptions) {
        return jvmOptions.stream()
                .filter(option -> FOR_CHILDREN.matcher(option).matches())
                .toList();
    }
}
