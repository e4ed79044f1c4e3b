package verbena.tools.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.nic.link.LinkException;
import verbena.nic.link.udp.UdpOptions;

/// The limits of the system: socket buffers and file descriptors.
final class Limits implements Check {
    /// A device has a few descriptors, one more for each address and multicast group; so many are room for the
    /// program's own.
    private static final long DESCRIPTORS_WANTED = 1_024;
    /// A JVM has some 20 by itself.
    private static final long DESCRIPTORS_NEEDED = 64;

    private static final String UNLIMITED = "unlimited";
    private static final double MIB = 1 << 20;

    @Override
    public List<Finding> look(Surroundings at) {
        var findings = new ArrayList<Finding>();
        findings.add(buffers(at));
        String files = of(at.root(), "Max open files");
        if (!files.isEmpty()) { // unknown elsewhere than on Linux
            findings.add(descriptors(files));
        }
        return findings;
    }

    private static Finding buffers(Surroundings at) {
        String subject = "socket buffers";
        long wanted = UdpOptions.DEFAULT.receiveBufferBytes();
        long got;
        try {
            got = at.receiveBufferBytes();
        } catch (LinkException e) {
            return Finding.fail(subject, "cannot be read: " + e.getMessage(), "see the other findings");
        }
        String seen = "%.1f MiB to receive, of %.1f asked for".formatted(got / MIB, wanted / MIB);
        return got >= wanted
                ? Finding.ok(subject, seen)
                : Finding.warn(
                        subject,
                        seen + ": bursts will be lost and sent again",
                        "sysctl -w net.core.rmem_max=%d net.core.wmem_max=%d%s; or give the process CAP_NET_ADMIN"
                                .formatted(wanted, UdpOptions.DEFAULT.sendBufferBytes(), keeping(at)));
    }

    /// Returns the advice by which the setting outlives a restart of the host, with the file that stands beside the
    /// commands.
    private static String keeping(Surroundings at) {
        String share = at.property("verbena.share");
        return share.isEmpty() ? "" : ", and to keep it: cp " + share + "/sysctl.d/60-verbena.conf /etc/sysctl.d/";
    }

    private static Finding descriptors(String limit) {
        String subject = "file descriptors";
        String seen = "at most " + limit + " a process";
        long most = limit.equals(UNLIMITED) ? Long.MAX_VALUE : Long.parseLong(limit);
        if (most < DESCRIPTORS_NEEDED) {
            return Finding.fail(subject, seen + ": too few for a device", "ulimit -n " + DESCRIPTORS_WANTED);
        }
        return most < DESCRIPTORS_WANTED
                ? Finding.warn(subject, seen, "for many groups or sockets of your own: ulimit -n " + DESCRIPTORS_WANTED)
                : Finding.ok(subject, seen);
    }

    /// Returns the soft limit of this name, as proc_pid_limits(5) has it; empty when there is none.
    static String of(Path root, String name) {
        Pattern line = Pattern.compile(Pattern.quote(name) + "\\s+(\\d+|" + UNLIMITED + ")\\s.*");
        return Text.lines(root.resolve("proc/self/limits")).stream()
                .map(line::matcher)
                .filter(Matcher::matches)
                .map(match -> match.group(1))
                .findFirst()
                .orElse("");
    }
}
