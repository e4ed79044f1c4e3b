package verbena.fuzz;

import verbena.transport.QueuePairEvents;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;

/// Events and states of which no program learns.
record NoEvents() implements QueuePairEvents {
    @Override
    public void onAsyncEvent(AsyncEvent.Type type) {}

    @Override
    public void onState(QpState state) {}
}
