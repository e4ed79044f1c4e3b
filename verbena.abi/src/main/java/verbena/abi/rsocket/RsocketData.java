package verbena.abi.rsocket;

import verbena.abi.Errno;
import verbena.abi.Native;
import verbena.abi.rsocket.RsocketState.Phase;
import verbena.foreign.Memory;
import verbena.stream.protocol.ByteStream;

/// The bytes of an [Rsocket]: calls that send and receive them, and memory that the peer writes to. They answer as
/// those of sockets do. Safe for use by any thread.
final class RsocketData {
    private final RsocketState state;
    private final Attention attention;
    private final RsocketWaits waits;

    RsocketData(RsocketState state, Attention attention, RsocketWaits waits) {
        this.state = state;
        this.attention = attention;
        this.waits = waits;
    }

    /// Reads as many bytes as there are into the pieces of memory, one after the other. The call waits for the
    /// first byte, or for all.
    long receive(Pieces into, boolean isPeek, boolean wantsAll, boolean nonBlocking) {
        state.lock.lock();
        try {
            long answer = waits.awaitConnected(nonBlocking);
            ByteStream made = state.stream;
            if (answer != 0 || made == null || into.bytes() == 0) {
                return answer;
            }
            long done = 0;
            do {
                if (!waits.awaitBytes(made, nonBlocking)) {
                    return done > 0 ? done : Errno.EAGAIN;
                }
                if (state.phase == Phase.CLOSED) {
                    return done > 0 ? done : Errno.EBADF;
                }
                if (made.available() == 0) {
                    return done > 0 ? done : state.takeErrorOr(0);
                }
                done += into.forEach(
                        done, (at, length, before) -> made.receive(Memory.ALL, at, length, isPeek, before));
            } while (wantsAll && !isPeek && done < into.bytes());
            return done;
        } finally {
            attention.finish();
        }
    }

    /// Sends all of it; or as much as there is room for, when it may not wait.
    long send(Pieces from, boolean nonBlocking) {
        state.lock.lock();
        try {
            long answer = waits.awaitConnected(nonBlocking);
            ByteStream made = state.stream;
            if (answer != 0 || made == null) {
                return answer;
            }
            long done = 0;
            while (done < from.bytes()) {
                long refused = waits.awaitRoom(made, made::canSend, nonBlocking);
                if (refused != 0) {
                    return done > 0 ? done : refused;
                }
                done += made.send(from, done, from.bytes());
            }
            return done;
        } finally {
            attention.finish();
        }
    }

    /// Writes to memory that the peer has mapped: as much as is mapped there.
    long write(long from, long length, long offset, boolean nonBlocking) {
        state.lock.lock();
        try {
            long answer = waits.awaitConnected(nonBlocking);
            ByteStream made = state.stream;
            if (answer != 0 || made == null) {
                return answer;
            }
            long done = 0;
            while (done < length) {
                long refused = waits.awaitRoom(made, made::canWrite, nonBlocking);
                if (refused != 0) {
                    return done > 0 ? done : refused;
                }
                long written = made.mappings().write(Memory.ALL, from + done, length - done, offset + done);
                if (written < 0) {
                    return done;
                }
                done += written;
            }
            return done;
        } finally {
            attention.finish();
        }
    }

    long map(long address, long length, boolean isForPeer, long offset) {
        state.lock.lock();
        try {
            ByteStream made = state.stream;
            if (made == null || state.phase != Phase.CONNECTED) {
                return Errno.ENOTCONN;
            }
            long at = offset == -1 ? address : offset;
            return made.mappings().map(Native.at(address, length), isForPeer, at) ? at : Errno.ENOMEM;
        } finally {
            state.lock.unlock();
        }
    }

    long unmap(long address, long length) {
        state.lock.lock();
        try {
            ByteStream made = state.stream;
            return made != null && made.mappings().unmap(address, length) ? 0 : Errno.EINVAL;
        } finally {
            state.lock.unlock();
        }
    }
}
