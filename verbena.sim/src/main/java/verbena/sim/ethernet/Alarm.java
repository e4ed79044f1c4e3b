package verbena.sim.ethernet;

/// Something that happens at one moment of a [Calendar], and can be set again.
abstract class Alarm {
    /// The place in the calendar's heap, or -1.
    int index = -1;

    /// Called when its time has come.
    abstract void ring(long now);

    final boolean isSet() {
        return index >= 0;
    }
}
