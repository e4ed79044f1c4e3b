package verbena.nic.fabric;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxAbi.Timespec;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.nic.link.LinkException;
import verbena.nic.link.SocketFailure;
import verbena.subnet.agent.AgentRefusal;
import verbena.subnet.fabric.ChannelAdapter;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.fabric.FabricNode;
import verbena.subnet.node.NodePort;
import verbena.wire.BigEndian;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Vcrc;

/// The server of a fabric for the devices of this user ([verbena.nic.link.ib.IbLink]): one socket, one thread, which
/// calls [#run()]. Its agents and subnet managers have their time from that thread. A device that does not take its
/// packets holds up their senders, as credits have it; a device that sends faster than its adapter finds its socket
/// full.
public final class FabricServer implements AutoCloseable {
    private static final int BACKLOG = 128;
    private static final int READS_MAX = 32;
    private static final int STEPS_MAX = 256;
    private static final int BYTES_MIN = Lrh.BYTES + Packet.BYTES_MIN + Vcrc.BYTES;
    private static final int CLIENTS_MAX = 4_096;
    private static final long SECOND = 1_000_000_000L;
    private static final long PAUSE_NANOS = 100_000_000;

    /// The source of the text that describes a fabric.
    public interface Description {
        /// Returns the description of the fabric as ASCII text.
        String of(boolean hasRoutes);
    }

    /// A process at the other end of a connection.
    private static final class Client {
        final int fd;

        /// The adapter whose changes are reported to the client.
        @Nullable
        ChannelAdapter adapter;

        /// Whether the packets of that are its own.
        boolean hasAdapter;

        /// The text that the client still has to get; the connection ends then.
        @Nullable
        MemorySegment text;

        /// The port of a program at the management queue pairs; its messages are datagrams.
        @Nullable
        ProgramPort program;

        int changesSeen;
        boolean isFull;
        /// Whether it takes no packets any more; packets that it has sent may still wait.
        boolean hasHungUp;

        boolean isGone;

        Client(int fd) {
            this.fd = fd;
        }
    }

    private final Path place;
    private final Fabric fabric;
    private final List<ChannelAdapter> adapters;
    private final Description description;
    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final MemorySegment message = arena.allocate(ProgramPort.MESSAGE_BYTES_MAX, 8); // more than any packet
    private final SecureRandom random = new SecureRandom();
    private final MemorySegment pollfds = arena.allocate((CLIENTS_MAX + 2L) * Pollfd.BYTES, 8);
    private final MemorySegment timeout = arena.allocate(Timespec.BYTES, 8);
    private final EventCounter bell;
    private final int listening;
    private final List<Client> clients = new ArrayList<>();
    /// The identity of the socket.
    private final Object identity;

    private long malformed;
    private boolean isCrowded;
    private volatile boolean isEnding;

