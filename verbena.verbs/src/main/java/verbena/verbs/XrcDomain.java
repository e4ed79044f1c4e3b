package verbena.verbs;

/// The shared receive queues that peers of an extended reliable connection (XRC, IBTA A14) may name
/// (ibv_open_xrcd(3)). Safe for use by any thread.
///
/// Each request of such a connection says which shared receive queue of the peer it is for, so one connection serves
/// many receivers. It goes in one direction: from a queue pair of type [QpType#XRC_INITIATOR], which sends only, to
/// a target of a domain, which receives only.
///
/// ```java
/// // the receiving end
/// XrcDomain domain = context.openXrcDomain();
/// SharedReceiveQueue srq = domain.createSharedReceiveQueue(pd, cq, 128, 1);
/// QueuePair target = domain.createTarget();
/// // the sending end
/// QueuePair initiator = pd.createQueuePair(QueuePairOptions.xrcInitiator(cq));
/// initiator.connect(endpointOfTarget); // and the target to that of the initiator
/// try (var batch = initiator.sendBatch()) {
///     batch.send(1).to(numberOfSrq).sge(region, 0, 100).signaled().submit();
/// }
/// ```
public interface XrcDomain extends VerbsObject {
    Context context();

    /// Makes a shared receive queue of this domain; its [SharedReceiveQueue#number()] is what peers have to know.
    ///
    /// @param domain whose memory its receives are of, and all memory that requests for it may reach
    /// @param cq where its receives complete; their [WorkCompletion#qpn()] is the target's
    /// @param maxWr receives that can be outstanding
    /// @param maxSge scatter entries of each
    /// @throws ResourceLimitException when the device has no more, or none of this size
    SharedReceiveQueue createSharedReceiveQueue(ProtectionDomain domain, CompletionQueue cq, int maxWr, int maxSge);

    /// Makes a queue pair of type [QpType#XRC_TARGET] in state RESET, which serves the requests of one initiator.
    /// It sends nothing and has no receives. Its protection domain and its completion queue are the domain's own,
    /// and nothing is ever in them.
    ///
    /// @throws ResourceLimitException when the device has no more
    QueuePair createTarget();
}
