package verbena.spark.device;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;

/// The choices of a user, with `spark.verbena.*` and with settings of Spark that concern the shuffle.
///
/// @param devices names in order of nearness, as `verbena.verbs.Device` has them; see [#DEVICES]
/// @param memoryBytes that map outputs of an executor may fill
/// @param tableSlots map outputs that the table of an executor has room for, a power of two
/// @param isProofRequired whether a device is left out whose connections cannot prove the application's secret
/// @param isEncrypted whether what crosses the network has to be encrypted, and map outputs are not encrypted
/// themselves
public record Settings(
        List<String> devices, long memoryBytes, int tableSlots, boolean isProofRequired, boolean isEncrypted) {
    /// Devices, separated by semicolons. `auto` is the system's device that has the executor's address, or else
    /// `rocev2` there.
    public static final String DEVICES = "spark.verbena.devices";

    public static final String MEMORY = "spark.verbena.memory";
    public static final String PROOF = "spark.verbena.proofRequired";
    static final String SLOTS = "spark.verbena.tableSlots";

    private static final int SLOTS_MAX = 1 << 22;

    /// Reads the settings of a job.
    ///
    /// @throws IllegalArgumentException when a setting has no sense; names it
    public static Settings of(SparkConf conf) {
        List<String> devices = Arrays.stream(conf.get(DEVICES, "shm;auto").split(";"))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .toList();
        if (devices.size() > MapOutputTable.DOORS_MAX) {
            throw new IllegalArgumentException(
                    DEVICES + ": at most " + MapOutputTable.DOORS_MAX + " devices, got " + devices);
        }
        long memory = conf.getSizeAsBytes(MEMORY, "1g");
        int slots = conf.getInt(SLOTS, 16_384);
        if (slots < MapOutputTable.BUCKET_SLOTS || slots > SLOTS_MAX || Integer.bitCount(slots) != 1) {
            throw new IllegalArgumentException(SLOTS + ": a power of two from " + MapOutputTable.BUCKET_SLOTS + " to "
                    + SLOTS_MAX + ", got " + slots);
        }
        boolean wanted = conf.getBoolean("spark.network.crypto.enabled", false)
                || conf.getBoolean("spark.authenticate.enableSaslEncryption", false)
                || conf.getBoolean("spark.ssl.rpc.enabled", false);
        boolean proof = conf.getBoolean(PROOF, true);
        return new Settings(
                devices, memory, slots, proof, wanted && !conf.getBoolean("spark.io.encryption.enabled", false));
    }
}
