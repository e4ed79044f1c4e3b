package verbena.nic.kind;

/// A driver whose queue pair gets frames by flows. For the engine's owner.
public interface FlowTarget {
    /// Begins to take the frames that fit.
    ///
    /// @throws verbena.verbs.DeviceException when the interface cannot deliver any
    void add(FrameFlow flow);

    /// Takes no more frames by this flow.
    void remove(FrameFlow flow);
}
