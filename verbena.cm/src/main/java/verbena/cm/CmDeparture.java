package verbena.cm;

import verbena.wire.cm.CmMessage;

/// A message that leaves a [CommunicationManager].
public record CmDeparture(CmRoute route, CmMessage message) {}
