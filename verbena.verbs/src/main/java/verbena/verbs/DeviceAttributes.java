package verbena.verbs;

import java.util.Set;

/// The abilities and limits of a device (`struct ibv_device_attr`, ibv_query_device(3)). A limit of 0 means that the
/// device does not have such objects. Immutable.
///
/// @param pageSizeCapability page sizes that the device can use: bit n stands for 2^n bytes
/// @param localAckDelay longest delay of an ACK in the device, as a code n: `4.096 µs × 2^n`
/// @param maxDeviceMemoryBytes largest [DeviceMemory]
/// @param timestampMask the bits of [WorkCompletion#timestamp()] that count: the time between two of them is `(later
///     - earlier) & timestampMask` ticks
/// @param timestampKilohertz ticks of that clock in a millisecond; 0 when the device does not report it
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
    public DeviceAttributes {
        capabilities = Set.copyOf(capabilities);
    }

    /// Returns whether the device has this ability.
    public boolean has(Capability capability) {
        return capabilities.contains(capability);
    }
}
