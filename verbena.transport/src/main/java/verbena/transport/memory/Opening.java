package verbena.transport.memory;

import java.lang.foreign.MemorySegment;

/// What a key opens to a queue pair's peer.
///
/// @param address of the first byte, as requests name it
/// @param access bits of [verbena.verbs.Access]: the remote rights
/// @param memory the whole memory that the key opens
public record Opening(long address, int access, MemorySegment memory) {}
