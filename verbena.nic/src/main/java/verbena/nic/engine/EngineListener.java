package verbena.nic.engine;

import verbena.transport.PacketFate;

/// The receiver of an engine's reports to its device. The engine's owner calls it and does not go on meanwhile.
public interface EngineListener {
    /// Called once, when the engine cannot go on.
    void onFailure(Throwable cause);

    /// Called when the code of one queue pair, or a command that no thread waits for, has failed. The
    /// engine goes on.
    void onContained(Throwable cause);

    /// Called when a peer guesses queue pair numbers or keys; at most every 10 s.
    ///
    /// @param last the fate of the packet that settled the suspicion
    /// @param sourceHigh upper half of the GID that this packet came from, or claims to come from
    /// @param sourceLow its lower half
    void onSearch(PacketFate last, long sourceHigh, long sourceLow);
}
