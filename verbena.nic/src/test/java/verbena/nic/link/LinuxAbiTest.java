package verbena.nic.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import verbena.foreign.linux.LinuxAbi;

/// Asks the C compiler for every number of [LinuxAbi]: the constants by their own names, the fields of a class
/// `SockaddrIn` as those of `struct sockaddr_in`.
@EnabledOnOs(value = OS.LINUX, disabledReason = "the headers of Linux")
class LinuxAbiTest {
    @Test
    void everyNumberIsThatOfTheHeaders(@TempDir Path folder) throws Exception {
        assumeTrue(works("cc", "--version"), "no C compiler (cc) here to ask");
        Map<String, Integer> ours = numbers();

        assertThat(fromHeaders(folder, ours)).isEqualTo(ours).hasSizeGreaterThan(60);
    }

    private static Map<String, Integer> numbers() throws IllegalAccessException {
        var numbers = new LinkedHashMap<String, Integer>();
        for (Field field : LinuxAbi.class.getDeclaredFields()) {
            numbers.put(constant(field.getName()), field.getInt(null));
        }
        for (Class<?> struct : LinuxAbi.class.getDeclaredClasses()) {
            for (Field field : struct.getDeclaredFields()) {
                if (Modifier.isPrivate(field.getModifiers())) {
                    continue; // ours, not the header's
                }
                numbers.put(expression(struct.getSimpleName(), field.getName()), field.getInt(null));
            }
        }
        return numbers;
    }

    /// Numbers of system calls, and of functions for programs in the kernel, have small letters.
    private static String constant(String name) {
        for (String prefix : List.of("SYS_", "BPF_FUNC_")) {
            if (name.startsWith(prefix)) {
                return prefix + name.substring(prefix.length()).toLowerCase(Locale.ROOT);
            }
        }
        return name;
    }

    private static String expression(String className, String name) {
        String struct =
                "struct " + className.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
        if (struct.equals("struct bpf_attr")) {
            struct = "union bpf_attr";
        }
        String field = name.toLowerCase(Locale.ROOT).replace("link_create_", "link_create.");
        return switch (name) {
            case "BYTES" -> "sizeof(" + struct + ")";
            case "LEN_OF_SHORT" -> "CMSG_LEN(sizeof(short))";
            case "LEN_OF_INT" -> "CMSG_LEN(sizeof(int))";
            case "SPACE_OF_INT" -> "CMSG_SPACE(sizeof(int))";
            case "MSG_LEN" -> "offsetof(struct mmsghdr, msg_len)";
            default ->
                struct.equals("struct mmsghdr")
                        ? "offsetof(struct mmsghdr, msg_hdr." + field + ")"
                        : "offsetof(" + struct + ", " + field + ")";
        };
    }

    private static Map<String, Integer> fromHeaders(Path folder, Map<String, Integer> asked) throws Exception {
        var source = new StringBuilder("""
                #define _GNU_SOURCE
                #include <errno.h>
                #include <fcntl.h>
                #include <poll.h>
                #include <stddef.h>
                #include <stdio.h>
                #include <unistd.h>
                #include <time.h>
                #include <netinet/in.h>
                #include <netinet/tcp.h>
                #include <asm/socket.h>
                #include <sys/epoll.h>
                #include <sys/eventfd.h>
                #include <sys/ioctl.h>
                #include <sys/mman.h>
                #include <sys/socket.h>
                #include <sys/syscall.h>
                #include <sys/timerfd.h>
                #include <sys/uio.h>
                #include <sys/un.h>
                #include <sys/vfs.h>
                #include <linux/bpf.h>
                #include <linux/close_range.h>
                #include <linux/filter.h>
                #include <linux/if_ether.h>
                #include <linux/inet_diag.h>
                #include <linux/if_link.h>
                #include <linux/if.h>
                #include <linux/if_tun.h>
                #include <linux/if_packet.h>
                #include <linux/if_xdp.h>
                #include <linux/magic.h>
                #include <linux/net_tstamp.h>
                #include <linux/rtnetlink.h>
                #include <linux/sock_diag.h>
                #include <linux/udp.h>
                #include <linux/unix_diag.h>
                int main(void) {
                """);
        for (String expression : asked.keySet()) {
            source.append("printf(\"%ld\\n\", (long) (").append(expression).append("));\n");
        }
        source.append("return 0; }\n");
        Path file = Files.writeString(folder.resolve("abi.c"), source);
        Path program = folder.resolve("abi");
        Process compiler = new ProcessBuilder("cc", "-o", program.toString(), file.toString())
                .redirectErrorStream(true)
                .start();
        String complaints =
                new String(compiler.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assumeTrue(compiler.waitFor() == 0 || !complaints.contains("No such file"), "no headers here: " + complaints);
        assertThat(compiler.waitFor()).as(complaints).isZero();

        Process run = new ProcessBuilder(program.toString()).start();
        var found = new LinkedHashMap<String, Integer>();
        try (var lines = run.inputReader()) {
            for (String expression : asked.keySet()) {
                found.put(expression, Integer.valueOf(lines.readLine()));
            }
        }
        return found;
    }

    private static boolean works(String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException _) {
            return false;
        }
    }
}
