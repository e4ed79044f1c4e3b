package verbena.verbs;

import java.util.Set;

/// A transition of a queue pair, with the attributes that it requires as parameters (IBTA 10.3.1, ibv_modify_qp(3)).
/// Immutable. [QueuePair#modify(Transition)] checks the values.
///
/// The transitions are those of RC, UC and UD. To bring a queue pair of another type to INIT and RTR (XRC, raw
/// packets), a program lists the attributes itself in a [QpModification].
///
/// @since 0.1
public sealed interface Transition {
    /// Returns the transition as a set of attributes.
    QpModification modification();

    /// Every state to RESET. It forgets all attributes, and discards requests without completions.
    record ToReset() implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().withState(QpState.RESET);
        }
    }

    /// RESET to INIT, RC and UC. Receives can be posted from then on.
    ///
    /// @param port own port, from 1
    /// @param pkeyIndex index of the P_Key of its packets
    /// @param access rights of the peer: `REMOTE_READ`, `REMOTE_WRITE`, `REMOTE_ATOMIC` and the FLUSH rights
    record ToInit(int port, int pkeyIndex, Set<Access> access) implements Transition {
        public ToInit {
            access = Set.copyOf(access);
        }

        /// A transition at port 1, with the default P_Key.
        public ToInit(Set<Access> access) {
            this(1, 0, access);
        }

        @Override
        public QpModification modification() {
            return new QpModification()
                    .withState(QpState.INIT)
                    .withPort(port)
                    .withPkeyIndex(pkeyIndex)
                    .withAccess(access);
        }
    }

    /// RESET to INIT, UD. Receives can be posted from then on.
    ///
    /// @param port own port, from 1
    /// @param pkeyIndex index of the P_Key of its packets
    /// @param qkey Q_Key that datagrams must have, 32 bits
    record ToInitUd(int port, int pkeyIndex, int qkey) implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification()
                    .withState(QpState.INIT)
                    .withPort(port)
                    .withPkeyIndex(pkeyIndex)
                    .withQkey(qkey);
        }
    }

    /// INIT to RTR, RC. The device answers the peer's requests from then on.
    ///
    /// @param path to the peer
    /// @param pathMtu longest packet on the path, the same at both ends
    /// @param destinationQpn number of the peer's queue pair, 24 bits
    /// @param rqPsn first PSN that the peer will send, 24 bits
    /// @param maxDestinationReadAtomic READs and atomics that the peer may have outstanding
    /// @param minRnrTimer time that the peer is asked to wait when no receive is posted
    record ToRtr(
            AddressVector path,
            Mtu pathMtu,
            int destinationQpn,
            int rqPsn,
            int maxDestinationReadAtomic,
            RnrTimer minRnrTimer)
            implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification()
                    .withState(QpState.RTR)
                    .withPath(path)
                    .withPathMtu(pathMtu)
                    .withDestinationQpn(destinationQpn)
                    .withRqPsn(rqPsn)
                    .withMaxDestinationReadAtomic(maxDestinationReadAtomic)
                    .withMinRnrTimer(minRnrTimer);
        }
    }

    /// INIT to RTR, UC. The device receives the peer's messages from then on.
    ///
    /// @param path to the peer
    /// @param pathMtu longest packet on the path, the same at both ends
    /// @param destinationQpn number of the peer's queue pair, 24 bits
    /// @param rqPsn first PSN that the peer will send, 24 bits
    record ToRtrUc(AddressVector path, Mtu pathMtu, int destinationQpn, int rqPsn) implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification()
                    .withState(QpState.RTR)
                    .withPath(path)
                    .withPathMtu(pathMtu)
                    .withDestinationQpn(destinationQpn)
                    .withRqPsn(rqPsn);
        }
    }

    /// INIT to RTR, UD. The device receives datagrams from then on.
    record ToRtrUd() implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().withState(QpState.RTR);
        }
    }

    /// RTR to RTS, RC. Requests can be posted and are sent from then on.
    ///
    /// @param sqPsn first PSN that this side will send, 24 bits
    /// @param ackTimeout time that a request waits for its answer before it is sent again
    /// @param retryCount attempts after the first, 0 to 7
    /// @param rnrRetry attempts after an RNR NAK, 0 to 6; 7 is without limit
    /// @param maxReadAtomic READs and atomics that this side may have outstanding
    record ToRts(int sqPsn, AckTimeout ackTimeout, int retryCount, int rnrRetry, int maxReadAtomic)
            implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification()
                    .withState(QpState.RTS)
                    .withSqPsn(sqPsn)
                    .withAckTimeout(ackTimeout)
                    .withRetryCount(retryCount)
                    .withRnrRetry(rnrRetry)
                    .withMaxReadAtomic(maxReadAtomic);
        }
    }

    /// RTR to RTS, UC and UD. Requests can be posted and are sent from then on.
    ///
    /// @param sqPsn first PSN that this side will send, 24 bits
    record ToRtsUnreliable(int sqPsn) implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().withState(QpState.RTS).withSqPsn(sqPsn);
        }
    }

    /// RTS to SQD. The device finishes the requests that have started, and starts no others.
    ///
    /// @param notifyWhenDrained whether [AsyncEvent.Type#SQ_DRAINED] is raised afterwards
    record ToSqd(boolean notifyWhenDrained) implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().withState(QpState.SQD).withSqdNotify(notifyWhenDrained);
        }
    }

    /// SQD or SQE to RTS. Sending goes on.
    record Resume() implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().withState(QpState.RTS);
        }
    }

    /// Every state to ERR. Everything outstanding ends with `WR_FLUSH_ERR`.
    record ToError() implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().withState(QpState.ERR);
        }
    }
}
