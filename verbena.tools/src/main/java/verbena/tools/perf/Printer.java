package verbena.tools.perf;

import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.MathContext;
import verbena.verbs.Context;
import verbena.verbs.Mtu;
import verbena.verbs.TransportType;

/// The output of a measurement: the lines of perftest 4.5.
final class Printer {
    private static final String LINE = "-".repeat(87);
    private static final double TINY = 0.1;

    private final PrintWriter out;
    private final Options options;
    /// One figure only, or none.
    private final boolean brief;

    Printer(PrintWriter out, Options options) {
        this.out = out;
        this.options = options;
        brief = options.output != null || options.json;
    }

    void waiting() {
        tell("");
        tell("************************************");
        tell("* Waiting for client to connect... *");
        tell("************************************");
    }

    void line() {
        tell(LINE);
    }

    /// Prints the settings of the measurement that is about to begin.
    void settings(Context context, Mtu mtu, int gidIndex, int outstanding) {
        line();
        tell("                    " + title());
        if (options.events) {
            tell(" Test with events. Using " + context.device().name() + "_comp0");
        }
        tell(" Dual-port       : OFF\t\tDevice         : " + context.device().name());
        boolean isIwarp = context.device().transportType() == TransportType.IWARP;
        tell(" Number of qps   : " + options.queuePairs + "\t\tTransport type : " + (isIwarp ? "IW" : "IB"));
        tell(" Connection type : " + options.type + "\t\tUsing SRQ      : "
                + (options.sharedReceiveQueue ? "ON" : "OFF"));
        tell(" PCIe relax order: Unsupported");
        tell(" ibv_wr* API     : ON");
        if (options.isClient() || options.bidirectional) {
            tell(" TX depth        : " + options.sendDepth);
        }
        if (options.postList > 1) {
            tell(" Post List       : " + options.postList);
        }
        if (options.receivePostList > 1) {
            tell(" Recv Post List  : " + options.receivePostList);
        }
        if (options.verb.takesReceives() && (!options.isClient() || options.bidirectional)) {
            tell(" RX depth        : " + options.receiveDepth);
        }
        if (!options.isLatency) {
            tell(" CQ Moderation   : " + options.moderation);
        }
        tell(" Mtu             : " + mtu.bytes() + "[B]");
        tell(" Link type       : Ethernet");
        tell(" GID index       : " + gidIndex);
        tell(
                options.verb.isAnswered()
                        ? " Outstand reads  : " + outstanding
                        : " Max inline data : " + options.inline + "[B]");
        tell(" rdma_cm QPs\t : " + (options.connectionManager ? "ON" : "OFF"));
        String tos = options.typeOfService == null ? "" : " \tTOS    : " + options.typeOfService;
        tell(" Data ex. method : " + (options.exchangesByConnectionManager() ? "rdma_cm" : "Ethernet") + tos);
        if (options.connectionManager && !options.isClient()) {
            line();
            tell(" Waiting for client rdma_cm QP to connect");
            tell(" Please run the same command with the IB/RoCE interface IP");
        }
        line();
    }

    private String title() {
        return options.verb.title + " " + (options.verb == Verb.ATOMIC ? options.atomicType + " " : "")
                + (options.bidirectional ? "Bidirectional " : "") + (options.postList > 1 ? "Post List " : "")
                + (options.isLatency ? "Latency " : "BW ") + "Test";
    }

    void peer(String side, PerfPeer peer) {
        tell(peer.lines(side, options.verb));
    }

    /// Prints the heading of the results.
    void heading() {
        tell(LINE);
        columns();
    }

    private void columns() {
        String unit = options.gigabits ? "Gb" : "MB";
        if (!options.isLatency) {
            tell(" #bytes     #iterations    BW peak[" + unit + "/sec]    BW average[" + unit
                    + "/sec]   MsgRate[Mpps]");
        } else if (options.isDuration()) {
            tell(" #bytes        #iterations       t_avg[usec]    tps average");
        } else {
            tell(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
                    + "   99% percentile[usec]   99.9% percentile[usec] ");
        }
    }

    void bandwidth(Bandwidth result) {
        if (options.output != null) {
            figure(options.output.equals("bandwidth") ? result.average() : result.messageRate());
        } else if (options.gigabits && result.average() < TINY) {
            tell(" %-7d    %d           %-7.6f            %-7.6f            %-7.6f"
                    .formatted(
                            result.size(), result.messages(), result.peak(), result.average(), result.messageRate()));
        } else {
            tell(" %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f"
                    .formatted(
                            result.size(), result.messages(), result.peak(), result.average(), result.messageRate()));
        }
    }

    /// Prints both directions one by one, after their sum.
    void bothWays(Bandwidth here, Bandwidth there) {
        line();
        tell("");
        tell(" Local results: ");
        heading();
        bandwidth(here);
        line();
        tell("");
        tell(" Remote results: ");
        heading();
        bandwidth(there);
    }

    /// Prints all times, one a line.
    ///
    /// @param times in microseconds, or cycles
    void times(double[] times) {
        if (options.json) {
            return;
        }
        out.println("#, " + (options.cycles ? "cycles" : "usec"));
        for (int i = 0; i < times.length; i++) {
            // As printf(3) has it with %g: six digits that count, no zeros behind.
            String time = new BigDecimal(times[i])
                    .round(new MathContext(6))
                    .stripTrailingZeros()
                    .toPlainString();
            out.println((i + 1) + ", " + time);
        }
        out.flush();
    }

    void latencies(long size, long messages, Latencies result) {
        if (options.output != null) {
            figure(result.average());
            return;
        }
        tell(" %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f"
                .formatted(
                        size,
                        messages,
                        result.min(),
                        result.max(),
                        result.median(),
                        result.average(),
                        result.deviation(),
                        result.percentile(0.99),
                        result.percentile(0.999)));
    }

    /// Prints the average of a run of `-D` seconds, of which nothing else is known.
    void averageLatency(long size, long messages, double average, double perSecond) {
        if (options.output != null) {
            figure(average);
        } else {
            tell(" %-7d       %d            %-7.2f        %-7.2f".formatted(size, messages, average, perSecond));
        }
    }

    private void figure(double figure) {
        if (!options.json) {
            out.println("%.6f".formatted(figure));
            out.flush();
        }
    }

    private void tell(String line) {
        if (!brief) {
            out.println(line);
            out.flush();
        }
    }
}
