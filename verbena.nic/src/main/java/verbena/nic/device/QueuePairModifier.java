package verbena.nic.device;

import verbena.nic.kind.DeviceKind;
import verbena.transport.QueuePairParameters;
import verbena.transport.queue.Path;
import verbena.verbs.AddressVector;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;

/// Changes a queue pair's state and attributes (IBTA 11.2.5.2). The caller's thread checks them, and the engine
/// applies them.
record QueuePairModifier(
        SoftQueuePair queuePair, DeviceContext context, QueuePairParameters parameters, QueuePairSettings settings) {

    /// @param seen the state as the caller's thread sees it
    void modify(QpModification modification, QpState seen) {
        DeviceKind kind = context.kind();
        QueuePairSettings.checkNoMigration(modification);
        QpState _ = kind.check(queuePair.type(), seen, modification);
        settings.checkValues(modification);
        var to = modification.get(QpAttribute.AV, AddressVector.class, QueuePairSettings.NO_PATH);
        Path way = modification.has(QpAttribute.AV) ? context.path("modify: AV", to) : Path.NONE;
        queuePair.engine().call(() -> {
            // Checked again on the engine: the queue pair may have broken down or been closed meanwhile.
            queuePair.checkOpen("modify");
            QpState from = parameters.state;
            QpState next = kind.check(queuePair.type(), from, modification);
            if (next == QpState.RESET) {
                queuePair.forget();
                settings.reset();
            } else {
                settings.apply(modification, to, way);
            }
            parameters.state = next;
            queuePair.onModified(from, next);
            return next;
        });
    }
}
