package verbena.verbs;

import java.util.Set;

/// The abilities and limits of a device (`struct ibv_device_attr`, ibv_query_device(3)), in groups. A limit of 0
/// means that the device does not have such objects. Immutable.
///
/// @param identity its maker, and its own numbers
/// @param queues limits of queue pairs, completion queues and shared receive queues
/// @param memory limits of memory regions and windows
/// @param transport limits of the requests between two queue pairs
/// @param datagrams limits of address handles and multicast groups
/// @param clock the clock of time stamps
/// @param physicalPorts number of ports; they count from 1
/// @param maxPkeys P_Keys of each port
/// @param capabilities what it can do beyond its numbers; [#has] asks for one
/// @since 0.1
public record DeviceAttributes(
        Identity identity,
        QueueLimits queues,
        MemoryLimits memory,
        TransportLimits transport,
        DatagramLimits datagrams,
        Clock clock,
        int physicalPorts,
        int maxPkeys,
        Set<Capability> capabilities) {
    @Preview
    public DeviceAttributes {
        capabilities = Set.copyOf(capabilities);
    }

    /// The maker of a device, and its own numbers.
    ///
    /// @param firmwareVersion version of the firmware, in the vendor's form
    /// @param nodeGuid EUI-64 of the device, as a number in the order of the digits
    /// @param systemImageGuid EUI-64 of the system that the device is part of; devices of one card share it
    /// @param vendorId the vendor's number, by IEEE
    /// @param vendorPartId the vendor's number of the kind of device; 0 when it has none
    /// @param hardwareVersion the vendor's number of the version of the hardware; 0 when it has none
    public record Identity(
            String firmwareVersion,
            long nodeGuid,
            long systemImageGuid,
            int vendorId,
            int vendorPartId,
            int hardwareVersion) {
        @Preview
        public Identity {}
    }

    /// The limits of queues.
    ///
    /// @param maxQp queue pairs at once
    /// @param maxQpWr requests that can be outstanding on a send or receive queue
    /// @param maxSge scatter or gather entries of a request that is no READ
    /// @param maxSgeRead scatter entries of a READ
    /// @param maxInlineBytes bytes that a send request can carry in itself
    /// @param maxCq completion queues at once
    /// @param maxCqe entries of a completion queue
    /// @param maxSrq shared receive queues at once
    /// @param maxSrqWr receives that can be outstanding on a shared receive queue
    /// @param maxSrqSge scatter entries of a receive of a shared receive queue
    public record QueueLimits(
            int maxQp,
            int maxQpWr,
            int maxSge,
            int maxSgeRead,
            int maxInlineBytes,
            int maxCq,
            int maxCqe,
            int maxSrq,
            int maxSrqWr,
            int maxSrqSge) {
        @Preview
        public QueueLimits {}
    }

    /// The limits of memory.
    ///
    /// @param maxPd protection domains at once
    /// @param maxMr memory regions at once
    /// @param maxMw memory windows at once
    /// @param maxMemoryRegionBytes largest [MemoryRegion]; `Long.MAX_VALUE` without limit
    /// @param maxDeviceMemoryBytes largest [DeviceMemory], in bytes
    /// @param pageSizeCapability page sizes that the device can use: bit n stands for 2^n bytes
    /// @param onDemandPaging the uses of memory on demand; [OnDemandPaging#NONE] without
    ///     [Capability#ON_DEMAND_PAGING]
    public record MemoryLimits(
            int maxPd,
            int maxMr,
            int maxMw,
            long maxMemoryRegionBytes,
            long maxDeviceMemoryBytes,
            long pageSizeCapability,
            OnDemandPaging onDemandPaging) {
        @Preview
        public MemoryLimits {}
    }

    /// The limits of requests between two queue pairs.
    ///
    /// @param maxMessageBytes longest message, in bytes; a port may have less
    ///     ([PortAttributes#maxMessageBytes()])
    /// @param maxQpReadAtomic READs and atomics of the peer that a queue pair serves at once
    /// @param maxResponderReadAtomic READs and atomics of peers that the device serves at once, of all its queue
    ///     pairs
    /// @param maxQpInitiatorReadAtomic READs and atomics that a queue pair can have outstanding
    /// @param atomicCapability scope within which the device's atomics are atomic
    /// @param localAckDelay longest delay of an ACK in the device, as a code n: `4.096 µs × 2^n`
    public record TransportLimits(
            long maxMessageBytes,
            int maxQpReadAtomic,
            int maxResponderReadAtomic,
            int maxQpInitiatorReadAtomic,
            AtomicCapability atomicCapability,
            int localAckDelay) {
        @Preview
        public TransportLimits {}
    }

    /// The limits of datagrams.
    ///
    /// @param maxAh address handles at once
    /// @param maxMulticastGroups multicast groups that queue pairs can be attached to
    /// @param maxMulticastQpAttach queue pairs that can be attached to one group
    /// @param maxTotalMulticastQpAttach queue pairs that can be attached to groups, each counted once for each
    ///     of its groups
    public record DatagramLimits(
            int maxAh, int maxMulticastGroups, int maxMulticastQpAttach, int maxTotalMulticastQpAttach) {
        @Preview
        public DatagramLimits {}
    }

    /// The clock of time stamps.
    ///
    /// @param timestampMask the bits of [WorkCompletion#timestamp()] that count: the time between two of them is
    ///     `(later - earlier) & timestampMask` ticks
    /// @param timestampKilohertz ticks of that clock in a millisecond; 0 when the device does not report it
    public record Clock(long timestampMask, long timestampKilohertz) {
        @Preview
        public Clock {}

        /// No clock.
        public static final Clock NONE = new Clock(0, 0);
    }

    /// Returns whether the device has this ability.
    public boolean has(Capability capability) {
        return capabilities.contains(capability);
    }
}
