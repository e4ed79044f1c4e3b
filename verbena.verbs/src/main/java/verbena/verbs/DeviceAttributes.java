package verbena.verbs;

import java.util.Set;

/// The abilities and limits of a device (`struct ibv_device_attr`, ibv_query_device(3)). A limit of 0 means that the
/// device does not have such objects. Immutable.
///
/// @param firmwareVersion version of the firmware, in the vendor's form
/// @param nodeGuid EUI-64 of the device, as a number in the order of the digits
/// @param systemImageGuid EUI-64 of the system that the device is part of; devices of one card share it
/// @param maxMemoryRegionBytes largest [MemoryRegion]; `Long.MAX_VALUE` without limit
/// @param pageSizeCapability page sizes that the device can use: bit n stands for 2^n bytes
/// @param vendorId the vendor's number, by IEEE
/// @param vendorPartId the vendor's number of the kind of device; 0 when it has none
/// @param hardwareVersion the vendor's number of the version of the hardware; 0 when it has none
/// @param maxQp queue pairs at once
/// @param maxQpWr requests that can be outstanding on a send or receive queue
/// @param maxSge scatter or gather entries of a request that is no READ
/// @param maxSgeRead scatter entries of a READ
/// @param maxInlineBytes bytes that a send request can carry in itself
/// @param maxCq completion queues at once
/// @param maxCqe entries of a completion queue
/// @param maxMr memory regions at once
/// @param maxPd protection domains at once
/// @param maxQpReadAtomic READs and atomics of the peer that a queue pair serves at once
/// @param maxResponderReadAtomic READs and atomics of peers that the device serves at once, of all its queue pairs
/// @param maxQpInitiatorReadAtomic READs and atomics that a queue pair can have outstanding
/// @param atomicCapability scope within which the device's atomics are atomic
/// @param maxMw memory windows at once
/// @param maxMulticastGroups multicast groups that queue pairs can be attached to
/// @param maxMulticastQpAttach queue pairs that can be attached to one group
/// @param maxTotalMulticastQpAttach queue pairs that can be attached to groups, each counted once for each of its
///     groups
/// @param maxAh address handles at once
/// @param maxSrq shared receive queues at once
/// @param maxSrqWr receives that can be outstanding on a shared receive queue
/// @param maxSrqSge scatter entries of a receive of a shared receive queue
/// @param maxPkeys P_Keys of each port
/// @param localAckDelay longest delay of an ACK in the device, as a code n: `4.096 µs × 2^n`
/// @param physicalPorts number of ports; they count from 1
/// @param maxMessageBytes longest message, in bytes; a port may have less ([PortAttributes#maxMessageBytes()])
/// @param maxDeviceMemoryBytes largest [DeviceMemory], in bytes
/// @param timestampMask the bits of [WorkCompletion#timestamp()] that count: the time between two of them is `(later
///     - earlier) & timestampMask` ticks
/// @param timestampKilohertz ticks of that clock in a millisecond; 0 when the device does not report it
/// @param capabilities what it can do beyond its numbers; [#has] asks for one
/// @param onDemandPaging the uses of memory on demand; [OnDemandPaging#NONE] without
///     [Capability#ON_DEMAND_PAGING]
/// @since 0.1
public record DeviceAttributes(
        String firmwareVersion,
        long nodeGuid,
        long systemImageGuid,
        long maxMemoryRegionBytes,
        long pageSizeCapability,
        int vendorId,
        int vendorPartId,
        int hardwareVersion,
        int maxQp,
        int maxQpWr,
        int maxSge,
        int maxSgeRead,
        int maxInlineBytes,
        int maxCq,
        int maxCqe,
        int maxMr,
        int maxPd,
        int maxQpReadAtomic,
        int maxResponderReadAtomic,
        int maxQpInitiatorReadAtomic,
        AtomicCapability atomicCapability,
        int maxMw,
        int maxMulticastGroups,
        int maxMulticastQpAttach,
        int maxTotalMulticastQpAttach,
        int maxAh,
        int maxSrq,
        int maxSrqWr,
        int maxSrqSge,
        int maxPkeys,
        int localAckDelay,
        int physicalPorts,
        long maxMessageBytes,
        long maxDeviceMemoryBytes,
        long timestampMask,
        long timestampKilohertz,
        Set<Capability> capabilities,
        OnDemandPaging onDemandPaging) {
    @Preview
    public DeviceAttributes {
        capabilities = Set.copyOf(capabilities);
    }

    /// Returns whether the device has this ability.
    public boolean has(Capability capability) {
        return capabilities.contains(capability);
    }
}
