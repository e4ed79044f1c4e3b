package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.NetworkNamespace;
import verbena.tools.kit.JavaCommand;
import verbena.wire.BigEndian;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;

/// Programs on two hosts, which are network namespaces, that know nothing of PSP: the environment or a property
/// protects them. A program of others records the cable between the hosts. By default each way to protect has its turn,
/// and the recorder once sees what is not protected; the others with `-Dverbena.deep=true`.
@EnabledOnOs(OS.LINUX)
@Timeout(400)
class ProtectedHostsTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final String HERE = "10.9.0.1";
    private static final String THERE = "10.9.0.2";
    private static final int PORT = 7480;
    private static final String TEXT = "attack at dawn, by the north gate; ";
    private static final int BYTES = 200_000;
    private static final byte[] CONTENT =
            TEXT.repeat(BYTES / TEXT.length() + 1).substring(0, BYTES).getBytes(StandardCharsets.US_ASCII);

    /// What both ends say that a test may look for.
    private static final String DONE = "the programs are done";

    /// Two hosts and a cable. Its arguments are the folder, what the server says when it listens, the server, the
    /// client, and whether they connect by the connection manager. A client that does not find the server is run
    /// again. With the connection manager so is the server: `ib_write_bw -R` connects twice, and its server may not
    /// listen yet for the second time. Then the client fails, over a card too, and the server goes on waiting.
    /// A server that does not end is ended. The recorder loses what it has not written when it ends, so it has to
    /// write a last packet first.
    private static final String HOSTS = """
            ip link set lo up || exit 9
            unshare --net sleep 300 & peer=$!
            trap 'kill $peer $server $recorder 2> /dev/null' EXIT
            own=$(readlink /proc/self/ns/net)
            while [ "$(readlink /proc/$peer/ns/net)" = "$own" ]; do :; done
            ip link add a0 type veth peer name b0 netns $peer || exit 9
            ip address add 10.9.0.1/24 dev a0 && ip link set a0 up || exit 9
            nsenter -t $peer -n sh -c \\
              'ip link set lo up && ip address add 10.9.0.2/24 dev b0 && ip link set b0 up' || exit 9
            dumpcap -q -i a0 -s 256 -w - > "$1/wire.pcapng" 2> "$1/recorder" & recorder=$!
            until grep -q '^File:' "$1/recorder"; do kill -0 $recorder || exit 9; sleep 0.1; done
            serve() {
              nsenter -t $peer -n sh -c "exec $1" >> "$2/server" 2>&1 & server=$!
            }
            serve "$3" "$1"
            until [ -z "$2" ] || grep -q "$2" "$1/server"; do
              kill -0 $server || { cat "$1/server"; exit 8; }
              sleep 0.1
            done
            until sh -c "exec $4"; do
              tries=$((tries + 1)); [ $tries -lt 50 ] || { cat "$1/server"; exit 8; }
              if $5; then
                kill $server 2> /dev/null
                wait $server
                serve "$3" "$1"
              fi
              kill -0 $server || { cat "$1/server"; exit 8; }
              sleep 0.2
            done
            echo the programs are done
            kill $server 2> /dev/null
            wait $server
            until grep -aq 'the record ends' "$1/wire.pcapng"; do
              echo 'the record ends' > /dev/udp/10.9.0.2/9
              sleep 0.1
            done
            kill -INT $recorder
            wait $recorder
            cat "$1/server"
            exit 0
            """;

    @TempDir
    Path folder;

    /// A program over the JDK's channels: the server sends back what comes, until the other end has closed.
    static final class Echo {
        private Echo() {}

        public static void main(String[] arguments) throws Exception {
            if (arguments[0].equals("server")) {
                try (var listener = ServerSocketChannel.open().bind(new InetSocketAddress(THERE, PORT))) {
                    System.out.println("listens");
                    try (var channel = listener.accept()) {
                        ByteBuffer data = ByteBuffer.allocate(BYTES);
                        while (channel.read(data) >= 0) {
                            data.flip();
                            while (data.hasRemaining()) {
                                int _ = channel.write(data);
                            }
                            data.clear();
                        }
                    }
                }
                return;
            }
            try (var channel = SocketChannel.open(new InetSocketAddress(THERE, PORT))) {
                ByteBuffer back = ByteBuffer.allocate(BYTES);
                for (ByteBuffer part = ByteBuffer.wrap(CONTENT); part.hasRemaining(); ) {
                    int end = Math.min(BYTES, part.position() + 20_000);
                    part.limit(end);
                    int _ = channel.write(part);
                    back.limit(part.position());
                    while (back.hasRemaining() && channel.read(back) >= 0) {}
                    part.limit(BYTES);
                }
                if (!Arrays.equals(back.array(), CONTENT)) {
                    throw new AssertionError("other bytes came back");
                }
                System.out.println("over " + channel);
            }
        }
    }

    @BeforeEach
    void needsARecorder() {
        for (String program : List.of("dumpcap", "nsenter", "unshare", "ip")) {
            CLibraries.need(program);
        }
    }

    private Path policy() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "0123456789abcdef0123456789abcdef");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        return Files.writeString(folder.resolve("psp"), "secret secret\n10.9.0.0/24 required\ndefault off\n");
    }

    /// The bytes go by RDMA, as the agent counts them, so the recorder's finding is about packets of RoCE.
    @ParameterizedTest
    @ValueSource(strings = {"off", "property", "environment"})
    void channelsUnderTheAgent(String by) throws Exception {
        assumeTrue(DEEP || !by.equals("environment"), "deep");
        String java = Path.of(System.getProperty("java.home"), "bin", "java") + " -XX:+UseSerialGC"
                + " -XX:TieredStopAtLevel=1 -Dverbena.nio.begin=rdma -Dverbena.nio.wait=5000 -Dverbena.nio.summary=stderr"
                + " -javaagent:" + agent() + (by.equals("property") ? " -Dverbena.psp=" + policy() : "") + " -cp "
                + System.getProperty("java.class.path") + " '" + Echo.class.getName() + "' ";
        String said = run(by.equals("environment"), "listens", false, java + "server", java + "client");
        assertThat(said).doesNotContain("rdma-in=0 ").containsPattern("rdma-in=\\d{6}");
        check(!by.equals("off"), true);
    }

    @ParameterizedTest
    @ValueSource(strings = {"off", "environment", "device"})
    void filesThatAreCopied(String by) throws Exception {
        assumeTrue(DEEP || !by.equals("off"), "deep");
        Path served = Files.createDirectory(folder.resolve("served"));
        Files.write(served.resolve("file"), CONTENT);
        String verbena = String.join(" ", JavaCommand.again());
        String named = by.equals("device") ? ",psp=on,secret=" + policy().resolveSibling("secret") : "";
        String said = run(
                by.equals("environment"),
                "waits for clients",
                false,
                verbena + " serve " + served + " --no-auth -d rocev2@" + THERE + named,
                verbena + " cp -d rocev2@" + HERE + named + " " + THERE + ":file " + folder.resolve("copied"));
        assertThat(said).contains("1 file");
        assertThat(folder.resolve("copied")).hasBinaryContent(CONTENT);
        check(!by.equals("off"), true);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "off ibv_rc_pingpong -g 0 -n 50",
                "environment ibv_rc_pingpong -g 0 -n 50",
                "environment ib_write_bw -F -u 20 -s 65536 -n 50",
                "environment ib_write_bw -R -F -u 20 -s 65536 -n 50",
                "environment ib_send_bw -F -u 20 -c UD -s 1024 -n 50",
            })
    void programsInC(String how) throws Exception {
        assumeTrue(DEEP || !how.contains("pingpong"), "deep");
        CLibraries.need();
        String[] words = how.split(" ", 2);
        CLibraries.need(words[1].split(" ", 2)[0]);
        String port = " -p " + PORT;
        String environment = "env LD_PRELOAD=libverbena-files.so VERBENA_DEVICES=rocev2@";
        run(
                words[0].equals("environment"),
                "",
                how.contains(" -R "),
                environment + THERE + " " + words[1] + port,
                environment + HERE + " " + words[1] + port + " " + THERE);
        check(words[0].equals("environment"), false);
    }

    /// Both ends find each other by the connection manager alone.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aProgramOfTheConnectionManager(boolean isProtected) throws Exception {
        assumeTrue(DEEP || isProtected, "deep");
        CLibraries.need();
        CLibraries.need("ucmatose");
        String environment = "env LD_PRELOAD=libverbena-files.so VERBENA_DEVICES=rocev2@";
        String ucmatose = " ucmatose -C 50 -p " + PORT + " -b ";
        run(
                isProtected,
                "",
                true,
                environment + THERE + ucmatose + THERE,
                environment + HERE + ucmatose + HERE + " -s " + THERE);
        check(isProtected, false);
    }

    /// An agent whose class the class path of these tests has.
    private Path agent() throws IOException {
        var manifest = new Manifest();
        Attributes main = manifest.getMainAttributes();
        main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        main.put(new Attributes.Name("Premain-Class"), "verbena.nio.NioAgent");
        main.put(
                Attributes.Name.CLASS_PATH,
                Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                        .map(entry -> Path.of(entry).toUri().toString())
                        .collect(Collectors.joining(" ")));
        Path made = folder.resolve("agent.jar");
        new JarOutputStream(Files.newOutputStream(made), manifest).close();
        return made;
    }

    /// Runs a server there and a client here, and returns what both said.
    ///
    /// @param isProtected whether the environment names the policy
    /// @param isByCm whether the programs connect by the connection manager
    private String run(boolean isProtected, String listens, boolean isByCm, String server, String client)
            throws Exception {
        var command = new ArrayList<>(List.of("env", "VERBENA_PSP=" + (isProtected ? policy() : "")));
        CLibraries.environment().forEach((name, value) -> command.add(name + "=" + value));
        command.addAll(List.of("bash", "-c", HOSTS, "bash", folder.toString(), listens, server, client));
        command.add(Boolean.toString(isByCm));
        NetworkNamespace.Ended ended = NetworkNamespace.run(
                command, output -> output.contains(DONE) || (!output.isEmpty() && !output.contains("unshare")));
        assumeTrue(ended.status() != 9, "no right to two hosts with a recorder: " + ended.output());
        assertThat(ended.status()).as(ended.output()).isZero();
        return ended.output();
    }

    /// Looks for packets of RoCE in the clear, and for the text.
    private void check(boolean isProtected, boolean hasText) throws IOException {
        int clear = 0;
        int secret = 0;
        boolean shows = false;
        try (var reader = CaptureReader.open(folder.resolve("wire.pcapng"))) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                MemorySegment bytes = packet.bytes();
                byte[] all = bytes.toArray(ValueLayout.JAVA_BYTE);
                shows |= new String(all, StandardCharsets.ISO_8859_1).contains(TEXT);
                boolean isRoce = bytes.byteSize() >= 54
                        && BigEndian.u16(bytes, 12) == 0x0800
                        && BigEndian.u8(bytes, 23) == 17
                        && (BigEndian.u16(bytes, 36) == 4791 || BigEndian.u16(bytes, 36) == 1000);
                if (isRoce && (BigEndian.u8(bytes, 43) & 0xF) == 0) { // the version of RoCE's transport
                    clear++;
                } else if (isRoce) {
                    secret++;
                }
            }
        }
        assertThat(isProtected ? secret : clear).isGreaterThan(20);
        assertThat(isProtected ? clear : secret).isZero();
        assertThat(shows).isEqualTo(hasText && !isProtected);
    }
}
