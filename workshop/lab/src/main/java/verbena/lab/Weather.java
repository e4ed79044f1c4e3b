package verbena.lab;

/// The changes in the guest for some checks in a row. Loss is made there, of RoCE packets only.
enum Weather {
    FAIR("true", "true"),
    /// The loss of one in 50 packets that the guest sends.
    THEIRS_LOST(Loss.THEIRS, Loss.NO_THEIRS),
    /// The loss of one in 50 packets that the guest receives.
    OURS_LOST(Loss.OURS, Loss.NO_OURS),
    BOTH_LOST(Loss.OURS + " && " + Loss.THEIRS, Loss.NO_THEIRS + " && " + Loss.NO_OURS),
    SIW_PEER_TO_PEER(Siw.PEER_TO_PEER + "echo 1", Siw.PEER_TO_PEER + "echo 0"),
    SIW_WANTS_CRC(Siw.CRC + "echo 1", Siw.CRC + "echo 0");

    private static final class Loss {
        static final String THEIRS = "tc qdisc replace dev eth0 root netem loss 2%";
        static final String NO_THEIRS = "tc qdisc del dev eth0 root";
        private static final String FILTER = " && tc filter add dev eth0 ingress protocol ";
        private static final String DROP = " flower ip_proto udp dst_port 4791 action gact ok random netrand drop 50";
        static final String OURS =
                "tc qdisc add dev eth0 clsact" + FILTER + "ip prio 1" + DROP + FILTER + "ipv6 prio 2" + DROP;
        static final String NO_OURS = "tc qdisc del dev eth0 clsact";
    }

    private static final class Siw {
        static final String PEER_TO_PEER = "> /sys/module/siw/parameters/peer_to_peer ";
        static final String CRC = "> /sys/module/siw/parameters/mpa_crc_required ";
    }

    private final String begin;
    private final String end;

    Weather(String begin, String end) {
        this.begin = begin;
        this.end = end;
    }

    void begin(Lab lab) throws InterruptedException {
        run(lab, begin);
    }

    void end(Lab lab) throws InterruptedException {
        run(lab, end);
    }

    private static void run(Lab lab, String command) throws InterruptedException {
        Lab.Outcome outcome = lab.outcome(lab.theirs(20, "sh", "-c", command), 30);
        if (outcome.status() != 0) {
            throw new AssertionError("in the guest, " + command + ": " + outcome.text());
        }
    }
}
