package verbena.tools.perf;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import verbena.tools.kit.Size;
import verbena.verbs.Mtu;
import verbena.verbs.QpType;

/// The options of a measurement ([OptionTable]), with the rules of perftest 4.5. [#settle] checks them and works
/// out what follows from them.
final class Options extends OptionTable {
    static final int PORT = 18_515;
    private static final int SIZE_BANDWIDTH = 65_536;
    private static final int SIZE_LATENCY = 2;
    private static final int SIZE_MAX = 1 << 23;
    private static final int SIZE_ATOMIC = 8;
    private static final int ITERATIONS = 1_000;
    private static final int ITERATIONS_WRITE = 5_000;
    private static final int ITERATIONS_MIN = 5;
    private static final int ITERATIONS_MAX = 100_000_000;
    private static final int SEND_DEPTH = 128;
    private static final int SEND_DEPTH_MAX = 15_000;
    private static final int RECEIVE_DEPTH = 512;
    private static final int RECEIVE_DEPTH_MAX = 16_384;
    private static final int RECEIVE_DEPTH_UNRELIABLE = 16_000;
    private static final int QUEUE_PAIRS_MAX = 16_384;
    private static final int MODERATION = 100;
    private static final int MODERATION_MAX = 1_024;
    /// The size up to which a completion may stand for several messages; beyond it would blur the figures.
    private static final int MODERATION_SIZE_MAX = 8_192;
    private static final int INLINE_MAX = 912;
    private static final int INLINE_WRITE = 220;
    private static final int INLINE_SEND = 236;
    private static final int INLINE_SEND_UD = 188;
    /// The number of iterations up to which the times of all posts are kept for the peak.
    private static final int PEAK_ITERATIONS_MAX = 20_000;

    private static final int WARM_UP_SECONDS_MAX = 600;

    final Verb verb;
    final boolean isLatency;

    // What follows from them.
    int size;
    int iterations;
    int sendDepth;
    int receiveDepth;
    int moderation;
    int inline;
    QpType type = QpType.RC;

    Options(Verb verb, boolean isLatency) {
        this.verb = verb;
        this.isLatency = isLatency;
    }

    /// Returns the names of options that this measurement does not have.
    Set<String> notFor() {
        var names = new HashSet<String>();
        names.addAll(
                isLatency
                        ? Set.of(
                                "-b",
                                "-l",
                                "-N",
                                "-q",
                                "-Q",
                                "-t",
                                "-w",
                                "-y",
                                "--recv_post_list",
                                "--report-both",
                                "--report_gbits",
                                "--run_infinitely")
                        : Set.of("-C", "-H", "-U", "--latency_gap"));
        if (!verb.isAnswered()) {
            names.add("-o");
        } else {
            names.add("-I");
        }
        if (verb != Verb.ATOMIC) {
            names.add("-A");
        } else {
            names.addAll(Set.of("-a", "-s"));
        }
        if (!verb.takesReceives()) {
            names.addAll(Set.of("-r", "--use-srq", "--recv_post_list"));
        }
        if (verb == Verb.WRITE) {
            names.add("-e");
        }
        return names;
    }

