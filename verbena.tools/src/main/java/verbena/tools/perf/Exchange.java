package verbena.tools.perf;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import verbena.tools.CommandFailed;
import verbena.verbs.Context;
import verbena.verbs.Mtu;

/// How the two ends talk before and after measuring, and wait for each other between: each says as much as the
/// other, the client first. One goes over TCP, the other through a connection of its own.
interface Exchange extends AutoCloseable {
    /// What perftest 4.5 calls itself here.
    String VERSION = "6.06";

    int VERSION_BYTES = 16;
    double VERSION_MIN = 5.70;
    int PAGE_BYTES = 4_096;
    int CACHE_LINE_BYTES = 64;

    /// What the ends have agreed on.
    ///
    /// @param cycle the larger page, in bytes
    /// @param cacheLine the larger cache line, in bytes
    record Agreement(Mtu mtu, int cycle, int cacheLine) {}

    /// Says something and hears as many bytes.
    byte[] swap(byte[] mine) throws InterruptedException;

    /// Says what a queue pair is, and hears the same of the peer's. Also the way to wait for each other: then the
    /// first queue pair is told once more.
    PerfPeer swap(PerfPeer mine) throws InterruptedException;

    /// From now on the peer may be silent as long as it measures.
    void waitWithoutLimit();

    /// All is said. Waits until the peer is through too, for a while, so that its last packets are answered.
    ///
    /// @param done whether the programs say so to each other
    void part(boolean done) throws InterruptedException;

    /// This host's address that the peer has been found by.
    InetAddress localAddress();

    InetAddress remoteAddress();

    /// The device that the exchange itself goes through, if it does.
    Optional<Context> context();

    /// The peer, for messages.
    String peer();

    @Override
    void close();

    /// Exchanges versions, pages and cache lines, and the path MTU, of which the smaller counts.
    default Agreement agree(Mtu mtu) throws InterruptedException {
        byte[] version = swap(ByteBuffer.allocate(VERSION_BYTES)
                .put(VERSION.getBytes(StandardCharsets.US_ASCII))
                .array());
        check(new String(version, StandardCharsets.ISO_8859_1).split("\0", 2)[0]);
        int cycle = number(PAGE_BYTES, "page size", 1 << 24);
        int cacheLine = number(CACHE_LINE_BYTES, "cache line", 1 << 12);
        byte[] code = swap(new byte[] {(byte) ('0' + mtu.code()), 0});
        boolean isCode = code[0] >= '1' && code[0] <= '5';
        return new Agreement(isCode ? mtu.min(Mtu.ofCode(code[0] - '0')) : mtu, cycle, cacheLine);
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
