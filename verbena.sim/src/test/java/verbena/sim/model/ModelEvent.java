package verbena.sim.model;

import verbena.verbs.AsyncEvent;

/// An asynchronous event (IBTA 11.6.3, ibv_get_async_event(3)).
///
/// @param about the queue pair, completion queue or shared receive queue
public record ModelEvent(AsyncEvent.Type type, ModelObject about) {}
