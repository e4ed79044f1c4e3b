package verbena.verbs;

import java.util.Set;

/// A step of a queue pair's life, with the attributes that the step requires as parameters (ibv_modify_qp(3)).
public sealed interface Transition {
    /// Returns the transition as a set of attributes.
    QpModification modification();

    /// Forgets everything; requests are discarded without completions.
    record ToReset() implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().state(QpState.RESET);
        }
    }

    /// RC and UC: receives can be posted from here on.
    ///
    /// @param access what the peer may do: `REMOTE_READ`, `REMOTE_WRITE`, `REMOTE_ATOMIC` and the FLUSH rights
    record ToInit(int port, int pkeyIndex, Set<Access> access) implements Transition {
        public ToInit {
            access = Set.copyOf(access);
        }

        /// A step at port 1, with the default P_Key.
        public ToInit(Set<Access> access) {
            this(1, 0, access);
        }

        @Override
        public QpModification modification() {
            return new QpModification()
                    .state(QpState.INIT)
                    .port(port)
                    .pkeyIndex(pkeyIndex)
                    .access(access);
        }
    }

    /// UD: receives can be posted from here on.
    record ToInitUd(int port, int pkeyIndex, int qkey) implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification()
                    .state(QpState.INIT)
                    .port(port)
                    .pkeyIndex(pkeyIndex)
                    .qkey(qkey);
        }
    }

    /// RC: the peer's requests are answered from here on.
    ///
    /// @param rqPsn first PSN that the peer will send, 24 bits
    /// @param maxDestinationReadAtomic READs and atomics that the peer may have outstanding
    /// @param minRnrTimer how long the peer is asked to wait when no receive is posted
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
                    .state(QpState.RTR)
                    .path(path)
                    .pathMtu(pathMtu)
                    .destinationQpn(destinationQpn)
                    .rqPsn(rqPsn)
                    .maxDestinationReadAtomic(maxDestinationReadAtomic)
                    .minRnrTimer(minRnrTimer);
        }
    }

    /// UC: the peer's messages are received from here on.
    record ToRtrUc(AddressVector path, Mtu pathMtu, int destinationQpn, int rqPsn) implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification()
                    .state(QpState.RTR)
                    .path(path)
                    .pathMtu(pathMtu)
                    .destinationQpn(destinationQpn)
                    .rqPsn(rqPsn);
        }
    }

    /// UD: datagrams are received from here on.
    record ToRtrUd() implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().state(QpState.RTR);
        }
    }

    /// RC: requests can be posted and are sent from here on.
    ///
    /// @param sqPsn first PSN that we shall send, 24 bits
    /// @param retryCount attempts after the first, 0 to 7
    /// @param rnrRetry attempts after an RNR NAK, 0 to 6; 7 is without limit
    /// @param maxReadAtomic READs and atomics that we may have outstanding
    record ToRts(int sqPsn, AckTimeout ackTimeout, int retryCount, int rnrRetry, int maxReadAtomic)
            implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification()
                    .state(QpState.RTS)
                    .sqPsn(sqPsn)
                    .ackTimeout(ackTimeout)
                    .retryCount(retryCount)
                    .rnrRetry(rnrRetry)
                    .maxReadAtomic(maxReadAtomic);
        }
    }

    /// UC and UD: requests can be posted and are sent from here on.
    record ToRtsUnreliable(int sqPsn) implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().state(QpState.RTS).sqPsn(sqPsn);
        }
    }

    /// Finishes the requests that have started, and starts no others.
    ///
    /// @param notifyWhenDrained whether [AsyncEvent.Type#SQ_DRAINED] is raised when that is done
    record ToSqd(boolean notifyWhenDrained) implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().state(QpState.SQD).sqdNotify(notifyWhenDrained);
        }
    }

    /// The step from SQD, or SQE, back to sending.
    record Resume() implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().state(QpState.RTS);
        }
    }

    /// Everything outstanding ends with `WR_FLUSH_ERR`.
    record ToError() implements Transition {
        @Override
        public QpModification modification() {
            return new QpModification().state(QpState.ERR);
        }
    }
}
