package verbena.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import verbena.tools.report.Machine;
import verbena.tools.report.Report;

/// `verbena bench secure`: encrypted packets beside plain ones and beside TLS.
@Command(
        name = "verbena bench secure",
        sortOptions = false,
        header = "Compare encrypted RoCE with plain RoCE and with TLS, side by side in one run.",
        description = {
            "",
            "Measures in turn, round by round, two processes of this host each: rocev2 as it is, rocev2 with psp=on, and a"
                    + " stream of TLS 1.3 by Netty, by the JDK's SSLEngine and by OpenSSL (netty-tcnative's BoringSSL). All"
                    + " encrypt by AES-128-GCM. Prints medians, their spread, and whether each goal of"
                    + " docs/performance.md is reached. Nothing else should run.",
            ""
        },
        footer = "Exit status: 0 measured (whatever the figures), 1 failed, 2 wrong usage.")
public final class SecureBench implements Callable<Integer> {
    private static final int REPEATS = 3;

    @Mixin
    private final Settings settings = new Settings();

    private SecureBench() {}

    /// Measures, and exits with the status.
    public static void main(String[] args) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        System.exit(Settings.run(new SecureBench(), args));
    }

    @Override
    public Integer call() throws Exception {
        settings.check();
        Map<String, String> facts = Machine.facts(); // the machine's load before the measurement
        var rounds = new Rounds(settings);
        var allocated = new ArrayList<Double>();
        var contenders = new ArrayList<Contender>();
        try {
            contenders.add(new SecurePair(SecurePair.PLAIN, ""));
            Path secret = SecurePair.writeSecret();
            SecurePair secure = new SecurePair(SecurePair.PSP, ",psp=on,secret=" + secret);
            contenders.add(secure);
            Path keys = TlsPair.makeKeys();
            contenders.add(new TlsPair(TlsPair.JDK, "tls-jdk", keys));
            contenders.add(new TlsPair(TlsPair.OPENSSL, "tls-openssl", keys));
            rounds.start(contenders);
            rounds.warmUp();
            rounds.measure();
            if (settings.isWanted(SecurePair.PSP)) {
                rounds.attempt("allocation", () -> {
                    double _ = secure.allocatedPerOperation(); // unfinished compilation allocates, too
                    for (int i = 0; i < REPEATS; i++) {
                        allocated.add(secure.allocatedPerOperation());
                    }
                });
            }
        } finally {
            contenders.forEach(Contender::close);
        }
        Goals goals = Goals.ofSecurity(rounds.entries, List.copyOf(allocated));
        rounds.describe(facts, "two processes on this host", goals.unknown);
        var report = new Report("Encrypted, side by side", facts, goals.known, rounds.medians());
        settings.show(report, Table.text(report, rounds.entries));
        return 0;
    }
}
