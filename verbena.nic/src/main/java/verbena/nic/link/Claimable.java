package verbena.nic.link;

/// A link with something that only one link at a time can use.
public interface Claimable {
    /// Claims it, before the first queue pair is there. Nothing arrives before that, so any number of processes may
    /// have
    /// a device open. Does nothing when it was claimed already. Any thread.
    ///
    /// @throws LinkException when another link has it
    void claim();
}
