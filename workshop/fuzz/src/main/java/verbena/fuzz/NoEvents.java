package verbena.fuzz;

import verbena.transport.QueuePairEvents;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;

/// No program is told of events and states.
record NoEvents() implements QueuePairEvents {
    @Override
    public void onAsyncEvent(AsyncEvent.Type type) {}

    @Override
    public void onState(QpState state) {}
}
