package verbena.tools.fabric;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import verbena.subnet.fabric.ChannelAdapter;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.manager.Partition;
import verbena.tools.kit.ToolCommand;

/// The text of `--partition`: `0x11=a,b:limited`.
final class PartitionText {
    private static final String ALL = "all";
    private static final String LIMITED = "limited";
    private static final int MOST = 31;

    private PartitionText() {}

    /// Reads the partitions, and returns them with the default one first.
    static List<Partition> read(List<String> texts, Fabric fabric, ToolCommand command) {
        var partitions = new ArrayList<Partition>();
        for (String text : texts) {
            Partition partition = read(text, fabric, command);
            if (partitions.stream().anyMatch(other -> other.pkey() == partition.pkey())) {
                throw command.wrong("--partition: 0x%x is there twice".formatted(partition.pkey()));
            }
            partitions.add(partition.pkey() == Partition.DEFAULT.pkey() ? 0 : partitions.size(), partition);
        }
        if (partitions.isEmpty() || partitions.getFirst().pkey() != Partition.DEFAULT.pkey()) {
            partitions.addFirst(Partition.DEFAULT);
        }
        if (partitions.size() > MOST) {
            throw command.wrong("--partition: at most " + (MOST - 1) + " beside the default one");
        }
        return partitions;
    }

    private static Partition read(String text, Fabric fabric, ToolCommand command) {
        String[] halves = text.split("=", 2);
        if (halves.length != 2 || halves[1].isEmpty()) {
            throw command.wrong("--partition: PKEY=NODE[:limited],... expected, got " + text);
        }
        Map<Long, Boolean> members = new HashMap<>();
        boolean isForAll = false;
        for (String member : halves[1].split(",", -1)) {
            String[] words = member.split(":", 2);
            boolean isFull = words.length == 1;
            if (!isFull && !words[1].equals(LIMITED)) {
                throw command.wrong("--partition: a member is NODE or NODE:limited, got " + member);
            }
            if (words[0].equals(ALL) && isFull) {
                isForAll = true;
            } else {
                members.put(guid(words[0], fabric, command), isFull);
            }
        }
        return new Partition(pkey(halves[0], command), members, isForAll);
    }

    private static int pkey(String text, ToolCommand command) {
        if (!text.matches("0x[0-9a-fA-F]{1,4}")) {
            throw command.wrong("--partition: a P_Key is 0x and 1 to 4 digits, got " + text);
        }
        int pkey = Integer.parseInt(text.substring(2), 16) & 0x7FFF;
        if (pkey == 0) {
            throw command.wrong("--partition: 0x1 to 0x7fff, got " + text);
        }
        return pkey;
    }

    private static long guid(String name, Fabric fabric, ToolCommand command) {
        for (ChannelAdapter adapter : fabric.adapters()) {
            if (adapter.name().equals(name)) {
                return adapter.info().guid();
            }
        }
        throw command.wrong("--partition: there is no adapter " + name);
    }
}
