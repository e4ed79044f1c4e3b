package verbena.interop.hazelcast;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;

/// Two members of Hazelcast, one in each process, with a map whose entries both keep.
public final class HazelcastMembers implements SystemUnderTest {
    private static final String MAP = "entries";
    private static final int VALUE = 1_000;

    /// Made by its name.
    public HazelcastMembers() {}

    private static HazelcastInstance member(int port, String join) {
        var config = new Config("verbena");
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.logging.type", "jdk");
        config.setProperty("hazelcast.socket.bind.any", "false");
        config.getNetworkConfig().setPort(port).setPortAutoIncrement(false);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        JoinConfig joining = config.getNetworkConfig().getJoin();
        joining.getAutoDetectionConfig().setEnabled(false);
        joining.getMulticastConfig().setEnabled(false);
        joining.getTcpIpConfig().setEnabled(true).addMember(join);
        config.getMapConfig(MAP).setBackupCount(1);
        return Hazelcast.newHazelcastInstance(config);
    }

    @Override
    public Serving serve(Job job) throws Exception {
        HazelcastInstance member = member(0, "127.0.0.1");
        int port = member.getCluster().getLocalMember().getAddress().getPort();
        return new Serving(port, member::shutdown);
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int entries = job.size(2_000, 50_000);
        HazelcastInstance member = member(0, "127.0.0.1:" + server.getPort());
        try {
            Job.same(2, member.getCluster().getMembers().size(), "the number of members");
            IMap<Integer, byte[]> map = member.getMap(MAP);
            Map<Integer, byte[]> some = new HashMap<>();
            for (int i = 0; i < entries; i++) {
                map.set(i, Job.pattern(VALUE, i));
            }
            job.halfway();
            for (int i = 0; i < entries; i++) {
                Job.same(Job.pattern(VALUE, i), map.get(i), "entry " + i);
                if (i % 10 == 0) {
                    some.put(i, Job.pattern(VALUE, -i));
                }
            }
            map.putAll(some);
            Map<Integer, byte[]> found = map.getAll(some.keySet());
            some.forEach((key, value) -> Job.same(value, found.get(key), "entry " + key + ", changed"));
            Job.same(entries, map.size(), "the number of entries");
        } finally {
            member.shutdown();
        }
        return "2 members, " + entries + " entries of 1 kB with a backup, each compared";
    }
}
