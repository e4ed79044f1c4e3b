package verbena.interop;

import java.util.Optional;

/// The conditions of a run: the ends with the agent, the device, and whether the server is killed in the middle.
///
/// @param what for people
/// @param device as `verbena.nio.device` names it; empty for the nearest, which is `shm` on one host
/// @param isKilled the server is killed when the client is halfway
/// @param beginsByTcp connections begin by TCP and move, as the agent does it by default
record Scene(
        String what,
        boolean serverHasAgent,
        boolean clientHasAgent,
        Optional<String> device,
        boolean isKilled,
        boolean beginsByTcp) {
    static Scene over(String device) {
        return new Scene(
                device,
                true,
                true,
                device.equals("shm") ? Optional.empty() : Optional.of(device + "@127.0.0.1"),
                false,
                false);
    }

    /// Returns a scene with the JDK's own channels at both ends.
    static Scene plain() {
        return new Scene("JDK NIO", false, false, Optional.empty(), false, false);
    }

    /// Returns a scene with the agent as it is by default.
    static Scene moving() {
        return new Scene("the agent", true, true, Optional.empty(), false, true);
    }

    /// Returns a scene over a network that loses packets.
    static Scene lossy() {
        return new Scene(
                "rocev2, 1 % lost", true, true, Optional.of("rocev2@127.0.0.1,faults=loss:1%,seed:7"), false, false);
    }

    static Scene killed() {
        return new Scene("shm, server killed", true, true, Optional.empty(), true, false);
    }

    static Scene clientOnly() {
        return new Scene("client only", false, true, Optional.empty(), false, false);
    }

    static Scene serverOnly() {
        return new Scene("server only", true, false, Optional.empty(), false, false);
    }

    /// Returns whether all bytes go by RDMA: both ends have the agent, from the first byte on.
    boolean isByRdma() {
        return serverHasAgent && clientHasAgent && !beginsByTcp;
    }
}
