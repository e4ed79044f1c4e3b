package verbena.abi.rsocket;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.ToLongFunction;
import verbena.abi.Errno;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.foreign.rdma.SocketAddress;

/// The calls of rsocket(7) that C makes: arguments and flags as those of the calls of sockets.
final class RsocketCalls {
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    private static final int IPPROTO_TCP = 6;
    private static final int IPPROTO_UDP = 17;

    private static final int MSG_OOB = 1;
    private static final int MSG_PEEK = 2;
    private static final int MSG_TRUNC = 0x20;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_WAITALL = 0x100;

    private static final int F_GETFD = 1;
    private static final int F_SETFD = 2;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_RDWR = 2;
    private static final int O_NONBLOCK = 0x800;

    private static final int PROT_WRITE = 2;

    // struct msghdr, 64 bits
    private static final int MSG_NAME = 0;
    private static final int MSG_NAMELEN = 8;
    private static final int MSG_IOV = 16;
    private static final int MSG_IOVLEN = 24;
    private static final int MSG_CONTROLLEN = 40;
    private static final int MSG_FLAGS = 48;

    private RsocketCalls() {}

    private static long with(long fd, ToLongFunction<AnyRsocket> call) {
        AnyRsocket socket = Rsockets.find(fd);
        return socket == null ? Errno.EBADF : call.applyAsLong(socket);
    }

    private static long withStream(long fd, ToLongFunction<Rsocket> call) {
        return with(fd, socket -> socket instanceof Rsocket stream ? call.applyAsLong(stream) : Errno.EOPNOTSUPP);
    }

    // ---- connections

