package verbena.tools.perf;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Context;
import verbena.verbs.Mtu;

/// The messages of the two ends before and after measuring, by which they also wait for each other: each sends as
/// much as the other, the client first. One exchange goes over TCP, the other through a connection of its own.
interface Exchange extends AutoCloseable {
    /// The version by which perftest 4.5 names itself here.
    String VERSION = "6.06";

    int VERSION_BYTES = 16;
    /// The name that Verbena sends behind the version, where a C program does not look.
    String NAME = "verbena";

    /// The text that it adds when it is ready to warm up together with its peer.
    String WARMS_UP = "w";

    int TERMS_BYTES = 96;
    double VERSION_MIN = 5.70;
    int PAGE_BYTES = 4_096;
    int CACHE_LINE_BYTES = 64;

    /// The agreement of the ends.
    ///
    /// @param cycle the larger page, in bytes
    /// @param cacheLine the larger cache line, in bytes
    /// @param warmsUp whether both ends are ready to warm up together
    record Agreement(Mtu mtu, int cycle, int cacheLine, boolean warmsUp) {}

    /// Sends bytes, and returns as many of the peer.
    byte[] swap(byte[] mine) throws InterruptedException;

    /// Sends the description of a queue pair, and returns that of the peer's. The ends also wait for each other by
    /// it: then they send the first queue pair once more.
    PerfPeer swap(PerfPeer mine) throws InterruptedException;

    /// Lets the peer be silent from now on, as long as it measures.
    void waitWithoutLimit();

    /// Returns whether the peer is gone. Does not wait.
    boolean hasEnded();

    /// Ends the exchange. It waits a while until the peer has ended too, so that its last packets are answered.
    ///
    /// @param done whether the programs say so to each other
    void part(boolean done) throws InterruptedException;

    /// Returns this host's address by which the peer has been found.
    InetAddress localAddress();

    InetAddress remoteAddress();

    /// Returns the device that the exchange itself goes through, if it does.
    Optional<Context> context();

    /// Returns the peer, for messages.
    String peer();

    @Override
    void close();

    /// Exchanges versions, pages and cache lines, and the path MTU, of which the smaller counts. Two Verbenas also
    /// compare the options that have to be the same; C programs have no words for them.
    ///
    /// @param terms those options
    /// @param warmsUp whether this end is ready to warm up together with its peer
    default Agreement agree(Mtu mtu, List<String> terms, boolean warmsUp) throws InterruptedException {
        String mine = VERSION + "\0" + NAME + (warmsUp ? "\0" + WARMS_UP : "");
        String[] version = text(swap(bytes(mine, VERSION_BYTES))).split("\0", 4);
        check(version[0]);
        if (version.length > 1 && version[1].equals(NAME)) {
            String theirs =
                    text(swap(bytes(String.join("\n", terms), TERMS_BYTES))).split("\0", 2)[0];
            compare(terms, List.of(theirs.split("\n", -1)));
        }
        int cycle = number(PAGE_BYTES, "page size", 1 << 24);
        int cacheLine = number(CACHE_LINE_BYTES, "cache line", 1 << 12);
        byte[] code = swap(new byte[] {(byte) ('0' + mtu.code()), 0});
        boolean isCode = code[0] >= '1' && code[0] <= '5';
        boolean bothWarmUp = warmsUp && version.length > 2 && version[1].equals(NAME) && version[2].equals(WARMS_UP);
        return new Agreement(isCode ? mtu.min(Mtu.ofCode(code[0] - '0')) : mtu, cycle, cacheLine, bothWarmUp);
    }

    private static byte[] bytes(String text, int length) {
        return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), length);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static void compare(List<String> here, List<String> there) {
        if (!here.equals(there)) {
            throw new CommandFailed("the ends have different options: here " + without(here, there) + ", at the peer "
                    + without(there, here));
        }
    }

    private static String without(List<String> some, List<String> others) {
        String left = some.stream().filter(term -> !others.contains(term)).collect(Collectors.joining(" "));
        return left.isEmpty() ? "nothing like it" : left.replaceAll("[^\\p{Graph} ]", ".");
    }

    private void check(String version) {
        try {
            if (Double.parseDouble(version) >= VERSION_MIN) {
                return;
            }
        } catch (NumberFormatException _) {
            // No perftest, or one with another way to count.
        }
        throw new CommandFailed("the peer at " + peer() + " says it is perftest \""
                + version.replaceAll("[^\\p{Graph} ]", ".") + "\"; " + VERSION_MIN + "0 and later are understood");
    }

    // The larger of both ends' counts.
    private int number(int mine, String what, int max) throws InterruptedException {
        int theirs = ByteBuffer.wrap(
                        swap(ByteBuffer.allocate(Integer.BYTES).putInt(mine).array()))
                .getInt();
        if (theirs < 1 || theirs > max || Integer.bitCount(theirs) != 1) {
            throw new CommandFailed(
                    "the peer at " + peer() + " has a " + what + " of " + theirs + " bytes: is it perftest?");
        }
        return Math.max(mine, theirs);
    }
}
