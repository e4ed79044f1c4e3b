package verbena.nic.link.psp;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/// The events of a [PspLink] for the JDK's Flight Recorder. Packets cause none. The classes of events are not loaded
/// before the first recording.
@SuppressWarnings("UnusedVariable") // the recorder reads the fields of events
final class PspEvents {
    private PspEvents() {}

    private abstract static class OfPeer extends Event {
        @Label("Local")
        @Nullable
        String local;

        @Label("Peer")
        @Nullable
        String peer;

        @Label("Policy")
        @Nullable
        String policy;

        final void of(PspPeer about) {
            local = about.pair.local().toString();
            peer = about.pair.remote().toString();
            policy = about.mode.toString();
        }
    }

    @Name("verbena.KeysAgreed")
    @Label("Keys Agreed")
    @Description("Two devices have agreed on keys, and encrypt their packets by them")
    @Category({"Verbena", "Device"})
    @StackTrace(false)
    private static final class KeysAgreed extends OfPeer {
        @Label("Cipher")
        @Nullable
        String cipher;

        @Label("SPI")
        @Description("The number of the keys of packets that leave")
        int spi;
    }

    @Name("verbena.PeerInTheClear")
    @Label("Peer In The Clear")
    @Description("A peer has not answered, and its packets are in the clear, because protection is only offered")
    @Category({"Verbena", "Device"})
    @StackTrace(false)
    private static final class PeerInTheClear extends OfPeer {}

    @Name("verbena.KeysRefused")
    @Label("Keys Refused")
    @Description("A peer has not answered, and gets no packets, because protection is required")
    @Category({"Verbena", "Device"})
    @StackTrace(false)
    private static final class KeysRefused extends OfPeer {}

    static void agreed(PspPeer peer, String cipher, int spi) {
        if (FlightRecorder.isInitialized()) {
            var event = new KeysAgreed();
            if (event.shouldCommit()) {
                event.of(peer);
                event.cipher = cipher;
                event.spi = spi;
                event.commit();
            }
        }
    }

    static void silent(PspPeer peer) {
        if (FlightRecorder.isInitialized()) {
            OfPeer event = peer.isPlain ? new PeerInTheClear() : new KeysRefused();
            if (event.shouldCommit()) {
                event.of(peer);
                event.commit();
            }
        }
    }
}
