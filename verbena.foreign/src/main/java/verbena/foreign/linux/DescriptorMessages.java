package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static verbena.foreign.linux.LinuxAbi.MSG_CMSG_CLOEXEC;
import static verbena.foreign.linux.LinuxAbi.MSG_CTRUNC;
import static verbena.foreign.linux.LinuxAbi.MSG_NOSIGNAL;
import static verbena.foreign.linux.LinuxAbi.MSG_TRUNC;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.LinuxAbi.Cmsghdr;
import verbena.foreign.linux.LinuxAbi.Iovec;
import verbena.foreign.linux.LinuxAbi.Msghdr;

/// Messages with at most one descriptor each, over a UNIX-domain socket that keeps messages apart
/// ([LinuxSockets#localSocket()], unix(7): SCM_RIGHTS). The kernel gives the receiver a descriptor of its own for
/// the same file; the sender's stays the sender's.
///
/// The peer may be hostile: no message of its makes this process hold a descriptor that [#descriptor()] does not
/// tell. Belongs to one thread at a time, and allocates nothing after it was made.
public final class DescriptorMessages {
    private static final SystemFunction SENDMSG = SystemFunction.named("sendmsg");
    private static final SystemFunction RECVMSG = SystemFunction.named("recvmsg");

    private final MemorySegment state;
    private final MemorySegment header;
    private final MemorySegment iovec;
    private final MemorySegment control;
    private int descriptor = -1;

    /// @param arena to be closed after this
    public DescriptorMessages(Arena arena) {
        state = arena.allocate(Linker.Option.captureStateLayout());
        header = arena.allocate(Msghdr.BYTES, 8);
        iovec = arena.allocate(Iovec.BYTES, 8);
        control = arena.allocate(Cmsghdr.SPACE_OF_INT, 8);
        header.set(JAVA_LONG, Msghdr.MSG_IOV, iovec.address());
        header.set(JAVA_LONG, Msghdr.MSG_IOVLEN, 1);
    }

    /// Sends a message. A socket that does not block answers -EAGAIN when it has no room.
    ///
    /// @param message native memory that the caller keeps alive meanwhile; empty is no message
    /// @param descriptor goes with it; -1 none
    /// @return how many bytes, which are all of them, or the negative error
    public int send(int fd, MemorySegment message, int descriptor) {
        describe("send: message", message);
        header.set(JAVA_LONG, Msghdr.MSG_CONTROL, descriptor < 0 ? 0 : control.address());
        header.set(JAVA_LONG, Msghdr.MSG_CONTROLLEN, descriptor < 0 ? 0 : Cmsghdr.LEN_OF_INT);
        control.set(JAVA_LONG, Cmsghdr.CMSG_LEN, Cmsghdr.LEN_OF_INT);
        control.set(JAVA_INT, Cmsghdr.CMSG_LEVEL, LinuxAbi.SOL_SOCKET);
        control.set(JAVA_INT, Cmsghdr.CMSG_TYPE, LinuxAbi.SCM_RIGHTS);
        control.set(JAVA_INT, Cmsghdr.BYTES, descriptor);
        return call(SENDMSG, fd, MSG_NOSIGNAL);
    }

    /// Receives the next message. A socket that does not block answers -EAGAIN when there is none.
    ///
    /// A message that does not fit into `into` is taken off the socket and lost, and the answer is -EMSGSIZE. A
    /// message without a byte, which [#send] does not send, ends the stream.
    ///
    /// @param into native memory that the caller keeps alive meanwhile; not empty
    /// @return how many bytes, 0 at the end of the stream, or the negative error
    public int receive(int fd, MemorySegment into) {
        describe("receive: into", into);
        // Room for one descriptor and not a byte more: there, the kernel would put a second one. It closes those that
        // have no room, and sets MSG_CTRUNC.
        control.fill((byte) 0);
        header.set(JAVA_LONG, Msghdr.MSG_CONTROL, control.address());
        header.set(JAVA_LONG, Msghdr.MSG_CONTROLLEN, Cmsghdr.LEN_OF_INT);
        header.set(JAVA_INT, Msghdr.MSG_FLAGS, 0);
        descriptor = -1;
        int received = call(RECVMSG, fd, MSG_CMSG_CLOEXEC);
        if (received < 0) {
            return received;
        }
        int came = descriptorThatCame();
        int flags = header.get(JAVA_INT, Msghdr.MSG_FLAGS);
        if (received > 0 && (flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) {
            descriptor = came;
        } else if (came >= 0) {
            LinuxSockets.close(came);
        }
        return (flags & MSG_TRUNC) == 0 ? received : -LinuxAbi.EMSGSIZE;
    }

    /// Returns the descriptor that came with the message of the last [#receive]: the caller's to close. -1 when
    /// none came, more than one, or this process can have no more.
    public int descriptor() {
        return descriptor;
    }

    private int descriptorThatCame() {
        boolean isThere = header.get(JAVA_LONG, Msghdr.MSG_CONTROLLEN) >= Cmsghdr.LEN_OF_INT
                && control.get(JAVA_LONG, Cmsghdr.CMSG_LEN) >= Cmsghdr.LEN_OF_INT
                && control.get(JAVA_INT, Cmsghdr.CMSG_LEVEL) == LinuxAbi.SOL_SOCKET
                && control.get(JAVA_INT, Cmsghdr.CMSG_TYPE) == LinuxAbi.SCM_RIGHTS;
        return isThere ? control.get(JAVA_INT, Cmsghdr.BYTES) : -1;
    }

    private void describe(String argument, MemorySegment message) {
        if (!message.isNative() || message.byteSize() == 0) {
            throw new IllegalArgumentException(argument + ": native memory of at least a byte, got " + message);
        }
        iovec.set(JAVA_LONG, Iovec.IOV_BASE, message.address());
        iovec.set(JAVA_LONG, Iovec.IOV_LEN, message.byteSize());
    }

    /// Calls a function, and calls it again for the reason when it has failed. The JDK may allocate when it has to
    /// return an error, so only a failed call is made again. The failed call took nothing and gave nothing, so it
    /// is as good if it succeeds now.
    private int call(SystemFunction function, int fd, int flags) {
        int answer = (int) function.call(fd, header.address(), flags);
        return answer >= 0 ? answer : function.tryCall(state, fd, header.address(), flags);
    }
}
