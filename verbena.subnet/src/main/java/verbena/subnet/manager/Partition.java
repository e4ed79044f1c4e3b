package verbena.subnet.manager;

import java.util.Map;

/// A partition: ports that may communicate with one another.
///
/// @param pkey 15 bits
/// @param members by GUID of the port, whether it is a full member
/// @param everyone whether all ports that are not named are full members
public record Partition(int pkey, Map<Long, Boolean> members, boolean everyone) {
    /// The default partition, which everyone is a full member of.
    public static final Partition DEFAULT = new Partition(0x7FFF, Map.of(), true);

    public Partition {
        if (pkey < 1 || pkey > 0x7FFF) {
            throw new IllegalArgumentException("pkey: 1 to 0x7FFF, got " + pkey);
        }
        members = Map.copyOf(members);
    }

    /// Returns the P_Key of a port, with the bit of full members; 0 when it is no member.
    int pkeyOf(long guid) {
        Boolean full = members.get(guid);
        if (full == null) {
            return everyone ? pkey | 0x8000 : 0;
        }
        return full ? pkey | 0x8000 : pkey;
    }
}
