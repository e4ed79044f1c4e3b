package verbena.spark.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/// A disk that is full after some hundred kilobytes: a file system in memory that only one application sees, because
/// it has a mount namespace of its own. Needs no root where users may make namespaces.
///
/// @param spark what the application is run by
/// @param folder where the disk is mounted
/// @param executors a pattern of the shell: the numbers of the executors that have their files there
record FullDisk(SparkRun spark, Path folder, String executors) {
    /// The metric of an outcome that has the files which are left there when all executors have ended.
    static final String LEFT = "disk.files";

    private static final String SIZE = "256k";
    /// Mounts the disk, runs what follows, and waits for the executors, which end after the driver. Then takes away
    /// what a killed executor has left, as a worker does.
    private static final String SCRIPT = """
            disk=$1 killed=$2
            shift 2
            mount -t tmpfs -o size=%s tmpfs "$disk" || exit
            "$@"
            status=$?
            [ ! -s "$killed" ] || rm -rf "$disk/$(cat "$killed")"
            for i in $(seq 300); do
              [ -n "$(find "$disk" -type f)" ] || break
              sleep 0.1
            done
            find "$disk" -type f
            echo "metric %s $(find "$disk" -type f | wc -l)"
            exit $status
            """.formatted(SIZE, LEFT);

    /// Returns why such a disk cannot be made here; empty when it can.
    static String whyNot(Path folder) throws IOException, InterruptedException {
        Files.createDirectories(folder);
        try {
            SparkCable.command("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", folder.toString());
            return "";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /// Changes an application so that the executors are started by a script, which gives each a folder of the disk
    /// that has the name of its process.
    ///
    /// @param killed the file with the process that a task ends
    ProcessBuilder under(ProcessBuilder application, Path killed) throws IOException {
        Path java = Path.of(System.getProperty("java.home"), "bin/java");
        Path home = spark.home().resolve("java");
        Path script = home.resolve("bin/java");
        Files.createDirectories(script.getParent());
        Files.writeString(script, """
                #!/bin/sh
                case " $* " in
                *" --executor-id "%s" --hostname "*) export SPARK_EXECUTOR_DIRS=%s/$$ ;;
                esac
                exec %s "$@"
                """.formatted(executors, folder, java));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        application.environment().put("JAVA_HOME", home.toString());
        var command = new ArrayList<String>(
                List.of("unshare", "-rm", "sh", "-c", SCRIPT, "sh", folder.toString(), killed.toString()));
        command.addAll(application.command());
        return application.command(command);
    }
}
