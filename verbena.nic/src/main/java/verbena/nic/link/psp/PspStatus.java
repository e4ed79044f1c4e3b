package verbena.nic.link.psp;

import java.util.Map;
import verbena.verbs.Gid;

/// The protection of packets to and from one peer, at one moment.
///
/// @param isPlain whether they are in the clear, because protection is offered and the peer does not answer
/// @param cipher of all packets of the device
/// @param port of UDP that its packets go to
/// @param spi of packets that leave; 0 when there are no keys
/// @param ageNanos of the keys
/// @param agreements how often keys have come into use
/// @param dropped packets from the peer that were no good, by reason
public record PspStatus(
        Gid peer,
        PspPolicy.Mode policy,
        boolean isPlain,
        String cipher,
        int port,
        int spi,
        long ageNanos,
        int agreements,
        long sealed,
        long opened,
        Map<String, Long> dropped) {}
