package verbena.netty;

import io.netty.channel.IoHandle;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// A handle that a [VerbenaIoHandler] serves, in the thread of its event loop.
interface StreamHandle extends IoHandle {
    /// Returns the operations among these that are possible now. When there is none, the registration is poked
    /// after one may have become possible.
    int readyOps(int interestOps);

    /// Returns the stream, once there is a stream.
    @Nullable
    StreamChannel stream();

    /// Closes the channel.
    @Override
    void close();
}
