package verbena.sim.ethernet;

import verbena.transport.congestion.CongestionControl;

/// No rule but a limit: so many packets under way, whatever happens.
record ConstantWindow(int limit) implements CongestionControl {}
