package verbena.verbs;

/// Something that happened to a device or one of its objects and belongs to no request (ibv_get_async_event(3)).
/// Taking an event acknowledges it.
public sealed interface AsyncEvent {
    Type type();

    /// The kind of event (`enum ibv_event_type`).
    enum Type {
        /// A completion queue overflowed; it is broken.
        CQ_ERR,
        /// A queue pair failed in a way that no completion can tell.
        QP_FATAL,
        /// The peer's request was invalid, and no receive was involved.
        QP_REQ_ERR,
        /// The peer's request violated access rights, and no receive was involved.
        QP_ACCESS_ERR,
        /// The first packet came on a queue pair that is not yet in RTS.
        COMM_EST,
        /// All started requests of a queue pair in SQD are done.
        SQ_DRAINED,
        PATH_MIG,
        PATH_MIG_ERR,
        DEVICE_FATAL,
        PORT_ACTIVE,
        PORT_ERR,
        LID_CHANGE,
        PKEY_CHANGE,
        SM_CHANGE,
        SRQ_ERR,
        /// Fewer receives are left than the armed limit.
        SRQ_LIMIT_REACHED,
        /// A queue pair in ERR takes no more receives from its shared receive queue.
        QP_LAST_WQE_REACHED,
        CLIENT_REREGISTER,
        GID_CHANGE
    }

    record QueuePairEvent(Type type, QueuePair queuePair) implements AsyncEvent {}

    record CompletionQueueEvent(Type type, CompletionQueue completionQueue) implements AsyncEvent {}

    record SharedReceiveQueueEvent(Type type, SharedReceiveQueue sharedReceiveQueue) implements AsyncEvent {}

    record PortEvent(Type type, int port) implements AsyncEvent {}

    record DeviceEvent(Type type) implements AsyncEvent {}
}
