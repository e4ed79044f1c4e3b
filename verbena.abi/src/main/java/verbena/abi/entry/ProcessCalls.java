package verbena.abi.entry;

import verbena.abi.Handles;
import verbena.abi.cm.IdHandle;
import verbena.abi.rsocket.RsocketIds;
import verbena.abi.rsocket.RsocketPoll;
import verbena.abi.rsocket.Rsockets;
import verbena.abi.verbs.ChannelHandle;
import verbena.verbs.VerbsException;
import verbena.verbs.internal.Providers;

/// The calls about a thread or the process as a whole.
final class ProcessCalls {
    private ProcessCalls() {}

    /// Ends the lead of a thread that was to poll and will not come again.
    static long endVisit() {
        ChannelHandle.endVisit();
        RsocketPoll.end();
        return 0;
    }

    /// Ends the connections that the program leaves open when it ends, so that their peers need not wait for a
    /// time-out.
    static long leave() {
        RsocketIds.leave();
        Rsockets.leave();
        for (IdHandle each : Handles.all(IdHandle.class)) {
            try {
                each.id.disconnect();
            } catch (VerbsException e) {
                // was not connected
            }
        }
        Providers.printFindings();
        return 0;
    }
}
