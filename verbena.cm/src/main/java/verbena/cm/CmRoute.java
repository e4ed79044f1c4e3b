package verbena.cm;

import verbena.verbs.Gid;

/// Between whom management datagrams travel.
public record CmRoute(Gid local, Gid remote) {}
