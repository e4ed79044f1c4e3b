package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StaticRateTest {
    @Test
    void everyRateHasItsCode() {
        for (StaticRate rate : StaticRate.values()) {
            assertThat(StaticRate.ofCode(rate.code())).contains(rate);
        }
        assertThat(StaticRate.ofCode(1)).isEmpty();
        assertThat(StaticRate.ofCode(63)).isEmpty();
    }

    /// 8b/10b up to 10 Gb/s a lane, 64b/66b above.
    @Test
    void packetsHaveWhatTheEncodingLeaves() {
        assertThat(StaticRate.GBPS_2_5.packetBitsPerSecond()).isEqualTo(2_000_000_000L);
        assertThat(StaticRate.GBPS_40.packetBitsPerSecond()).isEqualTo(32_000_000_000L);
        assertThat(StaticRate.GBPS_100.packetBitsPerSecond()).isEqualTo(100_000_000_000L);
        assertThat(StaticRate.PORT.packetBitsPerSecond()).isZero();
    }
}
