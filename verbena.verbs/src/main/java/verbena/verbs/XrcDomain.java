package verbena.verbs;

/// A set of shared receive queues that peers of an extended reliable connection (XRC, IBTA A14) may name
/// (ibv_open_xrcd(3)).
///
/// Each request of such a connection names a shared receive queue of the peer, so one connection serves many
/// receivers. It has one direction. A queue pair of type [QpType#XRC_INITIATOR] only sends. A target of a domain only
/// receives.
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
///
/// Any thread may use it. The program closes it after its targets and its queues; [InUseException] names those still
/// open. All verbs then throw [InvalidStateException].
///
/// @since 0.1
public interface XrcDomain extends VerbsObject {
    /// Returns the device that the domain belongs to.
    Context context();

    /// Makes a shared receive queue of this domain. Peers have to know its [SharedReceiveQueue#number()].
    ///
    /// @param domain of the memory of its receives, and of all memory that requests for it may reach
    /// @param cq where its receives complete; their [WorkCompletion#qpn()] is the target's
    /// @param maxWr receives that can be outstanding, at least 1
    /// @param maxSge scatter entries of each, 0 or more
    /// @throws IllegalArgumentException when domain or queue are of another context
    /// @throws ResourceLimitException when the device has no more, or none of this size
    SharedReceiveQueue createSharedReceiveQueue(ProtectionDomain domain, CompletionQueue cq, int maxWr, int maxSge);

    /// Makes a queue pair of type [QpType#XRC_TARGET] in state RESET, which serves the requests of one initiator.
    /// It sends nothing and has no receives. The domain supplies its protection domain and completion queue, which
    /// stay empty.
    ///
    /// @throws ResourceLimitException when the device has no more
    QueuePair createTarget();
}
