package verbena.netty;

import io.netty.channel.IoHandle;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// What a [VerbenaIoHandler] serves, in the thread of its event loop.
interface StreamHandle extends IoHandle {
    /// Those of the operations that are possible now. When there is none, the registration is poked after there may
    /// be one.
    int readyOps(int interestOps);

    /// The stream, once there is one.
    @Nullable
    StreamChannel stream();

    /// Closes the channel.
    @Override
    void close();
}
