package verbena.verbs;

import java.util.Optional;

/// The highest rate at which packets may leave on a path (`enum ibv_rate`, IBTA 9.11). The names are signalling rates
/// in Gb/s. Immutable.
///
/// @since 0.1
public enum StaticRate {
    /// The rate of the port's own link.
    PORT(0, 0, false),
    /// 2.5 Gb/s.
    GBPS_2_5(2, 2_500, true),
    /// 5 Gb/s.
    GBPS_5(5, 5_000, true),
    /// 10 Gb/s.
    GBPS_10(3, 10_000, true),
    /// 14 Gb/s.
    GBPS_14(11, 14_062, false),
    /// 20 Gb/s.
    GBPS_20(6, 20_000, true),
    /// 25 Gb/s.
    GBPS_25(15, 25_781, false),
    /// 28 Gb/s.
    GBPS_28(19, 28_125, false),
    /// 30 Gb/s.
    GBPS_30(4, 30_000, true),
    /// 40 Gb/s.
    GBPS_40(7, 40_000, true),
    /// 50 Gb/s.
    GBPS_50(20, 53_125, false),
    /// 56 Gb/s.
    GBPS_56(12, 56_250, false),
    /// 60 Gb/s.
    GBPS_60(8, 60_000, true),
    /// 80 Gb/s.
    GBPS_80(9, 80_000, true),
    /// 100 Gb/s.
    GBPS_100(16, 103_125, false),
    /// 112 Gb/s.
    GBPS_112(13, 112_500, false),
    /// 120 Gb/s.
    GBPS_120(10, 120_000, true),
    /// 168 Gb/s.
    GBPS_168(14, 168_750, false),
    /// 200 Gb/s.
    GBPS_200(17, 206_250, false),
    /// 300 Gb/s.
    GBPS_300(18, 309_375, false),
    /// 400 Gb/s.
    GBPS_400(21, 425_000, false),
    /// 600 Gb/s.
    GBPS_600(22, 637_500, false),
    /// 800 Gb/s.
    GBPS_800(23, 850_000, false),
    /// 1200 Gb/s.
    GBPS_1200(24, 1_275_000, false);

    private final int code;
    private final int mbps;
    /// Ten bits on the cable for eight of a packet, as lanes of up to 10 Gb/s have it; others have 66 for 64.
    private final boolean isTenForEight;

    StaticRate(int code, int mbps, boolean isTenForEight) {
        this.code = code;
        this.mbps = mbps;
        this.isTenForEight = isTenForEight;
    }

    /// Returns the value in messages and in `enum ibv_rate`.
    public int code() {
        return code;
    }

    /// Returns Mb/s on the cable, as `ibv_rate_to_mbps` has it; 0 for [#PORT].
    public int mbps() {
        return mbps;
    }

    /// Returns the bits of packets per second, without what their encoding on the cable adds; 0 for [#PORT].
    public long packetBitsPerSecond() {
        return isTenForEight ? mbps * 800_000L : mbps * 64_000_000L / 66;
    }

    /// Returns the rate of this code; empty when there is none.
    public static Optional<StaticRate> ofCode(int code) {
        for (StaticRate rate : values()) {
            if (rate.code == code) {
                return Optional.of(rate);
            }
        }
        return Optional.empty();
    }
}
