package verbena.verbs;

/// A part of a region.
record MemorySlice(MemoryRegion region, long offset, long length) implements LocalMemory {}
