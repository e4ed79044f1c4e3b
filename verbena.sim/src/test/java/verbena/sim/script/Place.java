package verbena.sim.script;

/// A byte of a region.
record Place(Area area, long offset) {
    /// By which requests name it.
    long address() {
        return area.region.iova() + offset;
    }
}
