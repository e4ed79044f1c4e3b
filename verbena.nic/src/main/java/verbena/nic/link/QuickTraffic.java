package verbena.nic.link;

/// Traffic of a [Link] beside frames, so near that a thread which polls moves it without a turn of the engine: no
/// clock is read, no queue pair sends, and no deadline is looked at. A link that has such traffic implements this.
public interface QuickTraffic {
    /// Returns whether a glance, much cheaper than [Link#receive], shows that nothing at all has arrived. What
    /// comes by rarer ways may be overlooked. Any thread.
    boolean seemsQuiet();

    /// Moves what has arrived and is no frame, and looks at nothing else; returns how much. [Link#move] does it
    /// too.
    ///
    /// @param about some time not long ago
    int moveAtOnce(long about);
}
