package dev.verbena.spark;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;

/// What a user has chosen, with `spark.verbena.*` and with settings of Spark that concern the shuffle.
///
/// @param devices names in order of nearness, as `verbena.verbs.Device` has them; see [#DEVICES]
/// @param memoryBytes that map outputs of an executor may fill
/// @param tableSlots map outputs that the table of an executor has room for, a power of two
/// @param isProofRequired whether a device is left out whose connections cannot prove the application's secret
/// @param isEncrypted whether what crosses the network has to be encrypted, and map outputs are not encrypted
/// themselves
record Settings(List<String> devices, long memoryBytes, int tableSlots, boolean isProofRequired, boolean isEncrypted) {
    /// Devices, separated by semicolons. `auto` is the system's device that has the executor's address, or else
    /// `rocev2` there.
    static final String DEVICES = "spark.verbena.devices";

    static final String MEMORY = "spark.verbena.memory";
    static final String PROOF = "spark.verbena.proofRequired";
    static final String SLOTS = "spark.verbena.tableSlots";

    private static final String IO_PLUGIN = "spark.shuffle.sort.io.plugin.class";
    private static final String HOST_LOCAL = "spark.shuffle.readHostLocalDisk";
    private static final int SLOTS_MAX = 1 << 22;

    /// Checks the settings, and sets those of Spark that follow from the choice of this manager.
    ///
    /// @throws IllegalArgumentException when two settings contradict each other; names them
    static SparkConf prepare(SparkConf conf) {
        refuse(
                conf,
                "spark.shuffle.service.enabled",
                "map outputs are in memory of executors, which that service cannot see");
        refuse(conf, "spark.shuffle.push.enabled", "map outputs are read where they are, and not pushed");
        String plugin = conf.get(IO_PLUGIN, VerbenaDataIO.class.getName());
        if (!plugin.equals(VerbenaDataIO.class.getName())) {
            throw new IllegalArgumentException(IO_PLUGIN + ": not with " + VerbenaShuffleManager.class.getName()
                    + ", which stores map outputs itself; got " + plugin);
        }
        conf.set(IO_PLUGIN, plugin);
        conf.set(HOST_LOCAL, "false"); // Spark would look for files of the host's other executors
        return conf;
    }

    private static void refuse(SparkConf conf, String setting, String why) {
        if (conf.getBoolean(setting, false)) {
            throw new IllegalArgumentException(
                    setting + ": false with " + VerbenaShuffleManager.class.getName() + ", because " + why);
        }
    }

    /// @throws IllegalArgumentException when a setting has no sense; names it
    static Settings of(SparkConf conf) {
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
