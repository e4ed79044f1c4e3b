package verbena.interop;

import java.util.Optional;

/// The conditions of a run: the ends with the agent, the device, and whether the server is killed in the middle.
///
/// @param what for people
/// @param device as `verbena.nio.device` names it; empty for the nearest, which is `shm` on one host
/// @param isKilled the server is killed when the client is halfway
record Scene(String what, boolean serverHasAgent, boolean clientHasAgent, Optional<String> device, boolean isKilled) {
    static Scene over(String device) {
        return new Scene(
                device,
                true,
                true,
                device.equals("shm") ? Optional.empty() : Optional.of(device + "@127.0.0.1"),
                false);
    }

    /// Returns a scene with the JDK's own channels at both ends.
    static Scene plain() {
        return new Scene("JDK NIO", false, false, Optional.empty(), false);
    }

    /// Returns a scene over a network that loses packets.
    static Scene lossy() {
        return new Scene("rocev2, 1 % lost", true, true, Optional.of("rocev2@127.0.0.1,faults=loss:1%,seed:7"), false);
    }

    static Scene killed() {
        return new Scene("shm, server killed", true, true, Optional.empty(), true);
    }

    static Scene clientOnly() {
        return new Scene("client only", false, true, Optional.empty(), false);
    }

    static Scene serverOnly() {
        return new Scene("server only", true, false, Optional.empty(), false);
    }

    /// Returns whether the bytes go by RDMA: both ends have the agent.
    boolean isByRdma() {
        return serverHasAgent && clientHasAgent;
    }
}
