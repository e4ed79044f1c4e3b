package verbena.abi.rsocket;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import verbena.abi.Errno;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.foreign.rdma.SocketAddress;
import verbena.stream.protocol.StreamMessage;
import verbena.stream.protocol.StreamSizes;

/// The options of rsetsockopt and rgetsockopt (rsocket(7)): each is a number, with Linux's levels and names. Options
/// that have no meaning without TCP are kept, and have no effect.
final class RsocketOptions {
    private static final int SOCKET = 1;
    private static final int IP = 0;
    private static final int TCP = 6;
    private static final int IPV6 = 41;
    private static final int RDMA = 0x1_0000;

    private static final int BUFFER_BYTES_MIN = 2_048;
    private static final int BUFFER_BYTES_MAX = 1 << 28;
    private static final int LINGER_BYTES = 8;
    private static final int TCP_INFO_BYTES = 104;
    private static final int ESTABLISHED = 1;
    private static final int CLOSED = 7;

    enum Option {
        REUSE_ADDRESS(SOCKET, 2, 0),
        TYPE(SOCKET, 3, 1),
        ERROR(SOCKET, 4, 0),
        BROADCAST(SOCKET, 6, 0),
        SEND_BUFFER(SOCKET, 7, administrators("wmem_default", 1 << 17)),
        RECEIVE_BUFFER(SOCKET, 8, administrators("mem_default", 1 << 17)),
        KEEP_ALIVE(SOCKET, 9, 0),
        OUT_OF_BAND_INLINE(SOCKET, 10, 0),
        LINGER(SOCKET, 13, 0),
        ACCEPTS(SOCKET, 30, 0),
        PROTOCOL(SOCKET, 38, 6),
        DOMAIN(SOCKET, 39, SocketAddress.AF_INET),
        TOS(IP, 1, 0),
        NO_DELAY(TCP, 1, 0),
        SEGMENT_MAX(TCP, 2, 2_048),
        KEEP_IDLE(TCP, 4, 7_200),
        KEEP_INTERVAL(TCP, 5, 1),
        KEEP_COUNT(TCP, 6, 1),
        INFO(TCP, 11, 0),
        V6_ONLY(IPV6, 26, 0),
        SQ_SIZE(RDMA, 0, administrators("sqsize_default", 384)),
        RQ_SIZE(RDMA, 1, administrators("rqsize_default", 384)),
        INLINE(RDMA, 2, administrators("inline_default", 64)),
        MAPPINGS(RDMA, 3, administrators("iomap_size", 0)),
        ROUTE(RDMA, 4, 0);

        private final int level;
        private final int name;
        private final int initial;

        Option(int level, int name, int initial) {
            this.level = level;
            this.name = name;
            this.initial = initial;
        }

        static Optional<Option> of(long level, long name) {
            return Arrays.stream(values())
                    .filter(each -> each.level == level && each.name == name)
                    .findFirst();
        }

        /// Returns whether it describes how a connection is to be made.
        private boolean isOfQueues() {
            return level == RDMA || this == SEND_BUFFER || this == RECEIVE_BUFFER;
        }

        private boolean isReadOnly() {
            return switch (this) {
                case TYPE, ERROR, ACCEPTS, PROTOCOL, DOMAIN, INFO -> true;
                default -> false;
            };
        }
    }

    private final int[] values;

    RsocketOptions(int domain) {
        values = Arrays.stream(Option.values()).mapToInt(each -> each.initial).toArray();
        put(Option.DOMAIN, domain);
    }

    void beOfDatagrams() {
        put(Option.TYPE, 2);
        put(Option.PROTOCOL, 17);
    }

    /// A copy, for a connection that a listener has accepted.
    RsocketOptions(RsocketOptions from) {
        values = from.values.clone();
    }

    /// Returns the value that the administrator has written to a file, rsocket(7).
    private static int administrators(String file, int otherwise) {
        try {
            int value = Integer.parseInt(
                    Files.readString(Path.of("/etc/rdma/rsocket", file)).strip());
            return file.endsWith("mem_default") ? Math.clamp(value, BUFFER_BYTES_MIN, BUFFER_BYTES_MAX) : value;
        } catch (IOException | NumberFormatException e) {
            return otherwise;
        }
    }

    int get(Option option) {
        return values[option.ordinal()];
    }

    /// Returns the sizes of the stream of a connection.
    StreamSizes sizes() {
        return new StreamSizes(
                get(Option.SEND_BUFFER),
                get(Option.RECEIVE_BUFFER),
                get(Option.SQ_SIZE),
                get(Option.RQ_SIZE),
                get(Option.MAPPINGS));
    }

    private void put(Option option, int value) {
        values[option.ordinal()] = value;
    }

    /// Sets an option by rsetsockopt: `ENOPROTOOPT` for an unknown one.
    ///
    /// @param hasQueues whether it is too late to say how a connection is to be made: `EINVAL`, or passed over
    ///     as TCP does it with the sizes of buffers
    long set(long level, long name, long value, long length, boolean hasQueues) {
        Option option = Option.of(level, name).orElse(null);
        if (option == null || option.isReadOnly()) {
            return Errno.ENOPROTOOPT;
        }
        if (option == Option.ROUTE) {
            return Errno.EOPNOTSUPP; // the way is found by the address
        }
        if (length < (option == Option.LINGER ? LINGER_BYTES : Integer.BYTES)) {
            return Errno.EINVAL;
        }
        int given = Memory.getInt(Native.some(value));
        if (option.isOfQueues() && hasQueues) {
            return option.level == RDMA ? Errno.EINVAL : 0;
        }
        switch (option) {
            // doubled, as Linux does it
            case SEND_BUFFER, RECEIVE_BUFFER -> put(option, 2 * Math.clamp(given, BUFFER_BYTES_MIN, BUFFER_BYTES_MAX));
            case KEEP_IDLE -> {
                if (given <= 0) {
                    return Errno.EINVAL;
                }
                put(option, given);
            }
            case MAPPINGS -> put(option, StreamMessage.unscale(StreamMessage.scale(Math.clamp(given, 0, 0x7FFF))));
            case SQ_SIZE, RQ_SIZE, INLINE -> put(option, Math.clamp(given, 0, 0xFFFE));
            case LINGER, REUSE_ADDRESS, KEEP_ALIVE, OUT_OF_BAND_INLINE, BROADCAST, NO_DELAY, V6_ONLY ->
                put(option, given == 0 ? 0 : 1);
            default -> put(option, given);
        }
        return 0;
    }

    /// Reads an option by rgetsockopt.
    long get(long level, long name, long into, long lengthPointer, AnyRsocket socket) {
        Option option = Option.of(level, name).orElse(null);
        if (option == null) {
            return Errno.ENOPROTOOPT;
        }
        int room = Memory.getInt(Native.some(lengthPointer));
        int bytes = switch (option) {
            case LINGER -> LINGER_BYTES;
            case INFO -> Math.min(room, TCP_INFO_BYTES);
            case ROUTE -> 0;
            default -> Integer.BYTES;
        };
        if (room < bytes) {
            return Errno.EINVAL;
        }
        Native.at(into, bytes).fill((byte) 0);
        switch (option) {
            case ROUTE -> {}
            case INFO -> Memory.putByte(into, socket.isConnected() ? ESTABLISHED : CLOSED);
            case ERROR -> Memory.putInt(into, socket.takeError());
            case ACCEPTS -> Memory.putInt(into, socket.isListening() ? 1 : 0);
            default -> Memory.putInt(into, get(option));
        }
        Memory.putInt(lengthPointer, bytes);
        return 0;
    }
}
