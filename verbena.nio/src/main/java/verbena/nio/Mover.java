package verbena.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import verbena.nio.Carrier.ByStream;
import verbena.nio.Choice.Failure;
import verbena.nio.Choice.Turn;
import verbena.stream.StreamChannel;

/// The client of a connection that moves to RDMA ([Moving]). It makes a stream to the listener, and says in the first
/// bytes which connection is to move there.
final class Mover implements Moving.Side {
    /// The time in which the listener has to answer. It answers at once.
    private static final int ANSWER_MILLIS = 10_000;

    private final InetSocketAddress peer;
    private final SocketChoices choices;
    /// Guarded by this.
    private boolean isUnderWay;

    /// @param choices whose buffers are the sizes of the stream's rings
    Mover(InetSocketAddress peer, SocketChoices choices) {
        this.peer = peer;
        this.choices = choices;
    }

    private synchronized boolean begins() {
        boolean isFirst = !isUnderWay;
        isUnderWay = true;
        return isFirst;
    }

    private synchronized void ends() {
        isUnderWay = false;
    }

    @Override
    public void onBusy(Moving it) {
        if (begins()) {
            try {
                Thread.ofVirtual().name("verbena-nio-move").start(() -> {
                    try {
                        move(it);
                    } finally {
                        ends();
                    }
                });
            } catch (OutOfMemoryError e) {
                ends(); // it stays with TCP
            }
        }
    }

    @Override
    public void onOver(Moving it) {
        // an attempt that is under way finds out
    }

    /// Moves the connection, or finds that it stays with TCP. Waits for the peer.
    private void move(Moving it) {
        try {
            Choice choice = Routes.choose(peer, Long.MAX_VALUE, System.nanoTime());
            if (choice.turn() == Turn.RDMA) {
                move(it, choice);
            }
        } catch (Throwable e) { // whatever it is, the connection stays with TCP
            Routes.fellBack(peer, e);
        }
    }

    private void move(Moving it, Choice choice) {
        StreamChannel made = null;
        boolean isTaken = false;
        try {
            made = StreamChannel.open(ChosenDevice.choose(choices.stream())
                    .withConnectTimeout(Routes.patience())
                    .withProtocol(TcpAddresses.PROTOCOL));
            InetSocketAddress to = ChosenDevice.hasPortsOfTcp()
                    ? new InetSocketAddress(peer.getAddress(), MappedPort.ask(peer, Routes.waitForPort()))
                    : peer;
            boolean _ = made.connectTo(to);
            boolean _ = choice.onAnswer(System.nanoTime());
            isTaken = ask(it, new ByStream(made, null, peer, Usage.NONE));
        } catch (Throwable e) { // a device that cannot be used is no reason to end the connection
            Failure how = Failure.of(e);
            boolean _ = choice.onRdmaFailed(how, System.nanoTime());
            boolean isEarly = how == Failure.REFUSED || e instanceof PortUnreachableException;
            if (!isEarly) { // a listener may listen for streams later
                Routes.fellBack(peer, e);
            }
        } finally {
            if (made != null && !isTaken) {
                var _ = made.closeLater();
            }
        }
    }

    /// Writes a name. If the peer has closed the stream meanwhile, the end of the stream is its answer.
    private static void write(ByteBuffer name, Carrier by) {
        try {
            int _ = by.write(name);
        } catch (IOException e) {
            // the next read tells whether the stream has ended or failed
        }
    }

    /// Asks the peer whether it moves, and moves if so. Returns false if not; the stream is of no more use then.
    static boolean ask(Moving it, Carrier by) throws IOException {
        if (!it.asks()) {
            return false;
        }
        boolean isKnown = false;
        boolean isTaken = false;
        try {
            write(it.addresses().name(), by);
            int answer = by.read(new byte[1], 0, 1, ANSWER_MILLIS);
            isKnown = answer < 0; // the peer has refused, and knows no stream
            isTaken = answer > 0 && it.take(by, ByteBuffer.allocate(0));
        } finally {
            if (!isTaken) {
                it.stays(isKnown);
            }
        }
        return isTaken;
    }
}
