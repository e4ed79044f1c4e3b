package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkException;
import verbena.nic.link.LinkKind;
import verbena.nic.link.NativeAccess;

/// The link that a JVM gets when it grants native access, does not decide, or refuses it.
@EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere there is only the portable link")
@Timeout(180)
class NativeAccessTest {
    private static final String HINT =
            "native access is not granted: start java with --enable-native-access=ALL-UNNAMED";

    @Test
    void grantedMeansLinux() throws Exception {
        assertThat(linksOf("--enable-native-access=ALL-UNNAMED")).isEqualTo("""
                auto LinuxUdpLink
                linux LinuxUdpLink
                portable DatagramChannelLink
                """);
    }

    @Test
    void unsaidMeansPortableUnlessLinuxIsAskedFor() throws Exception {
        String links = linksOf("-Dnothing=said");
        assertThat(links).startsWith("auto DatagramChannelLink " + HINT).contains("linux LinuxUdpLink");
    }

    @Test
    void refusedMeansPortableAndAClearErrorForLinux() throws Exception {
        assertThat(linksOf("--illegal-native-access=deny")).isEqualTo("""
                auto DatagramChannelLink %s
                linux UNSUPPORTED link=linux: %s
                portable DatagramChannelLink %s
                """.formatted(HINT, HINT, HINT));
    }

    // Standard output only: the JVM's warning goes elsewhere.
    private static String linksOf(String option) throws Exception {
        Process java = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        option,
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(java.waitFor()).as(output).isZero();
        return output;
    }

    /// Opens each kind and prints the result.
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            for (String kind : new String[] {"auto", "linux", "portable"}) {
                String why = NativeAccess.whyPortable();
                try (UdpLink link = LinkBench.openAnywhere(LinkBench.options(LinkKind.parse(kind)))) {
                    System.out.println(kind + " " + link.getClass().getSimpleName() + (why == null ? "" : " " + why));
                } catch (LinkException e) {
                    System.out.println(kind + " " + e.kind() + " " + e.getMessage());
                }
            }
        }
    }
}
