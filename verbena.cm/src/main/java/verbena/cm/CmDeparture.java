package verbena.cm;

import verbena.wire.cm.CmMessage;

/// A message on its way out of a [CommunicationManager].
public record CmDeparture(CmRoute route, CmMessage message) {}
