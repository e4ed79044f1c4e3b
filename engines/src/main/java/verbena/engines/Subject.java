package verbena.engines;

import java.util.List;

/// A system that is tried.
///
/// @param name by which it is chosen
/// @param version of the system
/// @param engine class of its [Engine]
/// @param classPath of its processes
/// @param options of its JVMs
/// @param isTriedBadly that it also runs with the agent at one end, with a server that is killed, and with loss
record Subject(
        String name, String version, String engine, String classPath, List<String> options, boolean isTriedBadly) {}
