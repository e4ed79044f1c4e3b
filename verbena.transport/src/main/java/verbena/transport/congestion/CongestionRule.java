package verbena.transport.congestion;

import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The reaction of a device's reliable connections to congestion of the network.
///
/// @param control what decides how fast they send
/// @param marks whether their packets allow switches to mark them (ECN, RFC 3168), and whether marked ones of a peer
///     are answered by notifications (CNP, IBTA A17.9.3)
/// @param dcqcn governs [Control#DCQCN], and how often notifications are sent
/// @param maxRate `rpg_max_rate`: no sender is faster by [Control#DCQCN], bit/s; 0 for the speed of the link
/// @param swift governs [Control#SWIFT]
/// @param notificationClass `cnp_dscp`: the traffic class of notifications
public record CongestionRule(
        Control control, boolean marks, DcqcnOptions dcqcn, double maxRate, SwiftOptions swift, int notificationClass) {
    /// The kinds of control that decide how fast a connection sends.
    public enum Control {
        /// The window to the peer alone ([PeerWindow]).
        WINDOW,
        /// Notifications of the peer, too ([Dcqcn]).
        DCQCN,
        /// The time that answers take, too ([Swift]).
        SWIFT
    }

    /// The low bits of a traffic class that let switches mark the packet (RFC 3168, ECT(0)).
    public static final int MAY_BE_MARKED = 0b10;
    /// The same bits when a switch has marked the packet (CE).
    public static final int MARKED = 0b11;

    /// A round trip of software ends when a thread has run: half a millisecond is no sign of congestion.
    private static final SwiftOptions SWIFT_IN_SOFTWARE = new SwiftOptions(500_000, 500_000, 1, 0.8, 0.5);

    /// The class that the cards use: DSCP 48, and a switch marks notifications rather than to drop them.
    private static final int NOTIFICATION_CLASS = 48 << 2 | MAY_BE_MARKED;

    /// The window alone, and no marks.
    public static final CongestionRule NONE =
            new CongestionRule(Control.WINDOW, false, DcqcnOptions.PAPER, 0, SWIFT_IN_SOFTWARE, NOTIFICATION_CLASS);

    /// The speed of a link that does not report it, bit/s: that of the paper whose parameters are the defaults.
    private static final double LINK_RATE = 40e9;

    private static final double MICROSECOND = 1e3;
    private static final double MEGABIT = 1e6;
    private static final double G_WHOLE = 1_024;
    private static final double ALPHA_WHOLE = 1_023;
    private static final int DSCP_MOST = 63;

    private static final Set<String> OF_DCQCN = Set.of(
            "dce_tcp_g",
            "initial_alpha_value",
            "dce_tcp_rtt",
            "rpg_time_reset",
            "rpg_byte_reset",
            "rpg_threshold",
            "rpg_ai_rate",
            "rpg_hai_rate",
            "rpg_min_rate",
            "rpg_max_rate",
            "rpg_min_dec_fac",
            "rate_reduce_monitor_period",
            "clamp_tgt_rate",
            "min_time_between_cnps",
            "cnp_dscp");
    private static final Set<String> OF_SWIFT = Set.of("target", "flow", "increase", "beta", "cut_max");

    /// Reads `dcqcn,rpg_ai_rate:5,rpg_time_reset:300`: a control, and parameters of it in any order. Those of DCQCN
    /// have the names and units that cards have below `/sys/class/net/IF/ecn`: rates in Mbit/s, times in
    /// microseconds, `dce_tcp_g` in 1/1024, `initial_alpha_value` in 1/1023, `rpg_min_dec_fac` in percent. Those of
    /// Swift are `target` and `flow` in microseconds, `increase` in packets, `beta` and `cut_max` from 0 to 1.
    ///
    /// @throws IllegalArgumentException when there is no such control, parameter or value
    public static CongestionRule parse(String text) {
        String[] parts = text.split(",", -1);
        Control control = control(parts[0]);
        Set<String> known = switch (control) {
            case WINDOW -> Set.of();
            case DCQCN -> OF_DCQCN;
            case SWIFT -> OF_SWIFT;
        };
        var values = new Values();
        for (int i = 1; i < parts.length; i++) {
            String[] pair = parts[i].split(":", 2);
            if (!known.contains(pair[0])) {
                throw new IllegalArgumentException(parts[0] + " has no parameter \"" + pair[0] + "\"; it has "
                        + (known.isEmpty()
                                ? "none"
                                : String.join(", ", known.stream().sorted().toList())));
            }
            values.put(pair[0], pair.length == 2 ? pair[1] : "");
        }
        return new CongestionRule(
                control,
                control == Control.DCQCN,
                dcqcn(values),
                values.get("rpg_max_rate", 0, 0, 1e6) * MEGABIT,
                swift(values),
                (int) values.get("cnp_dscp", NOTIFICATION_CLASS >> 2, 0, DSCP_MOST) << 2 | MAY_BE_MARKED);
    }

    private static Control control(String name) {
        return switch (name) {
            case "window" -> Control.WINDOW;
            case "dcqcn" -> Control.DCQCN;
            case "swift" -> Control.SWIFT;
            default -> throw new IllegalArgumentException("window, dcqcn or swift, got \"" + name + "\"");
        };
    }

    private static DcqcnOptions dcqcn(Values of) {
        DcqcnOptions usual = DcqcnOptions.PAPER;
        return new DcqcnOptions(
                of.get("dce_tcp_g", usual.gd() * G_WHOLE, 1, G_WHOLE) / G_WHOLE,
                of.get("initial_alpha_value", usual.initialAlpha() * ALPHA_WHOLE, 0, ALPHA_WHOLE) / ALPHA_WHOLE,
                (long) (of.get("dce_tcp_rtt", usual.alphaNanos() / MICROSECOND, 1, 1e6) * MICROSECOND),
                (long) (of.get("rpg_time_reset", usual.timeResetNanos() / MICROSECOND, 1, 1e6) * MICROSECOND),
                (long) of.get("rpg_byte_reset", (double) usual.byteReset(), 1, 1e9),
                (int) of.get("rpg_threshold", usual.threshold(), 1, 1_000),
                of.get("rpg_ai_rate", usual.aiRate() / MEGABIT, 0, 1e6) * MEGABIT,
                of.get("rpg_hai_rate", usual.haiRate() / MEGABIT, 0, 1e6) * MEGABIT,
                of.get("rpg_min_rate", usual.minRate() / MEGABIT, 1, 1e6) * MEGABIT,
                of.get("rpg_min_dec_fac", usual.minDecFac() * 100, 0, 100) / 100,
                (long) (of.get("rate_reduce_monitor_period", usual.monitorNanos() / MICROSECOND, 0, 1e6) * MICROSECOND),
                of.get("clamp_tgt_rate", usual.clampTargetRate() ? 1 : 0, 0, 1) == 1,
                (long) (of.get("min_time_between_cnps", usual.cnpNanos() / MICROSECOND, 0, 1e6) * MICROSECOND));
    }

    private static SwiftOptions swift(Values of) {
        SwiftOptions usual = SWIFT_IN_SOFTWARE;
        return new SwiftOptions(
                (long) (of.get("target", usual.targetNanos() / MICROSECOND, 1, 1e7) * MICROSECOND),
                (long) (of.get("flow", usual.flowNanos() / MICROSECOND, 0, 1e7) * MICROSECOND),
                of.get("increase", usual.increase(), 0.01, 100),
                of.get("beta", usual.beta(), 0.01, 1),
                of.get("cut_max", usual.cutMax(), 0.01, 0.99));
    }

    /// Values by name, each within its bounds.
    private static final class Values {
        private final TreeMap<String, Double> values = new TreeMap<>();

        void put(String name, String value) {
            try {
                values.put(name, Double.valueOf(value));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(name + ": a number, got \"" + value + "\"", e);
            }
        }

        double get(String name, double usual, double least, double most) {
            Double value = values.get(name);
            if (value == null) {
                return usual;
            }
            if (!(value >= least && value <= most)) {
                throw new IllegalArgumentException(String.format(
                        Locale.ROOT, "%s: %s to %s, got %s", name, plain(least), plain(most), plain(value)));
            }
            return value;
        }

        private static String plain(double value) {
            return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
        }
    }

    /// Returns this rule with or without marks.
    ///
    /// @throws IllegalArgumentException when the control needs them
    public CongestionRule withMarks(boolean on) {
        if (!on && control == Control.DCQCN) {
            throw new IllegalArgumentException("congestion=dcqcn needs marks: leave out ecn=off");
        }
        return new CongestionRule(control, on, dcqcn, maxRate, swift, notificationClass);
    }

    /// Returns this rule on a link of so many bits per second, if its greatest rate was not named.
    public CongestionRule onLink(double bitsPerSecond) {
        return maxRate > 0 ? this : new CongestionRule(control, marks, dcqcn, bitsPerSecond, swift, notificationClass);
    }

    /// Returns the greatest rate that a connection is held to, bit/s.
    double lineRate() {
        return maxRate > 0 ? maxRate : LINK_RATE;
    }

    /// Makes the control of one connection; null when only the window to the peer limits it.
    ///
    /// @param packetBytes of a full packet on the wire
    @Nullable
    CongestionControl make(int packetBytes) {
        return switch (control) {
            case WINDOW -> null;
            case DCQCN -> new Dcqcn(dcqcn, lineRate(), PeerWindow.PACKETS_MAX);
            case SWIFT -> new Swift(swift, PeerWindow.PACKETS_MAX, packetBytes);
        };
    }
}
