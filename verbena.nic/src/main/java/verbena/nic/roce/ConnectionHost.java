package verbena.nic.roce;

import verbena.cm.CmCall;
import verbena.cm.CmLimits;
import verbena.cm.CmRefusal;
import verbena.cm.CmRoute;
import verbena.nic.kind.DeviceHost;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.spi.ConnectionService.OwnSide;

/// The part that a connection needs of the service that makes it, and of the device behind it.
interface ConnectionHost {
    /// The value for no private data.
    verbena.wire.cm.PrivateData NOTHING = verbena.wire.cm.PrivateData.NONE;

    static verbena.wire.cm.PrivateData data(byte[] bytes) {
        return verbena.wire.cm.PrivateData.of(bytes);
    }

    /// Returns private data that fits, and throws when the caller's does not.
    static verbena.wire.cm.PrivateData fits(String what, PrivateData said, int max) {
        if (said.length() > max) {
            throw new IllegalArgumentException(what + ": at most " + max + " bytes, got " + said.length());
        }
        return data(said.bytes());
    }

    static ResourceLimitException tooMany(String verb) {
        return new ResourceLimitException(
                verb,
                "maxConnections",
                CmLimits.DEFAULT.connections(),
                "so many are being made, in use or in timewait");
    }

    DeviceHost host();

    CmAgent cm();

    Ways ways();

    /// Returns the path to a peer from one of the device's own addresses.
    AddressVector path(CmRoute route, int trafficClass);

    /// Returns the request of this end for a connection, with the known fields of the path.
    CmCall call(long serviceId, CmRoute route, OwnSide own, int mtu);

    /// Counts and reports a peer that has not proven the secret. Called by the engine's owner.
    void unproven(CmRoute route, CmRefusal why);

    /// Notes that an established connection of this peer has asked for memory without the right to access it.
    /// Called by the engine's owner.
    void suspect(Gid peer);
}
