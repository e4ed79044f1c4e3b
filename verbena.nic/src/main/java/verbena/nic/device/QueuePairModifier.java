package verbena.nic.device;

import verbena.nic.kind.DeviceKind;
import verbena.transport.QueuePairParameters;
import verbena.transport.queue.Path;
import verbena.verbs.Capability;
import verbena.verbs.PathMigration;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;

/// Changes a queue pair's state and attributes (IBTA 11.2.5.2). The caller's thread checks them, and the engine
/// applies them.
record QueuePairModifier(
        DeviceQueuePair queuePair, DeviceCore core, QueuePairParameters parameters, QueuePairSettings settings) {

    /// @param seen the state as the caller's thread sees it
    void modify(QpModification modification, QpState seen) {
        DeviceKind kind = core.kind;
        checkCanMigrate(modification);
        QpState _ = kind.check(queuePair.type(), seen, modification);
        settings.checkValues(modification);
        var to = modification.get(QpAttribute.AV, QueuePairSettings.NO_PATH);
        Path way = modification.has(QpAttribute.AV) ? core.path("modify: AV", to) : Path.NONE;
        Path alternate = modification.has(QpAttribute.ALT_PATH)
                ? core.path(
                        "modify: ALT_PATH",
                        QueuePairSettings.alternate(modification).path())
                : Path.NONE;
        queuePair.engine().call(() -> {
            // Checked again on the engine: the queue pair may have broken down or been closed meanwhile.
            queuePair.checkOpen("modify");
            QpState from = parameters.state;
            QpState next = kind.check(queuePair.type(), from, modification);
            settings.checkMigration(modification);
            if (next == QpState.RESET) {
                queuePair.forget();
                settings.reset();
            } else {
                settings.apply(modification, to, way, alternate);
            }
            parameters.state = next;
            queuePair.onModified(from, next);
            return next;
        });
    }

    /// Checks that the device can migrate paths. All queue pairs are in [PathMigration#MIGRATED], so this state may
    /// be set on every device.
    private void checkCanMigrate(QpModification m) {
        PathMigration to = m.get(QpAttribute.PATH_MIG_STATE, PathMigration.MIGRATED);
        if (m.has(QpAttribute.ALT_PATH) || to != PathMigration.MIGRATED) {
            core.require("modify: path migration", Capability.PATH_MIGRATION);
        }
    }
}
