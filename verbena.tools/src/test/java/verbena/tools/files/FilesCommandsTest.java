package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Background;
import verbena.tools.Cli;

/// `serve` and `cp` as they are typed.
@Timeout(180)
class FilesCommandsTest {
    @TempDir
    private Path folder;

    @Test
    void aFileGoesThereAndBackAndEachRequestIsALine() throws Exception {
        Files.createDirectory(folder.resolve("served"));
        Path file = Files.writeString(folder.resolve("file"), "some text");
        Background server = Background.run("serve " + folder.resolve("served") + " --writable -P 0 --clients 3");
        String port = Integer.toString(server.port());

        Cli put = Cli.run("cp", "-P", port, file.toString(), "127.0.0.1:other");
        Cli again = Cli.run("cp", "-P", port, "-v", file.toString(), "127.0.0.1:other");
        Cli get = Cli.run(
                "cp",
                "-P",
                port,
                "-q",
                "127.0.0.1:/other",
                folder.resolve("back").toString());
        Cli none = Cli.run(
                "cp", "-P", port, "-q", "127.0.0.1:none", folder.resolve("back").toString());
        server.interrupt();

        assertThat(put.status()).as(put.err()).isZero();
        assertThat(put.out()).startsWith("1 file, 9 B in ");
        assertThat(again.out()).startsWith("0 files, 0 B in ").endsWith(", 1 were there already\n");
        assertThat(get.out()).isEmpty();
        assertThat(folder.resolve("back")).hasContent("some text");
        assertThat(none.status()).isEqualTo(1);
        assertThat(none.error()).isEqualTo("verbena cp: none: no such file or folder");
        Cli served = server.result();
        assertThat(served.status()).isZero();
        assertThat(served.out())
                .contains("127.0.0.1: put /other: 1 file, 9 B in ", "127.0.0.1: get /other: 1 file, 9 B");
    }

    @Test
    void eachSourceHasANameOfItsOwnThatTheUserKnows() throws Exception {
        Path served = Files.createDirectory(folder.resolve("served-by-a-server"));
        Files.createDirectory(served.resolve("dir"));
        Path b = Files.writeString(folder.resolve("b"), "b");
        Path a = Files.writeString(folder.resolve("a"), "a");
        Path here = Files.createDirectory(folder.resolve("here"));
        Background server = Background.run("serve " + served + " --writable -P 0");
        String port = Integer.toString(server.port());

        Cli put = Cli.run("cp", "-q", "-P", port, b.toString(), a.toString(), "127.0.0.1:dir");
        Cli all = Cli.run("cp", "-q", "-r", "-P", port, "127.0.0.1:", here.toString());
        Cli empty = Cli.run("cp", "-r", "-P", port, "127.0.0.1:none/../dir/..", here.toString());
        server.interrupt();

        assertThat(put.status()).as(put.err()).isZero();
        assertThat(all.status()).as(all.err()).isZero();
        assertThat(here.resolve("served/dir/a")).hasContent("a");
        assertThat(here.resolve("served/dir/b")).hasContent("b");
        assertThat(empty.status()).isEqualTo(1);
        assertThat(server.result().status()).isZero();
        assertThat(Cli.run("cp", "h:x/a", "h:y/a", here.toString()).error())
                .isEqualTo("verbena cp: two sources have the name a");
    }

    @Test
    void nobodyThereIsAnErrorThatSaysSo() {
        Cli cli = Cli.run("cp", "-P", "1", Cli.root().resolve("README.md").toString(), "127.0.0.1:");

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains("127.0.0.1 port 1");
    }

    @Test
    void wrongUsageIsSaid() {
        assertThat(usage("cp")).contains("SRC... DST");
        assertThat(usage("cp", "a", "b")).contains("neither SRC nor DST is HOST:PATH");
        assertThat(usage("cp", "h:a", "h:b")).contains("either all SRC or DST is HOST:PATH");
        assertThat(usage("cp", "h:a", "i:b", "c")).contains("all SRC have to be of one host");
        assertThat(usage("cp", "--mode", "swap", "a", "h:")).contains("--mode: one of [write, read], got swap");
        assertThat(usage("cp", "--chunk", "5", "a", "h:")).contains("--chunk: a multiple of 4, got 5");
        assertThat(usage("cp", "--compare", "a", "b")).contains("--compare: one FILE");
        assertThat(usage("serve", ".", "--bind", "0.0.0.0")).contains("is open to other hosts, and there is no secret");
        assertThat(usage("serve", ".", "--timeout", "2")).contains("--timeout: 3 to 86400, got 2");
        assertThat(usage("cp", "--timeout", "2", "a", "h:")).contains("--timeout: 3 to 86400, got 2");
        assertThat(usage("serve", ".", "--clients", "0")).contains("--clients: 1 to 1000, got 0");
        Path none = folder.resolve("none");
        assertThat(Cli.run("serve", none.toString()).error())
                .isEqualTo("verbena serve: " + none + ": no such file or folder");
    }

    private static String usage(String... args) {
        Cli cli = Cli.run(args);
        assertThat(cli.status()).as(cli.err()).isEqualTo(2);
        return cli.err();
    }
}
