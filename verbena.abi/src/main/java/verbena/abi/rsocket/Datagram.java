package verbena.abi.rsocket;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// One that an rsocket has received and the program has not read.
///
/// @param queue whose slot the data are in; null for those that came by UDP
record Datagram(
        InetSocketAddress from,
        MemorySegment data,
        @Nullable DatagramQueue queue,
        int slot) {
    void release() {
        if (queue != null) {
            queue.release(slot);
        }
    }
}
