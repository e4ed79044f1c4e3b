package verbena.nic.roce;

import verbena.cm.CmCall;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.StaticRate;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.GroupJoin;
import verbena.verbs.spi.ConnectionService.GroupListener;
import verbena.verbs.spi.ConnectionService.Watch;
import verbena.wire.ib.Bth;

/// The paths to peers, on a wire where a GID alone does not lead to them. The engine's owner calls its methods.
public interface Ways {
    /// The paths of a wire where the GID is enough.
    Ways BY_GID = new Ways() {
        @Override
        public void find(Gid local, Gid remote, Found then) {
            then.on(true);
        }

        @Override
        public int lid(Gid remote) {
            return 0;
        }

        @Override
        public AddressVector complete(AddressVector to) {
            return to;
        }

        @Override
        public void onHeard(Gid remote, int lid) {}
    };

    /// A listener for the result of a search for a path.
    interface Found {
        /// Called when the search is over.
        ///
        /// @param isThere whether there is one, which is known from now on for a while
        void on(boolean isThere);
    }

    /// Looks for the path to a peer, and calls `then`: at once, or later.
    void find(Gid local, Gid remote, Found then);

    /// Returns the LID of a peer; 0 when it is not known, or there are none.
    int lid(Gid remote);

    /// Returns the address with the known fields of the path. Any thread.
    AddressVector complete(AddressVector to);

    /// Returns the request for a connection with the known fields of the path.
    default CmCall complete(CmCall call, Gid remote) {
        return call;
    }

    /// Returns the path bits of an own LID: its lowest bits, as many as the port's LMC; -1 when it is no own LID,
    /// or there are none.
    default int pathBits(int lid) {
        return -1;
    }

    /// Called when a connection to a peer uses the alternate path, to this LID: management datagrams use it too.
    default void onMigrated(Gid remote, int lid) {}

    /// Returns whether queue pairs of this wire migrate to alternate paths.
    default boolean canMigrate() {
        return false;
    }

    /// Returns the static rate of a path whose rate a message names; that of the port when the path is no slower.
    ///
    /// @param code `enum ibv_rate`
    default StaticRate rate(int code) {
        return StaticRate.PORT;
    }

    /// Called when a management datagram of a peer has come from this LID.
    void onHeard(Gid remote, int lid);

    /// Returns the P_Key of management datagrams: the default one, whose upper bit says that the port is a full
    /// member.
    default int pkey() {
        return Bth.PKEY_DEFAULT;
    }

    /// Joins a group, as [verbena.verbs.spi.ConnectionService#join] does. Any thread.
    default Watch join(GroupJoin join, GroupListener listener) {
        return ConnectionService.joinAtOnce(join, listener);
    }
}
