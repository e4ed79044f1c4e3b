package verbena.transport.memory;

import java.lang.foreign.MemorySegment;

/// The memory and the rights that a key opens to a queue pair's peer.
///
/// @param address of the first byte, as requests name it
/// @param access bits of [verbena.verbs.Access]: the remote rights
/// @param memory the whole memory that the key opens
/// @param region key of the region that it is a part of
public record Opening(long address, int access, MemorySegment memory, int region) {}
