package verbena.nio;

import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import verbena.nio.Carrier.ByStream;
import verbena.nio.Choice.Failure;
import verbena.nio.Choice.Turn;
import verbena.stream.StreamChannel;

/// The client of a connection that moves to RDMA ([Moving]). It makes a stream to the listener, and says in the first
/// bytes which connection is to move there.
final class Mover implements Moving.Side {
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
                    .withApplication(TcpAddresses.PROTOCOL));
            InetSocketAddress to = ChosenDevice.hasPortsOfTcp()
                    ? new InetSocketAddress(peer.getAddress(), MappedPort.ask(peer, Routes.waitForPort()))
                    : peer;
            boolean _ = made.connectTo(to);
            boolean _ = choice.onAnswer(System.nanoTime());
            isTaken = it.ask(new ByStream(made, null, peer, Usage.NONE));
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
}
