package verbena.interop;

/// A system that is tried.
///
/// @param name by which it is chosen
/// @param version of the system
/// @param exercise class of its [SystemUnderTest]
/// @param classPath of its processes
/// @param carrier what carries its bytes by RDMA
/// @param isTriedBadly that it also runs with the agent at one end, with a server that is killed, and with loss
record Subject(String name, String version, String exercise, String classPath, Carrier carrier, boolean isTriedBadly) {
    /// What is between a system and RDMA.
    enum Carrier {
        /// The system knows nothing of Verbena.
        AGENT,
        /// The system uses a transport of Verbena's, and there is no way by TCP.
        TRANSPORT
    }
}