    /// Checks everything and works out the rest.
    ///
    /// @throws ParameterException when something is wrong
    void settle() {
        range("-p", port, host == null ? 0 : 1, 65_535);
        range("-i", devicePort, 1, 255);
        range("-l", postList, 1, SEND_DEPTH_MAX);
        range("--recv_post_list", receivePostList, 1, RECEIVE_DEPTH_MAX);
        range("-q", queuePairs, 1, QUEUE_PAIRS_MAX);
        range("-S", serviceLevel, 0, 15);
        range("-u", ackTimeout, 0, 31);
        range("--tclass", trafficClass, 0, 255);
        range("--retry_count", retryCount, 0, 7);
        range("--latency_gap", gapMicros, 0, Integer.MAX_VALUE);
        range("--timeout", timeoutSeconds, 1, 86_400);
        require(
                warmUpSeconds >= 0 && warmUpSeconds <= WARM_UP_SECONDS_MAX,
                "--warm-up: 0 to " + WARM_UP_SECONDS_MAX + ", got " + warmUpSeconds);
        type = typeOf(connection);
        size = verb == Verb.ATOMIC
                ? SIZE_ATOMIC
                : all ? SIZE_MAX : sizeWanted != null ? sizeWanted : isLatency ? SIZE_LATENCY : SIZE_BANDWIDTH;
        iterations = iterationsWanted != null
                ? iterationsWanted
                : verb == Verb.WRITE && !isLatency ? ITERATIONS_WRITE : ITERATIONS;
        range("-n", iterations, ITERATIONS_MIN, ITERATIONS_MAX);
        settleDuration();
        settleDepths();
        settleModeration();
        settleInline();
        if (jsonToFile && jsonFile == null) {
            jsonFile = Path.of("perftest_out.json");
        }
        settleFile("--out_json_file", jsonFile);
        settleFile("--html", page);
        if (gidIndex != null) {
            range("-x", gidIndex, 0, 65_535);
        }
        if (outstandingWanted != null) {
            range("-o", outstandingWanted, 1, 255);
        }
        if (mtuBytes != null && (mtuBytes < 256 || mtuBytes > 4_096 || Integer.bitCount(mtuBytes) != 1)) {
            throw wrong("-m: 256, 512, 1024, 2048 or 4096, got " + mtuBytes);
        }
        if (typeOfService != null) {
            range("-T", typeOfService, 0, 255);
            require(connectionManager, "-T: only with -R");
        }
        require(!connectionManager || type != QpType.UC, "-c UC: not with -R: the connection manager has no UC");
        require(!loopback || host == null, "--loopback: is the server's host too, so without HOST");
        require(host == null || port != 0, "-p 0: is for a server");
        require(
                atomicType.equals("FETCH_AND_ADD") || atomicType.equals("CMP_AND_SWAP"),
                "-A: FETCH_AND_ADD or CMP_AND_SWAP, got " + atomicType);
        if (output != null) {
            var known = isLatency ? List.of("latency") : List.of("bandwidth", "message_rate");
            require(known.contains(output), "--output: " + String.join(" or ", known) + ", got " + output);
        }
    }

    private QpType typeOf(String text) {
        return switch (text.toUpperCase(Locale.ROOT)) {
            case "RC" -> QpType.RC;
            case "UC" -> {
                require(!verb.isAnswered(), "-c UC: has no READs and no atomics");
                yield QpType.UC;
            }
            case "UD" -> {
                require(verb == Verb.SEND, "-c UD: datagrams are for send-bw and send-lat only");
                yield QpType.UD;
            }
            case "XRC", "DC", "SRD" -> throw wrong("-c " + text + ": Verbena has no such connections: RC, UC or UD");
            default -> throw wrong("-c: RC, UC or UD, got " + text);
        };
    }

    private void settleDuration() {
        if (forEver && durationSeconds == null) {
            durationSeconds = 5;
        }
        if (durationSeconds == null) {
            require(marginSeconds == null, "-f: only with -D");
            noPeak |= iterations > PEAK_ITERATIONS_MAX;
            return;
        }
        range("-D", durationSeconds, 1, Integer.MAX_VALUE / 1_000);
        require(iterationsWanted == null, "-D: not with -n");
        require(!events, "-D: not with -e");
        require(!all, "-D: not with -a");
        marginSeconds = marginSeconds != null ? marginSeconds : durationSeconds / 4;
        range("-f", marginSeconds, 0, Integer.MAX_VALUE / 1_000);
        require(durationSeconds > 2 * marginSeconds, "-D: longer than twice -f, which is " + marginSeconds);
        require(!forEver || !bidirectional || !verb.takesReceives(), "--run_infinitely: not with -b");
        noPeak = true;
    }

    private void settleDepths() {
        sendDepth = sendDepthWanted != null ? sendDepthWanted : isLatency ? 1 : SEND_DEPTH;
        range("-t", sendDepth, 1, SEND_DEPTH_MAX);
        receiveDepth = !verb.takesReceives() ? 1 : receiveDepthWanted != null ? receiveDepthWanted : RECEIVE_DEPTH;
        range("-r", receiveDepth, 1, RECEIVE_DEPTH_MAX);
        if (!isDuration()) {
            sendDepth = Math.min(sendDepth, iterations);
            receiveDepth = verb.takesReceives() ? Math.min(receiveDepth, iterations) : 1;
            if (type != QpType.RC && receiveDepth == RECEIVE_DEPTH) {
                receiveDepth = Math.min(iterations, RECEIVE_DEPTH_UNRELIABLE);
            }
            require(iterations % postList == 0, "-n: a multiple of -l, got " + iterations);
            require(iterations % receivePostList == 0, "-n: a multiple of --recv_post_list, got " + iterations);
        }
        require(postList <= sendDepth, "-l: at most -t, which is " + sendDepth + ", got " + postList);
        require(receivePostList <= receiveDepth, "--recv_post_list: at most -r, which is " + receiveDepth);
        require(
                !sharedReceiveQueue || queuePairs <= receiveDepth,
                "--use-srq: -r has to be at least -q, got " + receiveDepth);
    }