    /// Listens.
    ///
    /// @param place of the socket ([FabricSocket#place()]); its folder is made when there is none
    /// @param fabric from now on for the thread that calls [#run()]
    /// @param description what [FabricPort#describe] answers, made by that thread
    /// @throws LinkException when there is a fabric already, or the system does not permit it
    public FabricServer(Path place, Fabric fabric, Description description) {
        this.place = place;
        this.fabric = fabric;
        this.adapters = fabric.adapters();
        this.description = description;
        bell = new EventCounter(linux, arena);
        FabricSocket.makeFolder(place);
        int other = FabricSocket.connect(linux, place);
        if (other >= 0) {
            LinuxSockets.close(other);
            throw new LinkException(LinkException.Kind.PORT_IN_USE, "there is a fabric already at " + place);
        }
        try {
            FabricSocket.removeOld(place);
            listening = linux.localSocket();
            int result = linux.bind(listening, FabricSocket.address(place));
            result = result == 0 ? linux.listen(listening, BACKLOG) : result;
            if (listening < 0 || result < 0) {
                throw SocketFailure.of("listening at " + place, listening < 0 ? -listening : -result);
            }
            Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rw-------"));
            identity = FabricSocket.identity(place);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Serves until [#stop()], or until a process of this user asks for the end.
    public void run() {
        while (!isEnding) {
            if (!turn()) {
                sleep();
            }
        }
    }

    /// Ends [#run()]. Any thread.
    public void stop() {
        isEnding = true;
        bell.ring();
    }

    /// Does a bounded piece of work and returns whether there may be more.
    private boolean turn() {
        long now = System.nanoTime();
        boolean isBusy = fabric.deadlineNanos() <= now;
        for (int i = 0; i < clients.size(); i++) {
            isBusy |= read(clients.get(i), now);
        }
        int steps = 0;
        while (steps < STEPS_MAX && fabric.step(now)) {
            steps++;
        }
        fabric.onDeadline(now); // after what has arrived
        for (int i = 0; i < clients.size(); i++) {
            isBusy |= deliver(clients.get(i));
        }
        discardUnattended();
        for (int i = clients.size() - 1; i >= 0; i--) {
            if (clients.get(i).isGone) {
                leave(clients.get(i), now);
                LinuxSockets.close(clients.remove(i).fd);
            }
        }
        return isBusy || steps > 0;
    }

    /// Reads what a client has sent, as long as its adapter has room; whether there was something.
    private boolean read(Client client, long now) {
        boolean isBusy = false;
        for (int i = 0; i < READS_MAX && !client.isGone; i++) {
            ChannelAdapter adapter = client.adapter;
            if (!mayRead(client)) {
                break;
            }
            int bytes = (int) LinuxSockets.read(client.fd, message);
            if (bytes < 0) {
                break;
            }
            isBusy = true;
            if (bytes == 0) {
                client.isGone = true;
            } else if (client.program != null) {
                malformed += client.program.onMessage(message, bytes, now) ? 0 : 1;
                client.program.adapter.onPrograms(now);
            } else if (BigEndian.u8(message, 0) == FabricSocket.CONTROL
                    && BigEndian.u8(message, 1) >= FabricSocket.OPEN_PORT
                    && BigEndian.u8(message, 1) <= FabricSocket.UNREGISTER
                    && bytes >= FabricSocket.ASK_BYTES) {
                answerProgram(client, BigEndian.u8(message, 1), bytes, now);
            } else if (BigEndian.u8(message, 0) == FabricSocket.CONTROL && bytes >= FabricSocket.ASK_BYTES) {
                answer(client, BigEndian.u8(message, 1), BigEndian.u16(message, 2), bytes - FabricSocket.ASK_BYTES);
            } else if (adapter != null && client.hasAdapter && isPacket(bytes)) {
                adapter.send(message, 0, bytes);
            } else {
                malformed++;
            }
        }
        return isBusy;
    }

    private boolean isPacket(int bytes) {
        return bytes >= BYTES_MIN
                && Lrh.version(message, 0) == 0
                && Lrh.packetLengthWords(message, 0) * 4 == bytes - Vcrc.BYTES
                && Vcrc.verify(message, 0, bytes - Vcrc.BYTES);
    }

    private void answer(Client client, int kind, int number, int nameBytes) {
        boolean isOfLinks = kind == FabricSocket.LINK_DOWN || kind == FabricSocket.LINK_UP;
        if (client.text != null || nameBytes > (isOfLinks ? FabricSocket.NAME_BYTES_MAX : 0)) {
            malformed++;
            return;
        }
        switch (kind) {
            case FabricSocket.QUERY, FabricSocket.ATTACH, FabricSocket.WATCH -> {
                ChannelAdapter asked = number < adapters.size() ? adapters.get(number) : null;
                boolean isInUse = asked != null && owner(asked) != null;
                boolean isTaken = kind == FabricSocket.ATTACH && !isInUse;
                if (asked != null && client.adapter == null && (isTaken || kind == FabricSocket.WATCH)) {
                    client.adapter = asked;
                    client.hasAdapter = isTaken;
                    // A device that has watched may not have read all of that: it is told once more.
                    client.changesSeen = asked.info().changes() - (isTaken ? 1 : 0);
                }
                int status = asked == null ? FabricSocket.NO_SUCH : isInUse ? FabricSocket.IN_USE : FabricSocket.OK;
                boolean _ = tell(client, asked, status);
            }
            case FabricSocket.DOWN -> isEnding = true;
            case FabricSocket.SHOW -> tell(client, description.of(number != 0));
            case FabricSocket.LINK_DOWN, FabricSocket.LINK_UP -> {
                byte[] name = message.asSlice(FabricSocket.ASK_BYTES, nameBytes).toArray(ValueLayout.JAVA_BYTE);
                tell(client, setLinks(new String(name, StandardCharsets.UTF_8), number, kind == FabricSocket.LINK_UP));
            }
            default -> malformed++;
        }
    }

    /// Replies to a program that asks for a port, or to make or end an agent.
    private void answerProgram(Client client, int kind, int bytes, long now) {
        int number = BigEndian.u16(message, 2);
        if (client.adapter != null || client.text != null) {
            malformed++;
        } else if (kind == FabricSocket.OPEN_PORT) {
            boolean isThere = number < adapters.size();
            if (isThere) {
                client.program = new ProgramPort(adapters.get(number), random.nextLong());
                int _ = linux.setOption(client.fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_SNDBUF, ProgramPort.SOCKET_BYTES);
            }
            BigEndian.put64(message, FabricSocket.TOKEN, client.program == null ? 0 : client.program.token);
            tellProgram(client, FabricSocket.OPENED, isThere ? FabricSocket.OK : FabricSocket.NO_SUCH);
        } else if (bytes == FabricSocket.REGISTER_BYTES
                && (kind == FabricSocket.REGISTER || kind == FabricSocket.UNREGISTER)) {
            long token = BigEndian.i64(message, FabricSocket.TOKEN);
            ProgramPort of = clients.stream()
                    .map(one -> one.program)
                    .filter(port -> ProgramPort.is(port, token))
                    .findFirst()
                    .orElse(null);
            int status = AgentRefusal.INVALID.errno();
            if (of != null) {
                status = kind == FabricSocket.REGISTER ? of.register(message) : of.unregister(message);
                of.adapter.onPrograms(now);
            }
            tellProgram(client, kind, status);
        } else {
            malformed++;
        }
    }

    private void tellProgram(Client client, int kind, int status) {
        BigEndian.put8(message, 0, FabricSocket.CONTROL);
        BigEndian.put8(message, 1, kind);
        BigEndian.put8(message, FabricSocket.STATUS, status);
        boolean _ = LinuxSockets.send(client.fd, message.asSlice(0, FabricSocket.OPENED_BYTES));
    }

    private static void leave(Client client, long now) {
        ProgramPort program = client.program;
        client.program = null;
        if (program != null) {
            program.close(now);
        }
    }

    /// Takes links down or up; returns why that cannot be, or an empty text.
    private String setLinks(String name, int port, boolean isUp) {
        for (FabricNode node : fabric.nodes()) {
            if (node.name().equals(name)) {
                if (port > node.ports()) {
                    return name + " has ports 1 to " + node.ports();
                }
                long now = System.nanoTime();
                for (int each = 1; each <= node.ports(); each++) {
                    if (port == 0 || each == port) {
                        fabric.plug(node, each, isUp, now);
                    }
                }
                return "";
            }
        }
        return "there is no node " + name;
    }

    private @Nullable Client owner(ChannelAdapter adapter) {
        for (Client client : clients) {
            if (client.adapter == adapter && client.hasAdapter && !client.isGone) {
                return client;
            }
        }
        return null;
    }

    /// Sends the state of a port to a client; returns false when there is no room now.
    private boolean tell(Client client, @Nullable ChannelAdapter of, int status) {
        MemorySegment info = message.asSlice(0, FabricSocket.INFO_BYTES).fill((byte) 0);
        BigEndian.put8(info, 0, FabricSocket.CONTROL);
        BigEndian.put8(info, 1, FabricSocket.INFO);
        BigEndian.put8(info, FabricSocket.STATUS, status);
        if (of != null) {
            BigEndian.put32(info, FabricSocket.REREGISTRATIONS, of.info().reregistrations());
            BigEndian.put64(info, FabricSocket.NODE_GUID, of.guid());
            BigEndian.put64(info, FabricSocket.PORT_GUID, of.info().guid());
            info.asSlice(FabricSocket.PORT_INFO).copyFrom(of.info().info());
            for (int i = 0; i < NodePort.PKEYS; i++) {
                BigEndian.put16(
                        info,
                        FabricSocket.PKEYS + Short.BYTES * (long) i,
                        of.info().pkey(i));
            }
        }
        return LinuxSockets.send(client.fd, info);
    }

    private static void tell(Client client, String text) {
        client.text = MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII));
    }

    /// Sends what there is room for of a text.
    private void sendText(Client client, MemorySegment text) {
        MemorySegment rest = text;
        while (!client.isFull && rest.byteSize() > 0) {
            long bytes = Math.min(FabricSocket.TEXT_BYTES_MAX, rest.byteSize());
            BigEndian.put8(message, 0, FabricSocket.CONTROL);
            BigEndian.put8(message, 1, FabricSocket.TEXT);
            MemorySegment.copy(rest, 0, message, FabricSocket.TEXT_AT, bytes);
            if (LinuxSockets.send(client.fd, message.asSlice(0, FabricSocket.TEXT_AT + bytes))) {
                rest = rest.asSlice(bytes);
            } else {
                client.isFull = true;
            }
        }
        client.text = rest;
        client.isGone = rest.byteSize() == 0;
    }

    /// Hands a device its packets, and news of its port; whether there was something.
    private boolean deliver(Client client) {
        ChannelAdapter adapter = client.adapter;
        client.isFull = false;
        if (client.isGone) {
            return false;
        }
        MemorySegment text = client.text;
        if (text != null) {
            sendText(client, text);
        }
        ProgramPort program = client.program;
        if (program != null) {
            return deliver(client, program);
        }
        if (adapter == null) {
            return false;
        }
        if (client.changesSeen != adapter.info().changes()) {
            client.isFull = !tell(client, adapter, FabricSocket.OK);
            client.changesSeen =
                    client.isFull ? client.changesSeen : adapter.info().changes();
        }
        boolean isBusy = false;
        while (client.hasAdapter && adapter.arrivals() > 0 && !client.isFull) {
            int packet = adapter.arrival();
            MemorySegment bytes = fabric.store()
                    .memory(packet)
                    .asSlice(fabric.store().offset(packet), fabric.store().length(packet));
            if (client.hasHungUp || LinuxSockets.send(client.fd, bytes)) {
                adapter.taken();
                isBusy = true;
            } else {
                client.isFull = true;
            }
        }
        return isBusy;
    }

    private boolean deliver(Client client, ProgramPort program) {
        boolean isBusy = false;
        int told = program.deliver(client.fd, message);
        while (told > 0) {
            isBusy = true;
            told = program.deliver(client.fd, message);
        }
        client.isFull = told < 0;
        return isBusy;
    }

    /// Drops what arrives for adapters without a device, so that they hold up no sender.
    private void discardUnattended() {
        for (int i = 0; i < adapters.size(); i++) {
            ChannelAdapter adapter = adapters.get(i);
            while (adapter.arrivals() > 0 && owner(adapter) == null) {
                adapter.taken();
            }
        }
    }

    private void sleep() {
        Pollfds.watch(pollfds, 0, bell.fd(), LinuxAbi.POLLIN);
        Pollfds.watch(pollfds, 1, isCrowded ? -1 : listening, LinuxAbi.POLLIN);
        for (int i = 0; i < clients.size(); i++) {
            Client client = clients.get(i);
            int events = (mayRead(client) ? LinuxAbi.POLLIN : 0) | (client.isFull ? LinuxAbi.POLLOUT : 0);
            // poll(2) tells of the end of a connection in any case, also before what it has brought can be
            // read.
            Pollfds.watch(pollfds, 2 + i, events == 0 ? -1 : client.fd, events);
        }
        long due =
                isCrowded ? Math.min(fabric.deadlineNanos(), System.nanoTime() + PAUSE_NANOS) : fabric.deadlineNanos();
        isCrowded = false;
        long wait = due - System.nanoTime();
        if (wait <= 0) {
            return;
        }
        timeout.set(ValueLayout.JAVA_LONG, Timespec.TV_SEC, wait / SECOND);
        timeout.set(ValueLayout.JAVA_LONG, Timespec.TV_NSEC, wait % SECOND);
        int _ = LinuxSockets.poll(pollfds, 2 + clients.size(), due == Long.MAX_VALUE ? MemorySegment.NULL : timeout);
        for (int i = 0; i < clients.size(); i++) {
            clients.get(i).hasHungUp |= !mayRead(clients.get(i)) && Pollfds.isReadable(pollfds, 2 + i);
        }
        if (Pollfds.isReadable(pollfds, 0)) {
            bell.clear();
        }
        if (Pollfds.isReadable(pollfds, 1)) {
            admit();
        }
    }

    private static boolean mayRead(Client client) {
        return client.adapter == null || !client.hasAdapter || client.adapter.hasRoom();
    }

    private void admit() {
        int fd = LinuxSockets.accept(listening);
        if (fd < 0) {
            isCrowded = true; // no descriptor is free, and the connection waits
            return;
        }
        if (clients.size() == CLIENTS_MAX || linux.peerUser(fd) != LinuxSockets.effectiveUser()) {
            LinuxSockets.close(fd);
            return;
        }
        int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_SNDBUF, FabricSocket.SOCKET_BYTES);
        clients.add(new Client(fd));
    }

    /// Returns the number of messages of devices that were neither packets nor questions. For the thread that runs
    /// it.
    public long malformed() {
        return malformed;
    }

    /// Closes all connections, and removes the socket. After [#run()] has returned.
    @Override
    public void close() {
        for (Client client : clients) {
            LinuxSockets.close(client.fd);
        }
        LinuxSockets.close(listening);
        bell.close();
        arena.close();
        try {
            FabricSocket.remove(place, identity);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
