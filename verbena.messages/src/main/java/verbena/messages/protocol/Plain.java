package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;

/// A message that no program waits for.
class Plain extends Outgoing {
    Plain(Kind kind, long tag, MemorySegment data) {
        super(kind, tag, data);
    }

    @Override
    public void done() {}

    @Override
    public void failed(String why) {}
}