    private void settleModeration() {
        moderation = moderationWanted != null ? moderationWanted : MODERATION;
        range("-Q", moderation, 1, MODERATION_MAX);
        if (moderationWanted == null && size > MODERATION_SIZE_MAX && type != QpType.UD && !all && !events) {
            moderation = 1;
        }
        moderation = Math.min(moderation, sendDepth);
        if (postList > 1) {
            require(
                    moderationWanted == null || postList % moderationWanted == 0,
                    "-Q: divides -l, which is " + postList + ", got " + moderationWanted);
            moderation = moderationWanted != null ? moderation : postList;
        }
    }

    private void settleInline() {
        inline = inlineWanted != null
                ? inlineWanted
                : !isLatency || verb.isAnswered()
                        ? 0
                        : verb != Verb.SEND ? INLINE_WRITE : type == QpType.UD ? INLINE_SEND_UD : INLINE_SEND;
        range("-I", inline, 0, INLINE_MAX);
    }

    // Told before anything is measured.
    private void settleFile(String option, @Nullable Path file) {
        if (file != null) {
            Path folder = file.toAbsolutePath().getParent();
            require(
                    folder != null && Files.isDirectory(folder) && !Files.isDirectory(file),
                    option + ": cannot write " + file + ": it is a folder, or there is none for it");
        }
    }

    /// Returns the options that have to be the same at both ends, as they would be given.
    List<String> terms() {
        var terms = new ArrayList<>(List.of(command(), "-c " + type, "-q " + queuePairs));
        if (verb.takesReceives() || bidirectional || (isLatency && !verb.isAnswered())) {
            terms.add(all ? "-a" : "-s " + size);
            terms.add(forEver ? "--run_infinitely" : isDuration() ? "-D " + durationSeconds : "-n " + iterations);
        } else if (size > SIZE_BANDWIDTH) {
            terms.add(all ? "-a" : "-s " + size); // more than a server has memory for by default
        }
        if (bidirectional) {
            terms.add("-b");
        }
        if (connectionManager) {
            terms.add("-R");
        }
        if (gigabits) {
            terms.add("--report_gbits");
        }
        return terms;
    }

    /// Returns the name of the measurement, such as `write-bw`.
    String command() {
        return verb.command + (isLatency ? "-lat" : "-bw");
    }

    boolean isSizeWanted() {
        return sizeWanted != null && !all;
    }

    boolean isDuration() {
        return durationSeconds != null;
    }

    /// Makes this end a client of this server, whatever was asked for.
    void connectTo(String server, int serverPort) {
        host = server;
        port = serverPort;
    }

    boolean isClient() {
        return host != null;
    }

    Duration timeout() {
        return Duration.ofSeconds(timeoutSeconds);
    }

    boolean exchangesByConnectionManager() {
        return connectionManager || exchangeByConnectionManager;
    }

    /// Returns whether a server without `--source_ip` listens at the addresses of its device, and not at those of
    /// the host.
    boolean listensAtItsDevice() {
        return exchangesByConnectionManager() && device != null;
    }

    /// Returns the path MTU on a port that can use `active` now.
    Mtu mtu(Mtu active) {
        return mtuBytes == null ? active : active.min(Mtu.ofBytes(mtuBytes));
    }

    boolean isMtuTooLarge(Mtu active) {
        return mtuBytes != null && mtuBytes > active.bytes();
    }

    /// Returns whether this end sends; the other receives, or has its memory used.
    boolean sends() {
        return isClient() || bidirectional || isLatency;
    }

    private void range(String option, int value, int min, int max) {
        require(value >= min && value <= max, option + ": " + min + " to " + max + ", got " + value);
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            throw wrong(otherwise);
        }
    }

    ParameterException wrong(String message) {
        return new ParameterException(command.commandLine(), message);
    }

    /// A number of bytes of a message, at least 1. A request of the API takes one byte less than the 2 GiB that the
    /// standard allows a message.
    static final class MessageSize extends Size {
        @Override
        public Integer convert(String text) {
            int bytes = super.convert(text);
            if (bytes < 1) {
                throw new TypeConversionException("1 to 2147483647 bytes, got " + text);
            }
            return bytes;
        }
    }
}