    /// Opens a stream over TCP's port space, or datagrams over UDP's.
    static long rsocket(long domain, long type, long protocol) {
        boolean isNonBlocking = (type & SOCK_NONBLOCK) != 0;
        int kind = (int) type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (kind == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP)) {
            return Rsockets.open(Rsocket.create((int) domain, isNonBlocking));
        }
        return kind == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP)
                ? Rsockets.open(new DatagramRsocket((int) domain, isNonBlocking))
                : Errno.EPROTONOSUPPORT;
    }

    static long rbind(long fd, long address, long length) {
        return with(fd, socket -> socket.bind(address(address, length)));
    }

    static long rlisten(long fd, long backlog) {
        return withStream(fd, socket -> socket.listen((int) backlog));
    }

    static long raccept(long fd, long address, long length) {
        return withStream(fd, socket -> {
            var made = new Rsocket[1];
            long answer = socket.accept(made);
            if (answer >= 0 && address != 0) {
                write(made[0].id.peerAddress(), address, length);
            }
            return answer;
        });
    }

    static long rconnect(long fd, long address, long length) {
        return with(fd, socket -> socket.connect(address(address, length)));
    }

    static long rshutdown(long fd, long how) {
        return how < AnyRsocket.SHUT_RD || how > AnyRsocket.SHUT_RDWR
                ? Errno.EINVAL
                : with(fd, socket -> socket.shutdown((int) how));
    }

    static long rclose(long fd) {
        return with(fd, AnyRsocket::close);
    }

    // ---- data

    static long rrecvfrom(long fd, long into, long length, long flags, long address, long lengthPointer) {
        return with(fd, socket -> {
            var arrival = new AnyRsocket.Arrival();
            long count = receive(socket, Pieces.one(into, length), flags, arrival);
            if (count >= 0 && address != 0) {
                write(Optional.ofNullable(arrival.from), address, lengthPointer);
            }
            return count;
        });
    }

    static long rreadv(long fd, long vector, long count) {
        return with(fd, socket -> receive(socket, Pieces.of(vector, count), 0, new AnyRsocket.Arrival()));
    }

    static long rrecvmsg(long fd, long message, long flags) {
        return with(fd, socket -> {
            var arrival = new AnyRsocket.Arrival();
            long count = receive(socket, pieces(message), flags, arrival);
            if (count >= 0) {
                long name = Memory.getLong(message + MSG_NAME);
                if (name != 0) {
                    write(Optional.ofNullable(arrival.from), name, message + MSG_NAMELEN);
                }
                Memory.putLong(message + MSG_CONTROLLEN, 0);
                Memory.putInt(message + MSG_FLAGS, arrival.isCut ? MSG_TRUNC : 0);
            }
            return count;
        });
    }

    private static long receive(AnyRsocket socket, Pieces into, long flags, AnyRsocket.Arrival arrival) {
        return (flags & MSG_OOB) != 0
                ? Errno.EOPNOTSUPP
                : socket.receive(into, (flags & MSG_PEEK) != 0, (flags & MSG_WAITALL) != 0, mayNotWait(flags), arrival);
    }

    private static boolean mayNotWait(long flags) {
        return (flags & MSG_DONTWAIT) != 0;
    }

    private static Pieces pieces(long message) {
        return Pieces.of(Memory.getLong(Native.some(message) + MSG_IOV), Memory.getLong(message + MSG_IOVLEN));
    }

    static long rsendto(long fd, long from, long length, long flags, long address, long addressLength) {
        return with(fd, socket -> send(socket, Pieces.one(from, length), flags, address, addressLength));
    }

    static long rwritev(long fd, long vector, long count) {
        return with(fd, socket -> send(socket, Pieces.of(vector, count), 0, 0, 0));
    }

    static long rsendmsg(long fd, long message, long flags) {
        return Memory.getLong(Native.some(message) + MSG_CONTROLLEN) != 0
                ? Errno.EOPNOTSUPP
                : with(fd, socket -> {
                    long name = socket instanceof Rsocket ? 0 : Memory.getLong(message + MSG_NAME);
                    return send(
                            socket, pieces(message), flags, name, name == 0 ? 0 : Memory.getInt(message + MSG_NAMELEN));
                });
    }

    private static long send(AnyRsocket socket, Pieces from, long flags, long address, long length) {
        InetSocketAddress to = address == 0 && length == 0 ? null : address(address, length);
        return (flags & MSG_OOB) != 0 ? Errno.EOPNOTSUPP : socket.send(from, to, mayNotWait(flags));
    }

    // ---- memory that the peer writes to

    static long riomap(long fd, long address, long length, long protection, long flags, long offset) {
        return (protection & ~PROT_WRITE) != 0 || length <= 0 || length > 0xFFFF_FFFFL
                ? Errno.EINVAL
                : withStream(fd, socket -> socket.map(address, length, protection != 0, offset));
    }

    static long riounmap(long fd, long address, long length) {
        return withStream(fd, socket -> socket.unmap(address, length));
    }

    static long riowrite(long fd, long from, long length, long offset, long flags) {
        return length < 0
                ? Errno.EINVAL
                : withStream(fd, socket -> socket.write(Native.some(from), length, offset, mayNotWait(flags)));
    }

    // ---- waiting

    static long rpoll(long fds, long count, long asleep, long bytes, long isWaiting) {
        return RsocketPoll.poll(fds, count, asleep, bytes, isWaiting != 0);
    }

    // ---- names and options

    static long rname(long fd, long address, long length, long isPeers) {
        return with(fd, socket -> {
            Optional<InetSocketAddress> name = isPeers != 0 ? socket.peerName() : socket.localName();
            if (isPeers != 0 && name.isEmpty()) {
                return Errno.ENOTCONN;
            }
            write(name.or(() -> Optional.of(socket.noName())), address, length);
            return 0;
        });
    }

    private static InetSocketAddress address(long from, long length) {
        InetSocketAddress address = SocketAddress.read(from);
        if (length < SocketAddress.size(address)) {
            throw new IllegalArgumentException("addrlen: at least " + SocketAddress.size(address) + ", got " + length);
        }
        return address;
    }

    /// Writes as much of an address as there is room for, which may be none. The length becomes that of the whole
    /// address.
    private static void write(Optional<InetSocketAddress> address, long into, long lengthPointer) {
        if (address.isEmpty()) {
            return;
        }
        long bytes = SocketAddress.size(address.get());
        long copy = Native.allocate(bytes);
        try {
            SocketAddress.write(address.get(), copy);
            long room = Math.min(bytes, Memory.getInt(Native.some(lengthPointer)));
            if (room > 0) {
                MemorySegment.copy(Native.at(copy, bytes), 0, Native.at(into, room), 0, room);
            }
            Memory.putInt(lengthPointer, (int) bytes);
        } finally {
            Native.free(copy);
        }
    }

    static long rsetsockopt(long fd, long level, long name, long value, long length) {
        return with(fd, socket -> socket.setOption(level, name, value, length));
    }

    static long rgetsockopt(long fd, long level, long name, long into, long length) {
        return with(fd, socket -> socket.getOption(level, name, into, length));
    }

    /// Handles fcntl(2) of an rsocket. File descriptors of rsockets are closed by exec(2), as their memory goes.
    static long rfcntl(long fd, long command, long argument) {
        return with(fd, socket -> switch ((int) command) {
            case F_GETFD -> 1;
            case F_SETFD -> 0;
            case F_GETFL -> O_RDWR | (socket.isNonBlocking() ? O_NONBLOCK : 0);
            case F_SETFL -> {
                socket.nonBlocking((argument & O_NONBLOCK) != 0);
                yield 0;
            }
            default -> Errno.EINVAL;
        });
    }
}
