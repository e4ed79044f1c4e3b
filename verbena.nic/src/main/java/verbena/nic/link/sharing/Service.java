package verbena.nic.link.sharing;

import verbena.verbs.Gid;
import verbena.wire.Frame;

/// A service of connection management at an address. Links that meet at several addresses may claim the same number
/// at each.
public record Service(long id, Gid address) {
    /// Returns the service that a packet for [Addressee#SERVICE] is for.
    static Service of(Frame frame) {
        return new Service(Addressee.service(frame), new Gid(frame.destinationHigh, frame.destinationLow));
    }

    /// Returns the name at which the link listens that has claimed the service, where all names are of one address.
    String name() {
        return String.format("service-%016x", id);
    }

    /// Returns the name where names are of all addresses.
    public String nameWithAddress() {
        return name() + "@" + address;
    }
}
