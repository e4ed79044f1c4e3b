package verbena.nic.roce;

import verbena.cm.CmCall;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.StaticRate;
import verbena.verbs.spi.ConnectionService.GroupJoin;
import verbena.verbs.spi.ConnectionService.GroupListener;
import verbena.verbs.spi.ConnectionService.Watch;
import verbena.wire.ib.Bth;

/// The ways to peers, on a wire where a GID alone does not lead there. The engine's owner calls its
/// methods.
public interface Ways {
    /// Of a wire where the GID is enough.
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

    /// Hears of a way that was looked for.
    interface Found {
        /// The search is over.
        ///
        /// @param isThere whether there is one, which is known from now on for a while
        void on(boolean isThere);
    }

    /// Looks for the way to a peer, and tells `then`: at once, or later.
    void find(Gid local, Gid remote, Found then);

    /// The LID of a peer; 0 when it is not known, or there are none.
    int lid(Gid remote);

    /// The same address with what is known of the way. Any thread.
    AddressVector complete(AddressVector to);

    /// The same request for a connection with what is known of the way.
    default CmCall complete(CmCall call, Gid remote) {
        return call;
    }

    /// Which of the own LIDs this is: its lowest bits, as many as the port's LMC says; -1 when it is no own LID, or
    /// there are none.
    default int pathBits(int lid) {
        return -1;
    }

    /// A connection to a peer uses the alternate path from now on, to this LID: so do management datagrams.
    default void onMigrated(Gid remote, int lid) {}

    /// Whether queue pairs of this wire migrate to alternate paths.
    default boolean canMigrate() {
        return false;
    }

    /// The static rate of a path whose rate a message names; that of the port when the path is no slower.
    ///
    /// @param code `enum ibv_rate`
    default StaticRate rate(int code) {
        return StaticRate.PORT;
    }

    /// A management datagram of a peer has come from this LID.
    void onHeard(Gid remote, int lid);

    /// The P_Key of management datagrams: the default one, whose upper bit says that the port is a full member.
    default int pkey() {
        return Bth.PKEY_DEFAULT;
    }

    /// As [verbena.verbs.spi.ConnectionService#join]. Any thread.
    default Watch join(GroupJoin join, GroupListener listener) {
        return join.atOnce(listener);
    }
}
