package verbena.interop;

/// A system under test.
///
/// @param name by which it is chosen
/// @param version of the system
/// @param exercise class of its [SystemUnderTest]
/// @param classPath of its processes
/// @param carrier what carries its bytes by RDMA
/// @param isTriedBadly that it also runs with the agent at one end, with a server that is killed, and with loss
record Subject(String name, String version, String exercise, String classPath, Carrier carrier, boolean isTriedBadly) {
    /// The layer between a system and RDMA.
    enum Carrier {
        /// The agent: the system knows nothing of Verbena.
        AGENT,
        /// A transport of Verbena's, which the system uses; it has no connections by TCP.
        TRANSPORT
    }
}
