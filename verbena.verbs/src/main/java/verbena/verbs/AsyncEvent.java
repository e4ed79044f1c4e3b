package verbena.verbs;

/// An event of a device or of one of its objects that belongs to no request (ibv_get_async_event(3)). Immutable.
///
/// [Context#pollAsyncEvent()] and [Context#awaitAsyncEvent()] take events, each once. Taking an event acknowledges
/// it. A device keeps the last 4,096, and drops the oldest for the newest. The constructors of the events throw
/// [IllegalArgumentException] for a type of another object.
///
/// @since 0.1
public sealed interface AsyncEvent {
    /// Returns the kind of event.
    Type type();

    /// The kind of event (`enum ibv_event_type`).
    enum Type {
        /// A completion queue has overflowed and is broken.
        CQ_ERR(CompletionQueueEvent.class),
        /// A queue pair has failed, and no completion reports it.
        QP_FATAL(QueuePairEvent.class),
        /// The peer's request was invalid, and no receive was involved.
        QP_REQ_ERR(QueuePairEvent.class),
        /// The peer's request violated access rights, and no receive was involved.
        QP_ACCESS_ERR(QueuePairEvent.class),
        /// The first packet came on a queue pair that is not yet in RTS.
        COMM_EST(QueuePairEvent.class),
        /// All started requests of a queue pair in SQD are done.
        SQ_DRAINED(QueuePairEvent.class),
        /// A queue pair has migrated to its alternate path.
        PATH_MIG(QueuePairEvent.class),
        /// A queue pair could not migrate to its alternate path.
        PATH_MIG_ERR(QueuePairEvent.class),
        /// The device has failed, and the program can only close its objects.
        DEVICE_FATAL(DeviceEvent.class),
        /// A port can be used again.
        PORT_ACTIVE(PortEvent.class),
        /// A port cannot be used any more.
        PORT_ERR(PortEvent.class),
        /// The subnet manager has given a port another LID (InfiniBand).
        LID_CHANGE(PortEvent.class),
        /// The P_Key table of a port has changed (InfiniBand).
        PKEY_CHANGE(PortEvent.class),
        /// Another subnet manager serves a port (InfiniBand).
        SM_CHANGE(PortEvent.class),
        /// A shared receive queue has failed.
        SRQ_ERR(SharedReceiveQueueEvent.class),
        /// Fewer receives are left than the armed limit.
        SRQ_LIMIT_REACHED(SharedReceiveQueueEvent.class),
        /// A queue pair in ERR takes no more receives from its shared receive queue.
        QP_LAST_WQE_REACHED(QueuePairEvent.class),
        /// The subnet manager asks for subscriptions anew, such as memberships of groups (InfiniBand).
        CLIENT_REREGISTER(PortEvent.class),
        /// The GID table of a port has changed.
        GID_CHANGE(PortEvent.class);

        private final Class<? extends AsyncEvent> event;

        Type(Class<? extends AsyncEvent> event) {
            this.event = event;
        }

        /// Checks that events of this kind are of a class.
        private void require(Class<? extends AsyncEvent> given) {
            if (given != event) {
                throw new IllegalArgumentException(
                        "type: " + this + " is one of " + event.getSimpleName() + ", got " + given.getSimpleName());
            }
        }
    }

    /// An event of a queue pair: `QP_FATAL` to `PATH_MIG_ERR`, and `QP_LAST_WQE_REACHED`.
    record QueuePairEvent(Type type, QueuePair queuePair) implements AsyncEvent {
        public QueuePairEvent {
            type.require(QueuePairEvent.class);
        }
    }

    /// An event of a completion queue: `CQ_ERR`.
    record CompletionQueueEvent(Type type, CompletionQueue completionQueue) implements AsyncEvent {
        public CompletionQueueEvent {
            type.require(CompletionQueueEvent.class);
        }
    }

    /// An event of a shared receive queue: `SRQ_ERR` and `SRQ_LIMIT_REACHED`.
    record SharedReceiveQueueEvent(Type type, SharedReceiveQueue sharedReceiveQueue) implements AsyncEvent {
        public SharedReceiveQueueEvent {
            type.require(SharedReceiveQueueEvent.class);
        }
    }

    /// An event of a port, counted from 1: `PORT_ACTIVE` to `SM_CHANGE`, `CLIENT_REREGISTER` and `GID_CHANGE`.
    record PortEvent(Type type, int port) implements AsyncEvent {
        public PortEvent {
            type.require(PortEvent.class);
        }
    }

    /// An event of the whole device: `DEVICE_FATAL`. Nothing works any more but closing.
    record DeviceEvent(Type type) implements AsyncEvent {
        public DeviceEvent {
            type.require(DeviceEvent.class);
        }
    }
}
