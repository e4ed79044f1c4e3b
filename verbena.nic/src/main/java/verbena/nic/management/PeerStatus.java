package verbena.nic.management;

import java.util.Map;
import verbena.verbs.Preview;

/// The protection of the packets to and from one peer at one moment, by a device with `psp`. Immutable. Totals count
/// from when the device got to know the peer.
///
/// @param peer its address
/// @param policy `required` or `offered`
/// @param state `encrypted`, `agreeing` on keys, or `in the clear`
/// @param cipher of packets of the device, such as `AES_GCM_128`
/// @param port of UDP that encrypted packets to it go to
/// @param spi the number of the keys of packets that leave; 0 when there are no keys
/// @param keyAgeMillis the age of these keys
/// @param agreements how often keys have come into use: one more than they were replaced
/// @param sealedPackets packets that left encrypted
/// @param openedPackets packets that arrived encrypted and authentic
/// @param dropped packets from the peer that were no good, by reason, as `psp.dropped` of the counters
/// @since 0.1
public record PeerStatus(
        String peer,
        String policy,
        String state,
        String cipher,
        int port,
        int spi,
        long keyAgeMillis,
        int agreements,
        long sealedPackets,
        long openedPackets,
        Map<String, Long> dropped) {
    @Preview
    public PeerStatus {}
}
