package verbena.cm;

import verbena.verbs.Gid;

/// The two addresses between which management datagrams travel.
public record CmRoute(Gid local, Gid remote) {}
