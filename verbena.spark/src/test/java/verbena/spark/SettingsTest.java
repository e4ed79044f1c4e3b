package verbena.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.spark.device.Settings;

class SettingsTest {
    private final SparkConf conf = new SparkConf(false);

    @Test
    void theDefaultsAreSharedMemoryAndTheNetworksDevice() {
        Settings settings = Settings.of(VerbenaShuffleManager.prepare(conf));
        assertThat(settings.devices()).containsExactly("shm", "auto");
        assertThat(settings.memoryBytes()).isEqualTo(1L << 30);
        assertThat(settings.isEncrypted()).isFalse();
        assertThat(conf.get("spark.shuffle.readHostLocalDisk")).isEqualTo("false");
        assertThat(conf.get("spark.shuffle.sort.io.plugin.class")).isEqualTo(VerbenaDataIO.class.getName());
    }

    @ParameterizedTest
    @CsvSource({
        "spark.shuffle.service.enabled, true",
        "spark.shuffle.push.enabled, true",
        "spark.shuffle.sort.io.plugin.class, org.example.Other",
    })
    void whatCannotBeTogetherIsRefusedByName(String setting, String value) {
        conf.set(setting, value);
        assertThatThrownBy(() -> VerbenaShuffleManager.prepare(conf))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(setting);
    }

    @ParameterizedTest
    @CsvSource({"spark.verbena.devices, a;b;c", "spark.verbena.tableSlots, 1000", "spark.verbena.tableSlots, 1"})
    void aSettingWithoutSenseIsRefusedByName(String setting, String value) {
        conf.set(setting, value);
        assertThatThrownBy(() -> Settings.of(conf))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(setting);
    }

    @Test
    void encryptedTrafficNeedsEncryptedMapOutputs() {
        conf.set("spark.network.crypto.enabled", "true");
        assertThat(Settings.of(conf).isEncrypted()).isTrue();
        conf.set("spark.io.encryption.enabled", "true");
        assertThat(Settings.of(conf).isEncrypted()).isFalse();
    }
}
