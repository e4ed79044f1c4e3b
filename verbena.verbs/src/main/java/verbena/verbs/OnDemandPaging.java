package verbena.verbs;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/// The abilities of a device with memory on demand ([Access#ON_DEMAND]): its uses, by type of queue pair
/// (`struct ibv_odp_caps`, ibv_query_device_ex(3)). Immutable.
///
/// @param hasAddressSpace whether the whole address space can be a region ([ProtectionDomain#registerAddressSpace])
/// @param byType the uses of such memory for each type of queue pair; a type without any is not in it.
///     [QpType#XRC_INITIATOR] and [QpType#XRC_TARGET] have the same.
/// @since 0.1
public record OnDemandPaging(boolean hasAddressSpace, Map<QpType, Set<Use>> byType) {
    /// The uses of memory (`enum ibv_odp_transport_cap_bits`).
    public enum Use {
        /// The source of a SEND.
        SEND,
        /// The destination of a receive of the queue pair's own.
        RECEIVE,
        /// Either end of a WRITE.
        WRITE,
        /// Either end of a READ.
        READ,
        /// The target of an atomic, and the place of its result.
        ATOMIC,
        /// The destination of a receive of a [SharedReceiveQueue].
        SHARED_RECEIVE,
        /// The target of a FLUSH.
        FLUSH,
        /// The target of an ATOMIC WRITE.
        ATOMIC_WRITE;

        /// Returns the bit of `enum ibv_odp_transport_cap_bits`.
        public int bit() {
            return 1 << ordinal();
        }

        /// Returns the bits of a set.
        public static int bits(Set<Use> uses) {
            return uses.stream().mapToInt(Use::bit).reduce(0, (a, b) -> a | b);
        }

        /// Returns the set that has these bits; bits without a name here are left out.
        public static Set<Use> ofBits(int bits) {
            var set = EnumSet.noneOf(Use.class);
            for (Use use : values()) {
                if ((bits & use.bit()) != 0) {
                    set.add(use);
                }
            }
            return set;
        }
    }

    /// The abilities of a device without memory on demand.
    public static final OnDemandPaging NONE = new OnDemandPaging(false, Map.of());

    public OnDemandPaging {
        var copy = new EnumMap<QpType, Set<Use>>(QpType.class);
        byType.forEach((type, uses) -> {
            if (!uses.isEmpty()) {
                copy.put(type, Collections.unmodifiableSet(EnumSet.copyOf(uses)));
            }
        });
        byType = Collections.unmodifiableMap(copy);
    }

    /// Returns the uses of a queue pair's type; empty when it has none.
    public Set<Use> uses(QpType type) {
        return byType.getOrDefault(type, Set.of());
    }
}
