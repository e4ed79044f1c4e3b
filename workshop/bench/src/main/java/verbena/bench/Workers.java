package verbena.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// Starts [Worker]s, gives them orders, and reads their answers.
final class Workers {
    static final ObjectMapper JSON = new ObjectMapper();

    private Workers() {}

    static Child start(String kind) throws Exception {
        return start(kind, List.of());
    }

    /// @param before the command that runs it, such as `taskset`, with its arguments
    static Child start(String kind, List<String> before) throws Exception {
        return start(kind, before, List.of(), "");
    }

    /// @param options of its virtual machine, too
    /// @param more what its class path has besides; empty for nothing
    static Child start(String kind, List<String> before, List<String> options, String more) throws Exception {
        var command = new ArrayList<>(before);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", // Aeron's buffers
                "-XX:+UseSerialGC"));
        command.addAll(options);
        String classPath = ManagementFactory.getRuntimeMXBean().getClassPath();
        command.addAll(List.of(
                "-cp",
                more.isEmpty() ? classPath : classPath + File.pathSeparator + more,
                Worker.class.getName(),
                kind));
        return new Child(command, Map.of());
    }

    static void order(Child worker, Object... words) {
        worker.say(String.join(" ", Arrays.stream(words).map(Object::toString).toList()));
    }

    /// Returns the answer to an order.
    static <T> T answer(Child worker, Class<T> type) throws Exception {
        return read(worker.hear(), type);
    }

    static <T> T read(String answer, Class<T> type) throws Exception {
        if (!answer.startsWith("ok ")) {
            throw new Child.Failed(answer.replaceFirst("^failed ", ""));
        }
        return JSON.readValue(answer.substring(3), type);
    }
}
