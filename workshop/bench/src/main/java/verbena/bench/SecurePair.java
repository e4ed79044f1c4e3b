package verbena.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import verbena.tools.report.Result;

/// Verbena's `perf` over `rocev2` on loopback, with its packets as they are or encrypted.
final class SecurePair implements Contender {
    static final String PLAIN = "rocev2";
    static final String PSP = "rocev2, psp=on";
    static final String WRITE = " WRITE";
    static final String BATCHES = " WRITE in batches";

    private static final int SECRET_BYTES = 32;
    private static final int BATCH = 64;
    private static final String BATCHES_COMMAND = "write-bw -N -t 256 -l " + BATCH + " -Q " + BATCH;
    private static final long FIRST_SMALL = 100_000;
    private static final long FIRST_LARGE = 2_000;
    private static final long FIRST_ROUND_TRIPS = 10_000;
    /// The allocation of an operation is the difference of two runs, because making and closing a connection costs
    /// both the same.
    private static final long ALLOCATION_FEW = 12_800;
    /// A number of operations that takes seconds. In less time, other allocations of a process would count.
    private static final long ALLOCATION_MANY = 6_400_000;

    private final String name;
    private final String device;
    private final PerfEnds ends;

    /// @param name one of those above
    /// @param options of both devices
    SecurePair(String name, String options) throws Exception {
        this.name = name;
        device = " -d rocev2_lo" + options;
        ends = new PerfEnds(Workers.start("verbena"), Workers.start("verbena"), "127.0.0.1");
    }

    /// Writes a file with a secret that only this user may read.
    static Path writeSecret() throws IOException {
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        Path file = Files.createFile(
                Child.folder().resolve("secret"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, HexFormat.of().formatHex(secret));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<Entry> start() {
        return List.of(
                entry(WRITE, Sizes.LARGE, FIRST_LARGE, "write-bw -N"),
                entry(WRITE, Sizes.SMALL, FIRST_ROUND_TRIPS, "write-lat"),
                entry(BATCHES, Sizes.SMALL, FIRST_SMALL, BATCHES_COMMAND));
    }

    private Entry entry(String series, int size, long first, String command) {
        return new Entry(name + series, size, first, (_, iterations) -> {
            long each = Math.max(1, iterations / BATCH) * BATCH;
            String out = run(command + " -s " + size + " -n " + each).out();
            return Workers.JSON.treeToValue(Workers.JSON.readTree(out).at("/results/0"), Result.class);
        });
    }

    private PerfEnds.Answer run(String command) throws Exception {
        return ends.run(command, device, device);
    }

    /// Returns the bytes that both ends together allocate for one WRITE.
    double allocatedPerOperation() throws Exception {
        String command = BATCHES_COMMAND + " -s " + Sizes.SMALL + " -n ";
        long few = run(command + ALLOCATION_FEW).allocated();
        long many = run(command + ALLOCATION_MANY).allocated();
        return Math.max(0, (double) (many - few) / (ALLOCATION_MANY - ALLOCATION_FEW));
    }

    @Override
    public void close() {
        ends.close();
    }
}
